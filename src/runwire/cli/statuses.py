"""Exit statuses, and the one place where a failure becomes one, with a word on what to do."""

from typing import Final

from runwire.errors import (
    ConfigInvalid,
    Conflict,
    GatewayError,
    GatewayUnreachable,
    InvalidRequest,
    NotFound,
    RunwireError,
    StoreBusy,
)

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
NOT_FOUND: Final = 4
CONFLICT: Final = 5
INTERRUPTED: Final = 130

_BY_HTTP_STATUS = {400: USAGE, 404: NOT_FOUND, 409: CONFLICT}
# What makes no sense as it was typed, though it could be read.
_MISUSES = frozenset(
    "agent_unknown budget_lowered invalid_body model_unknown not_resumable price_unknown task_invalid unknown_field "
    "workspace_invalid".split()
)

# What to type about it; the gateway speaks to programs.
_HINTS = {
    "run_not_found": "`runwire runs` lists the runs there are; one whose whole log was pruned is gone",
    "artifact_not_found": "`runwire artifacts RUN` lists what a run has made",
    "cursor_ahead": "`runwire show RUN` tells how many events the run has",
    "invalid_body": "`--help` behind the command shows what it takes",
    "task_invalid": "`runwire run --help` shows what a run takes",
}


def status_of(error: RunwireError) -> int:
    """The exit status of a command that failed this way."""
    match error:
        case GatewayUnreachable():
            return UNREACHABLE
        case GatewayError():
            return USAGE if error.code in _MISUSES else _BY_HTTP_STATUS.get(error.status, FAILED)
        case NotFound():
            return NOT_FOUND
        case Conflict() | StoreBusy():
            return CONFLICT
        case InvalidRequest() | ConfigInvalid():
            return USAGE
        case _:
            return FAILED


def hint_of(error: RunwireError) -> str:
    """What to do about it, for somebody who types commands rather than requests."""
    request_id = error.details.get("request_id")
    if isinstance(error, GatewayError) and error.status == 401:
        return "give the gateway's token with --token or RUNWIRE_TOKEN, or its data directory with --data"
    if isinstance(error, GatewayError) and error.status >= 500 and request_id:
        return f"{error.hint} ({request_id})"
    return _HINTS.get(error.code, error.hint)
