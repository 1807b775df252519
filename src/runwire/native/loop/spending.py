"""Money: what has been spent against what may be. A budget belongs to the task, totals belong to the run."""

from runwire.native.loop.state import Rules, State
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick

WARNING_PCT = 80


def spent(state: State, rules: Rules, counted: int = 0) -> int:
    """Micro-dollars of the whole task: this run's turns and all before, or what the host counted if that is more."""
    return max(rules.spent_before_micros_usd + state.cost_micros_usd, counted)


def exceeded(state: State, rules: Rules, counted: int = 0) -> bool:
    """Whether nothing is left for another call."""
    return rules.budget_micros_usd is not None and spent(state, rules, counted) >= rules.budget_micros_usd


def tick(state: State, rules: Rules, counted: int = 0) -> CostTick:
    """The run's totals, and what is left of the task's budget."""
    budget = rules.budget_micros_usd
    return CostTick(
        cumulative_input_tokens=state.usage.input_tokens,
        cumulative_output_tokens=state.usage.output_tokens,
        cumulative_cached_input_tokens=state.usage.cache_read_tokens,
        cumulative_cost_micros_usd=state.cost_micros_usd,
        task_budget_micros_usd=budget,
        task_budget_remaining_micros_usd=None if budget is None else budget - spent(state, rules, counted),
    )


def warning(state: State, rules: Rules, counted: int = 0) -> CostBudgetWarning | None:
    """A warning, the first time that the threshold is passed in this run."""
    budget = rules.budget_micros_usd
    now = spent(state, rules, counted)
    if budget is None or state.warned or now * 100 < budget * WARNING_PCT:
        return None
    return CostBudgetWarning(threshold_pct=WARNING_PCT, cumulative_cost_micros_usd=now, task_budget_micros_usd=budget)


def halted(state: State, rules: Rules, counted: int = 0) -> CostBudgetExceeded:
    """The event that tells why no further call is made."""
    return CostBudgetExceeded(
        cumulative_cost_micros_usd=spent(state, rules, counted),
        task_budget_micros_usd=rules.budget_micros_usd or 0,
        action="halted",
    )
