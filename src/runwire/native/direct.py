"""Runs without a model: one shell command, one git command, or one change of a file. They are a tool call and its end."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.host import Ended, Failed, Finished, No, Past, RunHost, ToolEnd
from runwire.native.calling import Calling
from runwire.native.loop import told
from runwire.native.loop.recover import unsettled
from runwire.native.loop.state import Call
from runwire.native.tools.tool import Toolbox
from runwire.protocol.events.approval import ApprovalResolved
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut

KINDS = ("shell", "git", "file")

_FILE_TOOLS = {"write": "file_write", "edit": "edit_file", "delete": "file_delete"}
_OPERATION = "operation"


class DirectExecutor:
    """Executes runs of the kinds `shell`, `git` and `file`."""

    def __init__(self, *, toolbox: Toolbox, clock: Clock) -> None:
        self._toolbox = toolbox
        self._clock = clock

    async def run(self, host: RunHost) -> Ended:
        """Make the one call, unless it was made before, and end as it ends."""
        call = call_of(host.facts.run_id, host.facts.kind, host.facts.input)
        if isinstance(call, Failed):
            return call
        if not host.facts.fresh:
            ended = await self._before(host)
            if ended is not None:
                return ended
        async with AsyncExitStack() as stack:
            try:
                toolset = await stack.enter_async_context(self._toolbox.open(host))
            except RunwireError as wrong:
                return Failed(wrong.code, wrong.message)
            calling = Calling(host=host, toolset=toolset, clock=self._clock)
            _, end = await calling.run_one(call, 0)
        return _refused(end.told, stop=end.stop) if isinstance(end, No) else _ended(end)

    async def _before(self, host: RunHost) -> Ended | None:
        """How the call ended for an earlier worker; None when it has not been made."""
        run_id = host.facts.run_id
        past = [one for one in await host.past() if one.run_id == run_id]
        left = unsettled(past, run_id)
        if left:
            await host.emit(*left)
            return _failed(left[0])
        return _told(past)


def call_of(run_id: str, kind: str, given: Mapping[str, object]) -> Call | Failed:
    """The tool call that a run of this kind is. Its id follows from the run's, so that an approval finds it again."""
    call_id = f"call_{run_id.partition('_')[2]}"
    match kind:
        case "shell":
            return Call(call_id, "shell_exec", given)
        case "git":
            return Call(call_id, "git_exec", given)
        case "file":
            operation = given.get(_OPERATION)
            tool = _FILE_TOOLS.get(operation) if isinstance(operation, str) else None
            if tool is None:
                return Failed("invalid_input", f"operation is none of {', '.join(_FILE_TOOLS)}")
            return Call(call_id, tool, {name: value for name, value in given.items() if name != _OPERATION})
        case _:
            return Failed("kind_unknown", f"there are no runs of kind {kind}")


def _ended(end: ToolEnd) -> Ended:
    match end.outcome:
        case "completed":
            return Finished(end.summary)
        case "failed":
            return Failed(end.code or "failed", end.message)
        case "timed_out":
            return Failed("timed_out", end.message)
        case "cancelled":
            return Failed("cancelled", end.message)


def _told(past: list[Past]) -> Ended | None:
    stop = False
    for one in past:
        match one.payload:
            case ToolCompleted():
                summary = one.payload.summary
                return Finished(summary if isinstance(summary, str) else "")
            case ToolFailed():
                return _failed(one.payload)
            case ToolTimedOut():
                return Failed("timed_out", one.payload.message)
            case ApprovalResolved():
                stop = stop or one.payload.stop is True
            case PolicyToolBlocked():
                return _refused(one.payload.reason, stop=stop)
            case ToolCancelled():
                # The worker closed while the command ran: whether to repeat it is for a person to say.
                return Failed("interrupted", "the worker stopped while the call was at work")
            case _:
                pass
    return None


def _failed(payload: ToolFailed) -> Failed:
    return Failed(payload.code, payload.message, retriable=payload.code == "interrupted")


def _refused(reason: str, *, stop: bool) -> Failed:
    if stop:
        return Failed("approval_denied", told.STOPPED_BY_DENIAL)
    return Failed("tool_blocked", reason.removeprefix("error (blocked): "))
