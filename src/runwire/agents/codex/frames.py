"""What `codex app-server` writes: JSON-RPC without the member that says so, one object a line."""

import msgspec
from msgspec import Raw, Struct

from runwire.agents.codex.items import AppItem, Fault

RequestId = int | str
_EMPTY = Raw(b"null")


class Frame(Struct):
    """One line: a notification, a request of the server, or the answer to a request of ours."""

    method: str | None = None
    id: RequestId | None = None
    params: Raw = _EMPTY
    result: Raw = Raw(b"")
    error: Fault | None = None


class Thread(Struct, rename="camel"):
    """A conversation."""

    id: str = ""
    parent_thread_id: str | None = None
    model: str | None = None
    model_provider: str | None = None


class ThreadStarted(Struct):
    """A conversation has begun."""

    thread: Thread


class ThreadResult(Struct, rename="camel"):
    """The answer to the request for a conversation."""

    thread: Thread | None = None
    model: str | None = None
    model_provider: str | None = None
    approval_policy: object = None


class Status(Struct, rename="camel"):
    """What a conversation does."""

    type: str = ""
    active_flags: list[str] = []


class StatusChanged(Struct, rename="camel"):
    """A conversation does something else."""

    thread_id: str = ""
    status: Status = msgspec.field(default_factory=Status)


class ErrorInfo(Struct, rename="camel"):
    """Why something failed."""

    message: str = ""
    codex_error_info: object = None
    additional_details: str | None = None


class Turn(Struct):
    """A prompt that is worked on."""

    id: str = ""
    status: str = ""
    error: ErrorInfo | None = None


class TurnResult(Struct):
    """The answer to the request for a turn."""

    turn: Turn | None = None


class TurnChanged(Struct, rename="camel"):
    """A turn has begun or ended."""

    turn: Turn
    thread_id: str = ""


class ItemChanged(Struct, rename="camel"):
    """An item has begun or is done."""

    item: AppItem
    thread_id: str = ""


class Delta(Struct, rename="camel"):
    """A piece of an item."""

    delta: str = ""
    item_id: str = ""
    thread_id: str = ""
    summary_index: int = 0


class Tokens(Struct, rename="camel"):
    """A number of tokens; the cached ones are among the input."""

    input_tokens: int | float = 0
    cached_input_tokens: int | float = 0
    output_tokens: int | float = 0


class TokenUsage(Struct):
    """Tokens of a thread since it began, and of the last call of the model."""

    total: Tokens = msgspec.field(default_factory=Tokens)
    last: Tokens = msgspec.field(default_factory=Tokens)


class UsageUpdated(Struct, rename="camel"):
    """More tokens were used."""

    token_usage: TokenUsage
    thread_id: str = ""


class ErrorTold(Struct, rename="camel"):
    """Something went wrong, perhaps not for good."""

    error: ErrorInfo
    will_retry: bool = False
    thread_id: str = ""


class Resolved(Struct, rename="camel"):
    """A request of the server needs no answer any more."""

    request_id: RequestId
    thread_id: str = ""


class ApprovalAsked(Struct, rename="camel"):
    """The server asks whether something may be done."""

    item_id: str = ""
    thread_id: str = ""
    command: str | None = None
    cwd: str | None = None
    reason: str | None = None
    grant_root: str | None = None


QUIET = frozenset(
    {
        "remoteControl/status/changed",
        "turn/diff/updated",
        "turn/plan/updated",
        "item/reasoning/summaryPartAdded",
        "item/plan/delta",
        "item/fileChange/outputDelta",
        "item/fileChange/patchUpdated",
        "item/mcpToolCall/progress",
        "item/commandExecution/terminalInteraction",
        "rawResponseItem/completed",
        "deprecationNotice",
        "configWarning",
        "warning",
        "skills/changed",
        "app/list/updated",
        "model/rerouted",
        "hook/started",
        "hook/completed",
        "fs/changed",
        "thread/archived",
        "thread/unarchived",
        "thread/closed",
        "thread/compacted",
        "thread/deleted",
        "thread/name/updated",
        "thread/readState/changed",
        "thread/settings/updated",
    }
)
"""Notifications that are understood, and tell nothing of the work."""
QUIET_KINDS = ("account/", "thread/goal/", "thread/realtime/", "mcpServer/", "windows", "fuzzyFileSearch/")
"""How the methods of more of them begin."""
