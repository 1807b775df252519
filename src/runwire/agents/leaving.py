"""How things end that nobody told the end of."""

from runwire.agents.dialect import Cancelled, Outcome, StreamEnd
from runwire.agents.tools import ToolEnding, line
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentState, AgentStateChanged


def left_off(end: StreamEnd, *, begun: bool, understood: bool) -> Outcome:
    """What became of the work when the stream just ended.

    `begun` says whether any was asked for, `understood` whether the agent said anything that made sense.
    """
    if end.lost:
        return Failed("stream_lost", end.lost, retriable=True)
    how = _how(end)
    if not understood:
        return Failed("agent_exited", f"the agent said nothing that could be understood{how}")
    if not begun and not how:
        return Finished()
    return Failed("agent_exited", f"the agent ended without saying how{how}", retriable=True)


def change_of(outcome: Outcome, *, begun: bool, blocked: bool) -> AgentStateChanged:
    """How the state of an agent changes with the end of its work."""
    before: AgentState = "blocked" if blocked else "working" if begun else "idle"
    if isinstance(outcome, Failed):
        return AgentStateChanged(from_=before, to="error", reason=line(outcome.message))
    return AgentStateChanged(from_=before, to="done", reason="")


def left_open(outcome: Outcome) -> ToolEnding:
    """What became of a call that was at work when everything ended."""
    if isinstance(outcome, Cancelled):
        return ToolEnding(outcome="cancelled", by=outcome.by, message=outcome.reason)
    return ToolEnding(outcome="failed", code="interrupted", message="the agent never said how it ended")


def _how(end: StreamEnd) -> str:
    how = ""
    if end.signal is not None:
        how = f" (killed by {end.signal})"
    elif end.exit_code:
        how = f" (exit status {end.exit_code})"
    last = line(end.stderr.strip().rpartition("\n")[2])
    return f"{how}: {last}" if last and how else how
