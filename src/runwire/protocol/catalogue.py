"""Every event type this release knows: its class, how settled it is, and how it is found by name or pattern."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from runwire.protocol.events import (
    agent,
    approval,
    artifact,
    assistant,
    cost,
    edit,
    error,
    experimental,
    external,
    file,
    gap,
    policy,
    run,
    search,
    shell,
    todo,
    tool,
    turn,
    user,
    web,
)
from runwire.protocol.payload import MalformedPayload, Opaque, Payload, is_type_name, require_type_name

Stability = Literal["core", "artifact", "experimental", "extension"]
"""core: rely on it; artifact: rests on artifact storage; experimental: on request only; extension: Runwire's own."""

_CORE: tuple[type[Payload], ...] = (
    run.RunQueued,
    run.RunStarted,
    run.RunFinished,
    run.RunFailed,
    run.RunCancelled,
    run.RunResumedFromEvent,
    run.RunCheckpointSaved,
    turn.TurnStarted,
    turn.TurnCompleted,
    turn.TurnFailed,
    assistant.AssistantTextDelta,
    assistant.AssistantTextComplete,
    assistant.AssistantToolCallProposed,
    assistant.AssistantFinalAnswer,
    user.UserMessage,
    user.UserAttachment,
    tool.ToolInvoked,
    tool.ToolStarted,
    tool.ToolCompleted,
    tool.ToolFailed,
    tool.ToolCancelled,
    tool.ToolTimedOut,
    shell.ShellCommand,
    shell.ShellOutputChunk,
    shell.ShellExited,
    search.GlobCompleted,
    search.GrepCompleted,
    file.FileReadCompleted,
    todo.TodoWriteUpdated,
    web.HttpRequested,
    web.HttpResponse,
    web.WebFetchRequested,
    web.WebFetchResponse,
    web.WebSearchRequested,
    web.WebSearchResponse,
    approval.ApprovalRequested,
    approval.ApprovalResolved,
    approval.ApprovalTimedOut,
    cost.CostTick,
    cost.CostBudgetWarning,
    cost.CostBudgetExceeded,
    policy.PolicyToolBlocked,
    policy.PolicyModelRewrote,
    error.ErrorToolUnavailable,
    error.ErrorModelCapabilityMissing,
    error.ErrorUpstream,
    gap.GapEventsPruned,
    gap.GapRunDisconnected,
)
_ARTIFACT: tuple[type[Payload], ...] = (
    edit.EditProposed,
    edit.EditApplied,
    edit.EditRejected,
    edit.EditReverted,
    edit.MultiEditProposed,
    edit.MultiEditApplied,
    edit.MultiEditRejected,
    edit.MultiEditReverted,
    file.FileWriteProposed,
    artifact.ArtifactCreated,
    artifact.ArtifactReferenced,
    artifact.ArtifactUpdated,
)
_EXPERIMENTAL: tuple[type[Payload], ...] = (
    experimental.AssistantThinkingDelta,
    experimental.AssistantThinkingComplete,
    experimental.AssistantToolInputDelta,
    experimental.AssistantMedia,
    experimental.RunChildStarted,
    experimental.RunChildFinished,
    experimental.RunBranched,
)
_EXTENSION: tuple[type[Payload], ...] = (agent.AgentStateChanged, agent.AgentUnparsed)

_SETTLED: tuple[tuple[Stability, tuple[type[Payload], ...]], ...] = (
    ("core", _CORE),
    ("artifact", _ARTIFACT),
    ("experimental", _EXPERIMENTAL),
    ("extension", _EXTENSION),
)

CATALOGUE: Mapping[str, type[Payload]] = MappingProxyType({cls.type: cls for _, family in _SETTLED for cls in family})

STABILITY: Mapping[str, Stability] = MappingProxyType({cls.type: level for level, family in _SETTLED for cls in family})

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "tool.file.patch": edit.EditProposed.type,
        "tool.file.applied": edit.EditApplied.type,
        "tool.file.reverted": edit.EditReverted.type,
    }
)
"""Older names that are understood on reading and never written."""

