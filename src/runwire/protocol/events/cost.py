"""Tokens and money as they accrue, and the budget that bounds them. One dollar is 1,000,000 micros."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class CostTick(Payload):
    """The run's totals so far."""

    type: ClassVar[str] = "cost.tick"

    cumulative_input_tokens: Count
    cumulative_output_tokens: Count
    cumulative_cost_micros_usd: Count
    task_budget_micros_usd: Annotated[Count | None, Meta(description="Null when the task has no budget.")]
    task_budget_remaining_micros_usd: Annotated[
        int | None, Meta(description="Below zero when overspent; null when the task has no budget.")
    ]
    cumulative_cached_input_tokens: Count | UnsetType = UNSET


class CostBudgetWarning(Payload):
    """Spending passed a threshold of the budget."""

    type: ClassVar[str] = "cost.budget_warning"

    threshold_pct: Count
    cumulative_cost_micros_usd: Count
    task_budget_micros_usd: Count


class CostBudgetExceeded(Payload):
    """The budget is spent."""

    type: ClassVar[str] = "cost.budget_exceeded"

    cumulative_cost_micros_usd: Count
    task_budget_micros_usd: Count
    action: Annotated[str, Meta(description="What was done about it, such as halted.")]
