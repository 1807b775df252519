"""Settling: the end of a call that was let go. Its terminal event, then the hooks that want to see it."""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import asdict

from runwire.host import Emit, ToolAsk, ToolEnd
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolEvent, ToolFailed, ToolTimedOut
from runwire.runs.hooks import HookFault, Hooks, wanted
from runwire.runs.hosting import Held
from runwire.runs.policies import Policies


class Settles:
    """Tells how calls end, as `runs.hosting.Settling` promises."""

    def __init__(self, *, policies: Policies, hooks: Hooks) -> None:
        """Show ends to the hooks that these policies name."""
        self._policies = policies
        self._hooks = hooks

    async def settle(self, held: Held, ask: ToolAsk, end: ToolEnd, emit: Emit) -> None:
        """Store the terminal event; with hooks, wait until it is durable and show it to them. They change nothing."""
        ticket = emit(terminal(ask, end), kept=end.drafts)
        hooks = wanted(self._policies.bounds(held.task).hooks, "PostToolUse", ask)
        # A call that is being stopped has no time for hooks: whoever stops it waits.
        if not hooks or end.outcome == "cancelled":
            return
        stored = await ticket
        occasion = await self._hooks.occasion("PostToolUse", held, ask, stored.sequence)
        for hook in hooks:
            try:
                await self._hooks.call(hook, occasion)
            except HookFault as fault:
                emit(fault.told(hook.name))


def terminal(ask: ToolAsk, end: ToolEnd) -> ToolEvent:
    """The event that says how a call ended."""
    match end.outcome:
        case "completed" | "failed":
            return _carried_out(ask, end)
        case "cancelled" | "timed_out":
            return _broken_off(ask, end)
        case never:
            assert_never(never)


def _carried_out(ask: ToolAsk, end: ToolEnd) -> ToolCompleted | ToolFailed:
    completed = ToolCompleted(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        duration_ms=end.duration_ms,
        summary=end.summary,
        result=UNSET if end.result is None else end.result,
        result_artifact_id=UNSET if end.result_artifact_id is None else end.result_artifact_id,
        output=UNSET if end.output is None else end.output,
    )
    if end.outcome == "completed":
        return completed
    return ToolFailed(**asdict(completed), code=end.code or "failed", message=end.message)


def _broken_off(ask: ToolAsk, end: ToolEnd) -> ToolCancelled | ToolTimedOut:
    cancelled = ToolCancelled(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        duration_ms=end.duration_ms,
        by=end.by,
        reason=end.message,
        result_artifact_id=UNSET if end.result_artifact_id is None else end.result_artifact_id,
        output=UNSET if end.output is None else end.output,
    )
    if end.outcome == "cancelled":
        return cancelled
    shared = {name: value for name, value in asdict(cancelled).items() if name not in {"by", "reason"}}
    return ToolTimedOut(**shared, limit=end.limit or "wall_clock", message=end.message)
