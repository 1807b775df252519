"""The tool calls of a stream: each is proposed before it is invoked, invoked once, and ends once."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from msgspec import UNSET, Struct, UnsetType

from runwire.agents.dialect import Body, Item, Telling
from runwire.agents.told import Told, size_of
from runwire.protocol.events.assistant import AssistantToolCallProposed
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.payload import Payload

OUTPUT_MAX = 4096
SUMMARY_MAX = 200
OPEN_MAX = 4096
"""So many calls may be open at once; a stream that opens more is not a conversation."""

_VISIBLE = re.compile(r"\S")
_OVERLAP_MAX = 1024
_OVERLAP_MIN = 24

Ending = Literal["completed", "failed", "cancelled", "timed_out"]
Stream = Literal["stdout", "stderr"]


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call as an agent tells of it."""

    call_id: str
    name: str
    kind: str
    input: Mapping[str, object] = {}
    argv: Sequence[str] | None = None
    """Of a shell call."""
    cwd: str | None = None
    timeout_ms: int | None = None
    mcp_server: str | None = None
    mcp_tool: str | None = None


class ToolEnding(Struct, frozen=True, kw_only=True):
    """How a call ended, as far as the agent says."""

    outcome: Ending = "completed"
    output: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    code: str = ""
    message: str = ""
    summary: str = ""
    duration_ms: int | None = None
    by: str = "operator"
    truncated: bool = False


class _Open(Struct):
    call: ToolCall
    turn: int
    since_ns: int
    written: dict[Stream, int] = {}
    """Bytes of output told, per stream."""
    whole: dict[Stream, str] = {}
    """What the agent has shown of an output that it tells again and again."""


