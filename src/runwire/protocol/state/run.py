"""The state of a run, folded from its events.

| status            | run.started       | turn.started, tool.invoked | approval.requested | approval.resolved, approval.timed_out | run.finished | run.failed | run.cancelled |
|-------------------|-------------------|----------------------------|--------------------|---------------------------------------|--------------|------------|---------------|
| queued            | running           | running                    | awaiting_approval  | (ignored)                             | completed    | failed     | cancelled     |
| running           | running           | running                    | awaiting_approval  | running                               | completed    | failed     | cancelled     |
| awaiting_approval | awaiting_approval | awaiting_approval          | awaiting_approval  | running, once none is pending         | completed    | failed     | cancelled     |
| a terminal one    | (ignored)         | (ignored)                  | (ignored)          | (ignored)                             | (ignored)    | (ignored)  | (ignored)     |

The first terminal event wins: what comes later changes neither the status nor any total. An ignored event is a breach
that `runwire.protocol.lifecycle` reports; the fold itself never refuses a log.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick
from runwire.protocol.events.policy import PolicyModelRewrote
from runwire.protocol.events.run import (
    RunCancelled,
    RunCheckpointSaved,
    RunFailed,
    RunFinished,
    RunQueued,
    RunResumedFromEvent,
    RunStarted,
)
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolEvent,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.payload import Opaque, Payload, Record

Status = Literal["queued", "running", "awaiting_approval", "completed", "failed", "cancelled"]

TERMINAL_STATUSES: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})

_ENDS: Mapping[str, Status] = {
    RunFinished.type: "completed",
    RunFailed.type: "failed",
    RunCancelled.type: "cancelled",
}

TRANSITIONS: Mapping[Status, Mapping[str, Status]] = MappingProxyType(
    {
        "queued": {
            RunStarted.type: "running",
            TurnStarted.type: "running",
            ToolInvoked.type: "running",
            ApprovalRequested.type: "awaiting_approval",
            **_ENDS,
        },
        "running": {
            RunStarted.type: "running",
            TurnStarted.type: "running",
            ToolInvoked.type: "running",
            ApprovalRequested.type: "awaiting_approval",
            ApprovalResolved.type: "running",
            ApprovalTimedOut.type: "running",
            **_ENDS,
        },
        "awaiting_approval": {
            RunStarted.type: "awaiting_approval",
            TurnStarted.type: "awaiting_approval",
            ToolInvoked.type: "awaiting_approval",
            ApprovalRequested.type: "awaiting_approval",
            ApprovalResolved.type: "running",
            ApprovalTimedOut.type: "running",
            **_ENDS,
        },
        "completed": {},
        "failed": {},
        "cancelled": {},
    }
)
"""Which status follows when an event of a type happens; a type that is not listed leaves the status as it is."""


class PendingApproval(Record):
    """A decision that the run waits for."""

    approval_id: str
    tool_call_id: str | None
    kind: str
    summary: str
    since_ns: int


class OpenTool(Record):
    """A tool call that has not ended."""

    tool_call_id: str
    tool_name: str
    since_ns: int
    deadline_ns: int | None
    """When its own timeout strikes; None when it has none."""


class RunState(Record):
    """All that a run's events say about it so far. Moments are UTC nanoseconds."""

    status: Status = "queued"
    kind: str | None = None
    agent: str | None = None
    model: str | None = None
    provider: str | None = None
    workspace_path: str | None = None
    workspace_mode: str | None = None
    prior_run_id: str | None = None
    parent_run_id: str | None = None
    worker_id: str | None = None
    """Who works on it, or did last."""
    checkpoint_id: str | None = None
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_micros_usd: int = 0
    prior_cost_micros_usd: int = 0
    budget_micros_usd: int | None = None
    budget_remaining_micros_usd: int | None = None
    pending_approvals: tuple[PendingApproval, ...] = ()
    open_tools: tuple[OpenTool, ...] = ()
    error_code: str | None = None
    error_message: str | None = None
    retriable: bool = False
    queued_ns: int | None = None
    started_ns: int | None = None
    finished_ns: int | None = None
    duration_ms: int | None = None

    @property
    def finished(self) -> bool:
        """Say whether the run is over."""
        return self.status in TERMINAL_STATUSES


