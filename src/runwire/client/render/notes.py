"""Events that become one remark each."""

from collections.abc import Callable, Mapping

from runwire.client.render.blocks import NoteLevel
from runwire.client.render.money import dollars
from runwire.protocol.events import agent, cost, error, experimental, gap, policy, run, user
from runwire.protocol.payload import Payload

Remark = tuple[NoteLevel, str]


def remark_of(payload: Payload) -> Remark | None:
    """What to say about an event; None for one that says nothing to a person, or that a block says better."""
    tell = _REMARKS.get(type(payload))
    return None if tell is None else tell(payload)


def _upstream(said: error.ErrorUpstream) -> Remark:
    status = "" if said.status is None else f" {said.status}"
    again = said.retriable and said.attempt < said.max_attempts
    then = f"; attempt {said.attempt} of {said.max_attempts}" if said.retriable and said.max_attempts > 1 else ""
    return "warning" if again else "error", f"{said.provider}{status}: {said.message}{then}"


def _warned(said: cost.CostBudgetWarning) -> Remark:
    spent, budget = dollars(said.cumulative_cost_micros_usd), dollars(said.task_budget_micros_usd)
    return "warning", f"{said.threshold_pct} % of the budget is spent: {spent} of {budget}"


def _exceeded(said: cost.CostBudgetExceeded) -> Remark:
    spent, budget = dollars(said.cumulative_cost_micros_usd), dollars(said.task_budget_micros_usd)
    return "error", f"the budget is spent: {spent} of {budget}; {said.action}"


def _incapable(said: error.ErrorModelCapabilityMissing) -> Remark:
    instead = f"; {said.fallback_strategy} instead" if said.fallback_strategy else ""
    return "warning", f"{said.model} has no {said.missing_capability}{instead}"


def _pruned(said: gap.GapEventsPruned) -> Remark:
    return "warning", f"events {said.first_pruned_sequence} to {said.last_pruned_sequence} were removed ({said.reason})"


def _unparsed(said: agent.AgentUnparsed) -> Remark | None:
    # What was understood and only came late is of no use to a person.
    return None if said.error.startswith(agent.LATE) else ("warning", f"not understood: {said.raw} ({said.error})")


def _child_finished(said: experimental.RunChildFinished) -> Remark:
    return "info", f"the child {said.child_run_id} {said.final_status}: {said.summary or ''}".removesuffix(": ")


_REMARKS: Mapping[type, Callable[..., Remark | None]] = {
    agent.AgentUnparsed: _unparsed,
    cost.CostBudgetWarning: _warned,
    cost.CostBudgetExceeded: _exceeded,
    error.ErrorUpstream: _upstream,
    error.ErrorToolUnavailable: lambda said: ("warning", f"{said.tool_name} is not available: {said.reason}"),
    error.ErrorModelCapabilityMissing: _incapable,
    experimental.AssistantMedia: lambda said: ("info", f"made {said.summary or said.mime}: {said.artifact_id}"),
    experimental.RunChildStarted: lambda said: ("info", f"{said.agent} begins {said.child_run_id}: {said.summary}"),
    experimental.RunChildFinished: _child_finished,
    experimental.RunBranched: lambda said: ("info", f"{said.branch_run_id} branches off at {said.from_sequence}"),
    gap.GapEventsPruned: _pruned,
    gap.GapRunDisconnected: lambda said: ("warning", f"the worker was lost ({said.reason}); another goes on"),
    policy.PolicyModelRewrote: lambda said: ("info", f"{said.from_model} became {said.to_model}: {said.reason}"),
    run.RunResumedFromEvent: lambda said: ("info", f"goes on from {said.from_run_id} at {said.from_sequence}"),
    user.UserAttachment: lambda said: ("info", f"given: {said.kind}, {said.mime}, {said.artifact_id}"),
}
