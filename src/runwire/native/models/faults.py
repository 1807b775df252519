"""How the failures of providers become ours: one table for both wires, so that the loop knows a dozen codes and no more."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from runwire.native.errors import ModelFault

RETRY_AFTER_MAX_S = 3600.0
MESSAGE_MAX = 2000

_OVERFLOW = re.compile(
    r"context[ _]length|context[ _]window|context size|prompt is too long|input is too long|too many tokens"
    r"|exceeds? the (?:maximum|available) (?:context|number of tokens)|maximum context",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|do not|not) support (?:\w+ ){0,2}(?:tools?|functions?)\b"
    r"|(?:tools?|functions?|tool[ _](?:use|calling|choice)|function[ _]calling) (?:\w+ ){0,3}(?:not|n't) (?:be )?supported"
    r"|no endpoints found that support tool use|tool choice requires --enable-auto-tool-choice",
    re.IGNORECASE,
)
_REFUSED = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"})

_PASSING = frozenset({408, 409, 425, 429})
"""Below 500, what may be gone the next time."""

# Statuses of the kinds that providers name in an error that comes in the middle of a stream, after a 200.
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "requests": 429,
    "tokens": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "service_unavailable": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
    "engine_overloaded": 529,
}


def answered(
    status: int | None, message: str, *, kinds: tuple[str, ...] = (), retry_after_s: float | None = None
) -> ModelFault:
    """The fault that a provider's own error is; `kinds` are the names that it gives the error."""
    kinds = tuple(kind.lower() for kind in kinds)
    message = message.strip()[:MESSAGE_MAX] or f"the provider answered {status}"
    code, retriable = _meaning(status, message, kinds)
    return ModelFault(code, message, status=status, retriable=retriable, retry_after_s=retry_after_s)


def status_of_kinds(kinds: tuple[str, ...]) -> int | None:
    """The status that an error would have had outside a stream; None when its names say nothing."""
    for kind in kinds:
        if status := _STATUS_OF_KIND.get(kind.lower()):
            return status
        if kind.isdigit() and 400 <= int(kind) <= 599:
            return int(kind)
    return None


def _meaning(status: int | None, message: str, kinds: tuple[str, ...]) -> tuple[str, bool]:
    if status == 413 or "context_length_exceeded" in kinds:
        return "context_overflow", False
    if status == 402 or not _OUT_OF_MONEY.isdisjoint(kinds):
        return "rate_limited", False
    if status is None or status in _PASSING or (status >= 500 and status != 501):
        return ("rate_limited" if status == 429 else "model_unreachable"), True
    if status in {401, 403}:
        return "auth_failed", False
    return _wording(message, kinds), False


def _wording(message: str, kinds: tuple[str, ...]) -> str:
    """What a provider means by a refusal that it has no number for."""
    if _OVERFLOW.search(message):
        return "context_overflow"
    if _NO_TOOLS.search(message):
        return "capability_missing"
    return "bad_request" if _REFUSED.isdisjoint(kinds) else "model_refused"


def unreachable(why: str) -> ModelFault:
    """Nobody answered, or the answer broke off."""
    return ModelFault("model_unreachable", why[:MESSAGE_MAX], retriable=True)


def timed_out(idle_s: float) -> ModelFault:
    """The provider was silent for too long."""
    return ModelFault("model_timeout", f"the model was silent for {idle_s:g} s", retriable=True)


def malformed(why: str) -> ModelFault:
    """What came is not what this wire carries."""
    return ModelFault("malformed_stream", f"the answer cannot be read: {why}"[:MESSAGE_MAX], retriable=True)


def refused(why: str = "") -> ModelFault:
    """The model, or the filter in front of it, will not answer this."""
    return ModelFault("model_refused", why[:MESSAGE_MAX] or "the model refused to answer")


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """How long the provider asks us to wait: milliseconds, seconds or a date; None when it does not say."""
    waits = (_number(headers.get("retry-after-ms")), _number(headers.get("retry-after")))
    if waits[0] is not None:
        return min(waits[0] / 1000, RETRY_AFTER_MAX_S)
    if waits[1] is not None:
        return min(waits[1], RETRY_AFTER_MAX_S)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    wait_s = (until - (now or datetime.now(UTC))).total_seconds()
    return min(max(wait_s, 0.0), RETRY_AFTER_MAX_S)


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip()) else None
