"""Which payloads are pieces of a stream, how pieces join, and what ends a stream."""

from collections.abc import Callable, Collection
from typing import TypeGuard

from msgspec.structs import replace

from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.experimental import (
    AssistantThinkingComplete,
    AssistantThinkingDelta,
    AssistantToolInputDelta,
)
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolEvent,
    ToolFailed,
    ToolInvoked,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from runwire.protocol.payload import Opaque, Payload

Delta = AssistantTextDelta | AssistantThinkingDelta | AssistantToolInputDelta | ShellOutputChunk

StreamKey = tuple[str, str | int, str | int]
"""What pieces of one stream have in common: their type and the two fields that say which stream."""

TEXT = AssistantTextDelta.type
THINKING = AssistantThinkingDelta.type
TOOL_INPUT = AssistantToolInputDelta.type
OUTPUT = ShellOutputChunk.type

COMPACTABLE = frozenset({TEXT, THINKING, TOOL_INPUT, OUTPUT})
"""The types that retention may drop first: later events repeat or outlive what they say."""


def is_delta(payload: Payload | Opaque) -> TypeGuard[Delta]:
    """Say whether a payload is a piece of a stream."""
    return type(payload) in _KEYS


def stream_key(payload: Delta) -> StreamKey:
    """Return the key of the stream that a piece belongs to."""
    return _KEYS[type(payload)](payload)


def text_of(payload: Delta) -> str:
    """Return the text that a piece carries."""
    return payload.data if isinstance(payload, ShellOutputChunk) else payload.delta


def with_text(payload: Delta, text: str, *, skipped_bytes: int = 0) -> Delta:
    """Return the same piece with other text, which begins `skipped_bytes` later in the stream as it was produced."""
    if isinstance(payload, ShellOutputChunk):
        return replace(payload, data=text, byte_offset=payload.byte_offset + skipped_bytes)
    return replace(payload, delta=text)


def merge(first: Delta, second: Delta) -> Delta:
    """Join two neighbouring pieces of one stream; everything but the text is kept from the first."""
    if stream_key(first) != stream_key(second):
        raise ValueError(f"{stream_key(first)} and {stream_key(second)} are pieces of different streams")
    return with_text(first, text_of(first) + text_of(second))


def ends_block(payload: Payload | Opaque, streams: Collection[StreamKey]) -> list[StreamKey]:
    """Return those of the open `streams` that will grow no more once `payload` has happened."""
    if type(payload) not in _ENDERS or not streams:
        return []
    ends = _ending(payload)
    return [key for key in streams if ends(key)]


_Test = Callable[[StreamKey], bool]


def _ending(payload: Payload | Opaque) -> _Test:
    match payload:
        case AssistantTextComplete(turn_index=turn, block_index=block):
            return lambda key: key == (TEXT, turn, block)
        case AssistantThinkingComplete(turn_index=turn, block_index=block):
            return lambda key: key == (THINKING, turn, block)
        case AssistantToolCallProposed(tool_call_id=call) | ToolInvoked(tool_call_id=call):
            return lambda key: key[0] == TOOL_INPUT and key[2] == call
        case TurnCompleted(turn_index=turn) | TurnFailed(turn_index=turn):
            # Tools may run on after the turn that asked for them, so their output does not end with it.
            return lambda key: key[0] != OUTPUT and key[1] == turn
        case RunFinished() | RunFailed() | RunCancelled():
            return lambda _: True
        case _:
            call = payload.tool_call_id if isinstance(payload, (ToolEvent, ShellExited)) else ""
            return lambda key: (key[0] == OUTPUT and key[1] == call) or (key[0] == TOOL_INPUT and key[2] == call)


# Every piece that arrives is keyed, so this is a look-up and not a chain of questions.
_KEYS: dict[type, Callable[..., StreamKey]] = {
    AssistantTextDelta: lambda piece: (TEXT, piece.turn_index, piece.block_index),
    AssistantThinkingDelta: lambda piece: (THINKING, piece.turn_index, piece.block_index),
    AssistantToolInputDelta: lambda piece: (TOOL_INPUT, piece.turn_index, piece.tool_call_id),
    ShellOutputChunk: lambda piece: (OUTPUT, piece.tool_call_id, piece.stream),
}
_ENDERS = frozenset(
    {
        AssistantTextComplete,
        AssistantThinkingComplete,
        AssistantToolCallProposed,
        ToolInvoked,
        TurnCompleted,
        TurnFailed,
        ShellExited,
        ToolCompleted,
        ToolFailed,
        ToolCancelled,
        ToolTimedOut,
        RunFinished,
        RunFailed,
        RunCancelled,
    }
)