def fold(state: RunState, payload: Payload | Opaque, occurred_ns: int) -> RunState:
    """Return the state after the event; the very same object when the event changes nothing."""
    change = _CHANGES.get(type(payload))
    if change is None or state.status in TERMINAL_STATUSES:
        return state
    return change(state, payload, occurred_ns)


def concerns(event_type: str) -> bool:
    """Say whether events of this type can change a run's state; others need not even be decoded."""
    return event_type in _CONCERNS


def _moved(state: RunState, event_type: str) -> Status:
    return TRANSITIONS[state.status].get(event_type, state.status)


def _queued(state: RunState, payload: RunQueued, at_ns: int) -> RunState:
    return replace(
        state,
        kind=payload.kind,
        agent=state.agent if isinstance(payload.agent, UnsetType) else payload.agent,
        model=payload.model,
        provider=payload.provider,
        workspace_path=payload.workspace_path,
        workspace_mode=payload.workspace_mode,
        prior_run_id=payload.prior_run_id or state.prior_run_id,
        parent_run_id=state.parent_run_id if isinstance(payload.parent_run_id, UnsetType) else payload.parent_run_id,
        queued_ns=at_ns,
    )


def _started(state: RunState, payload: RunStarted, at_ns: int) -> RunState:
    first = at_ns if state.started_ns is None else state.started_ns
    return replace(
        state, status=_moved(state, payload.type), started_ns=first, worker_id=payload.worker_id or state.worker_id
    )


def _resumed(state: RunState, payload: RunResumedFromEvent, _: int) -> RunState:
    return replace(state, prior_run_id=payload.from_run_id, prior_cost_micros_usd=payload.prior_cost_micros_usd)


def _checkpoint(state: RunState, payload: RunCheckpointSaved, _: int) -> RunState:
    return replace(state, checkpoint_id=payload.checkpoint_id)


def _turn_started(state: RunState, payload: TurnStarted, at_ns: int) -> RunState:
    return replace(
        state,
        status=_moved(state, payload.type),
        started_ns=at_ns if state.started_ns is None else state.started_ns,
        turns=state.turns + 1,
        model=payload.model or state.model,
        provider=payload.provider or state.provider,
    )


def _turn_completed(state: RunState, payload: TurnCompleted, _: int) -> RunState:
    return replace(
        state,
        input_tokens=state.input_tokens + payload.input_tokens,
        output_tokens=state.output_tokens + payload.output_tokens,
        cached_input_tokens=state.cached_input_tokens + payload.cached_input_tokens,
        cost_micros_usd=state.cost_micros_usd + payload.cost_micros_usd,
    )


def _turn_failed(state: RunState, payload: TurnFailed, _: int) -> RunState:
    return replace(
        state,
        input_tokens=state.input_tokens + (payload.input_tokens or 0),
        output_tokens=state.output_tokens + (payload.output_tokens or 0),
        cost_micros_usd=state.cost_micros_usd + (payload.cost_micros_usd or 0),
    )


def _tool_begun(state: RunState, payload: ToolInvoked | ToolStarted, at_ns: int) -> RunState:
    others = tuple(tool for tool in state.open_tools if tool.tool_call_id != payload.tool_call_id)
    if isinstance(payload, ToolStarted) and len(others) == len(state.open_tools):
        return state
    known = next((tool for tool in state.open_tools if tool.tool_call_id == payload.tool_call_id), None)
    deadline = known.deadline_ns if known else None
    if payload.timeout_ms is not UNSET:
        deadline = at_ns + payload.timeout_ms * 1_000_000
    begun = OpenTool(
        tool_call_id=payload.tool_call_id, tool_name=payload.tool_name, since_ns=at_ns, deadline_ns=deadline
    )
    return replace(
        state,
        status=_moved(state, payload.type),
        started_ns=at_ns if state.started_ns is None else state.started_ns,
        open_tools=(*others, begun),
    )