class Tools:
    """Keeps the calls of one stream."""

    def __init__(self, telling: Telling, told: Told) -> None:
        """Tell of calls."""
        self._telling = telling
        self._told = told
        self._proposed: dict[str, tuple[ToolCall, int]] = {}
        self._open: dict[str, _Open] = {}
        self.begun = 0
        """How many calls there have been."""
        self._blocked: dict[str, None] = {}

    @property
    def open(self) -> Sequence[str]:
        """The calls that are at work."""
        return tuple(self._open)

    @property
    def waiting(self) -> Sequence[ToolCall]:
        """The calls that were proposed and have not begun, in order."""
        return [call for call, _ in self._proposed.values()]

    def is_open(self, call_id: str) -> bool:
        """Whether the call is at work."""
        return call_id in self._open

    def call(self, call_id: str) -> ToolCall | None:
        """What is known of a call that is proposed or at work."""
        if call_id in self._open:
            return self._open[call_id].call
        return self._proposed[call_id][0] if call_id in self._proposed else None

    def propose(self, call: ToolCall, turn: int) -> None:
        """The model asked for it."""
        if call.call_id in self._open or call.call_id in self._proposed:
            return
        if len(self._proposed) >= OPEN_MAX:
            self._proposed.pop(next(iter(self._proposed)))
        self._proposed[call.call_id] = (call, turn)
        self._told.say(
            AssistantToolCallProposed(
                turn_index=turn, tool_call_id=call.call_id, tool_name=call.name, input=dict(call.input)
            )
        )

    def forget(self, call_id: str) -> tuple[ToolCall, int] | None:
        """A proposed call that will never begin."""
        return self._proposed.pop(call_id, None)

    def block(self, call_id: str) -> None:
        """It was refused: it never begins, whatever is said of it later."""
        self._proposed.pop(call_id, None)
        if len(self._blocked) >= OPEN_MAX:
            self._blocked.pop(next(iter(self._blocked)))
        self._blocked[call_id] = None

    def is_blocked(self, call_id: str) -> bool:
        """Whether the call was refused."""
        return call_id in self._blocked

    def forget_all(self) -> None:
        """None of the proposed calls will begin any more."""
        self._proposed.clear()

    def begin(self, call: ToolCall, turn: int, at_ns: int) -> None:
        """It is at work. A call that is at work already is not begun again, and one that was refused never is."""
        if call.call_id in self._open or call.call_id in self._blocked:
            return
        if len(self._open) >= OPEN_MAX:
            self.finish(next(iter(self._open)), ToolEnding(outcome="failed", code="interrupted"), at_ns)
        known = self._proposed.pop(call.call_id, None)
        if known is None:
            self.propose(call, turn)
            known = self._proposed.pop(call.call_id)
        _, turn = known
        self._open[call.call_id] = _Open(call, turn, at_ns)
        self.begun += 1
        invoked = ToolInvoked(
            tool_call_id=call.call_id,
            tool_name=call.name,
            kind=call.kind,
            mcp_server=call.mcp_server or UNSET,
            mcp_tool=call.mcp_tool or UNSET,
            turn_index=turn,
            timeout_ms=UNSET if call.timeout_ms is None else call.timeout_ms,
        )
        started = ToolStarted(
            tool_call_id=call.call_id,
            tool_name=call.name,
            kind=call.kind,
            mcp_server=call.mcp_server or UNSET,
            mcp_tool=call.mcp_tool or UNSET,
            turn_index=turn,
            timeout_ms=UNSET if call.timeout_ms is None else call.timeout_ms,
        )
        self._told.say(invoked, started)
        if call.kind == "shell":
            self._told.say(self._command(call))

    def write(self, call_id: str, text: str, stream: Stream = "stdout") -> None:
        """It printed something more."""
        found = self._open.get(call_id)
        if found is None or not text:
            return
        piece = self._told.piece
        if isinstance(piece, ShellOutputChunk) and piece.tool_call_id == call_id and piece.stream == stream:
            self._told.go_on(text)
        else:
            offset = found.written.get(stream, 0)
            self._told.begin_piece(ShellOutputChunk(tool_call_id=call_id, stream=stream, data=text, byte_offset=offset))
        found.written[stream] = found.written.get(stream, 0) + size_of(text)

    def skip(self, call_id: str, size_bytes: int, stream: Stream = "stdout") -> None:
        """It printed so many bytes that the agent does not show; what it prints next stands behind them."""
        found = self._open.get(call_id)
        if found is not None and size_bytes > 0:
            # Pieces that do not follow on each other are not joined.
            self._told.say()
            found.written[stream] = found.written.get(stream, 0) + size_bytes

    def show(self, call_id: str, whole: str, stream: Stream = "stdout") -> None:
        """It shows all of its output so far: what is new of it was printed since."""
        found = self._open.get(call_id)
        if found is None:
            return
        before = found.whole.get(stream, "")
        found.whole[stream] = whole
        self.write(call_id, fresh(before, whole), stream)

    def has_written(self, call_id: str) -> bool:
        """Whether any output of the call has been told."""
        found = self._open.get(call_id)
        return found is not None and bool(found.written)

    def finish(self, call_id: str, ending: ToolEnding, at_ns: int) -> bool:
        """It ended; False when nobody knows of it or it had ended before."""
        found = self._open.pop(call_id, None)
        if found is None:
            return False
        call, output = found.call, ending.output
        if call.kind == "shell":
            if output and not found.written:
                self._open[call_id] = found
                self.write(call_id, output)
                del self._open[call_id]
            if ending.exit_code is not None or ending.signal is not None:
                self._told.say(_exited(found, ending))
        elif output is not None and len(output) > OUTPUT_MAX:
            self._told.say(
                Body(tool_call_id=call_id, text=output, summary=f"what {call.name} returned, {len(output)} characters")
            )
        duration = ending.duration_ms
        if duration is None:
            duration = max(0, (at_ns - found.since_ns) // 1_000_000)
        self._told.say(_ended(call, ending, duration))
        return True

    def _command(self, call: ToolCall) -> Payload:
        return ShellCommand(
            tool_call_id=call.call_id,
            argv=list(call.argv or ()),
            cwd=call.cwd or self._telling.cwd,
            env_keys=list(self._telling.env_keys),
            sandbox_layer=self._telling.sandbox_layer,
        )


def fresh(before: str, whole: str) -> str:
    """What is new in an output that is told again and again: its tail, or what follows the part that both share."""
    if whole.startswith(before):
        return whole[len(before) :]
    # Only the end is shown of what became too long: find where the new end goes on from the old one. What they share by
    # chance is no place to go on from, and telling something twice is better than not at all.
    overlap = before[-_OVERLAP_MAX:]
    while len(overlap) >= _OVERLAP_MIN:
        at = whole.rfind(overlap)
        if at >= 0:
            return whole[at + len(overlap) :]
        overlap = overlap[len(overlap) // 2 :]
    return whole


def line(text: str, limit: int = SUMMARY_MAX) -> str:
    """The first line of a text, short enough to stand in a list."""
    begins = _VISIBLE.search(text)
    if begins is None:
        return ""
    at = begins.start()
    ends = text.find("\n", at)
    first = text[at : ends if ends >= 0 else None].rstrip()
    return first if len(first) <= limit else f"{first[: limit - 1]}…"


def _exited(found: _Open, ending: ToolEnding) -> Payload:
    return ShellExited(
        tool_call_id=found.call.call_id,
        exit_code=ending.exit_code,
        signal=ending.signal,
        stdout_bytes=found.written.get("stdout", 0),
        stderr_bytes=found.written.get("stderr", 0),
        truncated=ending.truncated,
    )


class _Who(TypedDict):
    """What every end of a call says."""

    tool_call_id: str
    tool_name: str
    kind: str
    mcp_server: str | UnsetType
    mcp_tool: str | UnsetType
    duration_ms: int
    output: str | UnsetType


def _ended(call: ToolCall, ending: ToolEnding, duration_ms: int) -> Item:
    who: _Who = {
        "tool_call_id": call.call_id,
        "tool_name": call.name,
        "kind": call.kind,
        "mcp_server": call.mcp_server or UNSET,
        "mcp_tool": call.mcp_tool or UNSET,
        "duration_ms": duration_ms,
        "output": UNSET if ending.output is None or len(ending.output) > OUTPUT_MAX else ending.output,
    }
    summary = line(ending.summary or ending.message or ending.output or "") or UNSET
    match ending.outcome:
        case "completed":
            return ToolCompleted(**who, summary=summary)
        case "failed":
            code = ending.code or ("nonzero_exit" if ending.exit_code else "tool_failed")
            message = ending.message or line(ending.output or "") or "the agent says that it failed"
            return ToolFailed(**who, code=code, message=message, summary=summary)
        case "cancelled":
            return ToolCancelled(**who, by=ending.by, reason=ending.message)
        case "timed_out":
            message = ending.message or "it took longer than it may"
            return ToolTimedOut(**who, limit="wall_clock", message=message)