TERMINAL = frozenset({run.RunFinished.type, run.RunFailed.type, run.RunCancelled.type})
"""The types that end a run; a log holds exactly one of them once the run is over."""

EXPERIMENTAL = frozenset(cls.type for cls in _EXPERIMENTAL)
"""The types that are emitted only when the task asks for them by name."""

_LATE = ("tool.edit.", "artifact.", "approval.", "gap.")

_DECODERS = {name: msgspec.json.Decoder(cls) for name, cls in CATALOGUE.items()}
_DECODERS |= {old: _DECODERS[new] for old, new in ALIASES.items()}


def is_terminal(event_type: str) -> bool:
    """Say whether an event of this type ends its run."""
    return event_type in TERMINAL


def may_follow_terminal(event_type: str) -> bool:
    """Say whether an event of this type may come after the run has ended: patches, artifacts, approvals and gaps settle late."""
    return event_type.startswith(_LATE) or event_type in ALIASES


def is_protected(event_type: str) -> bool:
    """Say whether retention must keep events of this type for as long as the run itself."""
    return event_type in TERMINAL or event_type.startswith(("approval.", "gap."))


def stability_of(event_type: str) -> Stability | None:
    """Say how settled a type is; None when this release does not know it."""
    if event_type.startswith(external.PREFIX):
        return "extension"
    return STABILITY.get(ALIASES.get(event_type, event_type))


def may_emit(event_type: str, experimental: Iterable[str] = ()) -> bool:
    """Say whether a server may emit a type for a task that asks for these experimental types, by name or pattern."""
    if event_type.startswith(external.PREFIX):
        return is_type_name(event_type)
    if event_type in EXPERIMENTAL:
        return any(type_filter(asked)(event_type) for asked in experimental)
    return event_type in CATALOGUE


def decode_payload(event_type: str, data: bytes | msgspec.Raw) -> Payload | Opaque:
    """Decode data into the class of its type, or into `Opaque` when the type is unknown or the caller's own.

    Data that breaks the shape of a known type is MalformedPayload, which names the place as a JSON path. Older names
    never promised our shape, so theirs becomes `Opaque` instead.
    """
    decoder = _DECODERS.get(event_type)
    if decoder is None:
        return Opaque(type=event_type, data=data if isinstance(data, msgspec.Raw) else msgspec.Raw(data))
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        if event_type in ALIASES:
            return Opaque(type=event_type, data=msgspec.Raw(bytes(data)))
        raise MalformedPayload(f"data of {event_type}: {wrong}") from wrong


class InvalidFilter(ValueError):
    """The text is not a type filter."""


_PATTERN = re.compile(r"[a-z0-9_.*]+", re.ASCII)
_FILTER_MAX = 2048


def type_filter(text: str) -> Callable[[str], bool]:
    """Compile a comma list of patterns such as `tool.shell.*,run.*`; `*` stands for any text, dots included."""
    patterns = [pattern.strip() for pattern in text.split(",")]
    if len(text) > _FILTER_MAX:
        raise InvalidFilter(f"a type filter may have {_FILTER_MAX} characters, this one has {len(text)}")
    for pattern in patterns:
        if _PATTERN.fullmatch(pattern) is None:
            raise InvalidFilter(f"{pattern!r} is not a type pattern: use names such as run.started and * for any text")
    exact = frozenset(pattern for pattern in patterns if "*" not in pattern)
    wild = [pattern.split("*") for pattern in patterns if "*" in pattern]
    if not wild:
        return exact.__contains__
    return lambda event_type: event_type in exact or any(_fits(event_type, parts) for parts in wild)


def _fits(name: str, parts: list[str]) -> bool:
    # Taking each part at its first place is enough for `*`, and unlike a regular expression it never backtracks.
    first, *middle, last = parts
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def matches(filter_text: str, event_type: str) -> bool:
    """Say whether a type passes a filter; compile with `type_filter` to ask more than once."""
    require_type_name(event_type)
    return type_filter(filter_text)(event_type)
