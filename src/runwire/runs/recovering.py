"""What a dead worker left open, and how that is told. A call that had begun is never tried again by itself."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from runwire.clock import rfc3339
from runwire.host import Past
from runwire.journal.records import RunInfo
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.payload import Opaque, Payload

_NS_PER_MS = 1_000_000
MAY_HAVE_HAPPENED = "its effect may have happened; look before you repeat it"
HAD_NOT_BEGUN = "it had not begun"
_NOTED = frozenset(
    {
        TurnStarted,
        TurnCompleted,
        TurnFailed,
        ToolInvoked,
        ToolStarted,
        ToolCompleted,
        ToolFailed,
        ToolCancelled,
        ToolTimedOut,
    }
)


class OpenCall(Struct):
    """A tool call that was invoked and has not ended."""

    invoked: ToolInvoked
    since_ns: int
    started: bool = False

    def failed(self, now_ns: int) -> ToolFailed:
        """How the call ends when nobody knows what became of it."""
        call = self.invoked
        return ToolFailed(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            kind=call.kind,
            mcp_server=call.mcp_server,
            mcp_tool=call.mcp_tool,
            duration_ms=self._duration_ms(now_ns),
            code="interrupted",
            message=MAY_HAVE_HAPPENED if self.started else HAD_NOT_BEGUN,
        )

    def cancelled(self, now_ns: int, by: str, reason: str) -> ToolCancelled:
        """How the call ends when it was stopped on request."""
        call = self.invoked
        return ToolCancelled(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            kind=call.kind,
            mcp_server=call.mcp_server,
            mcp_tool=call.mcp_tool,
            duration_ms=self._duration_ms(now_ns),
            by=by,
            reason=reason,
        )

    def _duration_ms(self, now_ns: int) -> int:
        return max(0, now_ns - self.since_ns) // _NS_PER_MS


class LeftOpen(Struct):
    """Turns and tool calls that have begun and not ended, in the order in which they began."""

    turns: dict[int, int] = field(default_factory=dict)
    calls: dict[str, OpenCall] = field(default_factory=dict)

    def note(self, payload: Payload | Opaque, now_ns: int) -> None:
        """Take one more event in."""
        # Most events begin and end nothing, and every event comes by here.
        if type(payload) not in _NOTED:
            return
        match payload:
            case TurnStarted(turn_index=turn):
                self.turns[turn] = now_ns
            case TurnCompleted(turn_index=turn) | TurnFailed(turn_index=turn):
                self.turns.pop(turn, None)
            case ToolInvoked(tool_call_id=call):
                self.calls[call] = OpenCall(payload, now_ns)
            case ToolStarted(tool_call_id=call):
                if call in self.calls:
                    self.calls[call].started = True
            case ToolCompleted() | ToolFailed() | ToolCancelled() | ToolTimedOut():
                self.calls.pop(payload.tool_call_id, None)
            case _:
                pass

    def cancelled(self, now_ns: int, by: str, reason: str, *, will_retry: bool = False) -> list[Payload]:
        """How all of it ends when the run is stopped."""
        ends: list[Payload] = [call.cancelled(now_ns, by, reason) for call in self.calls.values()]
        return ends + [
            TurnFailed(turn_index=turn, code="cancelled", message=reason or f"stopped by {by}", will_retry=will_retry)
            for turn in self.turns
        ]

    def interrupted(self, now_ns: int, *, code: str, message: str, will_retry: bool) -> list[Payload]:
        """How all of it ends when nobody knows what became of it."""
        ends: list[Payload] = [call.failed(now_ns) for call in self.calls.values()]
        return ends + [
            TurnFailed(turn_index=turn, code=code, message=message, will_retry=will_retry) for turn in self.turns
        ]


def left_open(past: Iterable[Past], run_id: str) -> LeftOpen:
    """What a run has begun and not ended, as its log tells."""
    found = LeftOpen()
    for one in past:
        if one.run_id == run_id:
            found.note(one.payload, one.occurred_ns)
    return found


def story_of_loss(info: RunInfo, left: LeftOpen, now_ns: int, *, reason: str, will_retry: bool) -> Sequence[Payload]:
    """The gap that a lost worker left, and the truthful end of what it had under way."""
    gap = GapRunDisconnected(since_sequence=info.head_sequence, since_at=rfc3339(info.updated_ns), reason=reason)
    ends = left.interrupted(now_ns, code="worker_lost", message="the worker was lost", will_retry=will_retry)
    return [gap, *ends]