def _tool_ended(state: RunState, payload: ToolEvent, _: int) -> RunState:
    return replace(
        state, open_tools=tuple(tool for tool in state.open_tools if tool.tool_call_id != payload.tool_call_id)
    )


def _approval_requested(state: RunState, payload: ApprovalRequested, at_ns: int) -> RunState:
    pending = PendingApproval(
        approval_id=payload.approval_id,
        tool_call_id=payload.tool_call_id,
        kind=payload.kind,
        summary=payload.summary,
        since_ns=at_ns,
    )
    return replace(state, status=_moved(state, payload.type), pending_approvals=(*state.pending_approvals, pending))


def _approval_settled(state: RunState, payload: ApprovalResolved | ApprovalTimedOut, _: int) -> RunState:
    left = tuple(one for one in state.pending_approvals if one.approval_id != payload.approval_id)
    if len(left) == len(state.pending_approvals):
        return state
    return replace(state, status=state.status if left else _moved(state, payload.type), pending_approvals=left)


def _cost_tick(state: RunState, payload: CostTick, _: int) -> RunState:
    # Totals never fall: a tick may trail the turns it sums, and some agents report only ticks.
    return replace(
        state,
        input_tokens=max(state.input_tokens, payload.cumulative_input_tokens),
        output_tokens=max(state.output_tokens, payload.cumulative_output_tokens),
        cached_input_tokens=max(state.cached_input_tokens, payload.cumulative_cached_input_tokens or 0),
        cost_micros_usd=max(state.cost_micros_usd, payload.cumulative_cost_micros_usd),
        budget_micros_usd=payload.task_budget_micros_usd,
        budget_remaining_micros_usd=payload.task_budget_remaining_micros_usd,
    )


def _budget(state: RunState, payload: CostBudgetWarning | CostBudgetExceeded, _: int) -> RunState:
    # Its sum is the whole task's, over all its runs: only the ceiling says something of this one.
    return replace(state, budget_micros_usd=payload.task_budget_micros_usd)


def _rewrote(state: RunState, payload: PolicyModelRewrote, _: int) -> RunState:
    return replace(state, model=payload.to_model)


def _ended(state: RunState, payload: RunFinished | RunFailed | RunCancelled, at_ns: int) -> RunState:
    duration_ms = payload.duration_ms
    if isinstance(duration_ms, UnsetType):
        duration_ms = (at_ns - state.started_ns) // 1_000_000 if state.started_ns is not None else 0
    failure = payload if isinstance(payload, RunFailed) else None
    return replace(
        state,
        status=_moved(state, payload.type),
        turns=max(state.turns, payload.turns or 0),
        cost_micros_usd=max(state.cost_micros_usd, payload.cost_micros_usd or 0),
        error_code=failure.code if failure else None,
        error_message=failure.message if failure else None,
        retriable=failure.retriable if failure else False,
        finished_ns=at_ns,
        duration_ms=duration_ms,
    )


_CHANGES: dict[type, Callable[..., RunState]] = {
    RunQueued: _queued,
    RunStarted: _started,
    RunResumedFromEvent: _resumed,
    RunCheckpointSaved: _checkpoint,
    RunFinished: _ended,
    RunFailed: _ended,
    RunCancelled: _ended,
    TurnStarted: _turn_started,
    TurnCompleted: _turn_completed,
    TurnFailed: _turn_failed,
    ToolInvoked: _tool_begun,
    ToolStarted: _tool_begun,
    ToolCompleted: _tool_ended,
    ToolFailed: _tool_ended,
    ToolCancelled: _tool_ended,
    ToolTimedOut: _tool_ended,
    ApprovalRequested: _approval_requested,
    ApprovalResolved: _approval_settled,
    ApprovalTimedOut: _approval_settled,
    CostTick: _cost_tick,
    CostBudgetWarning: _budget,
    CostBudgetExceeded: _budget,
    PolicyModelRewrote: _rewrote,
}
_CONCERNS = frozenset(change.type for change in _CHANGES if issubclass(change, Payload))
