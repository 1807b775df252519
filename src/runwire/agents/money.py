"""Tokens and money of a stream: per turn and in all, and what follows when a budget is spent."""

from runwire.agents.dialect import Item, Overspent, Telling, Usage
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick

WARNING_PCT = 80

NOTHING = Usage(cost_micros_usd=0)
"""What was used where nobody says that anything was."""


class Money:
    """Counts what an agent uses. A budget belongs to the task, totals belong to the run."""

    def __init__(self, telling: Telling) -> None:
        """Count from nothing."""
        self._telling = telling
        self.total = NOTHING
        self._turn: Usage | None = None
        self._warned = False
        self.overspent = False

    @property
    def cost_micros_usd(self) -> int:
        """What this stream has cost."""
        return self.total.cost_micros_usd or 0

    def use(self, usage: Usage, provider: str | None, model: str | None) -> None:
        """Count a call of a model for the turn at hand."""
        cost = usage.cost_micros_usd
        if cost is None and self._telling.price is not None:
            cost = self._telling.price(provider, model, usage)
        self._turn = added(self._turn or NOTHING, usage, cost or 0)

    def turn(self) -> Usage | None:
        """What the turn at hand has used, which is counted into the totals now; None when the agent said nothing."""
        used, self._turn = self._turn, None
        if used is not None:
            self.total = added(self.total, used, used.cost_micros_usd or 0)
        return used

    def tick(self) -> list[Item]:
        """The totals, and what a budget has to say about them."""
        budget, spent = self._telling.budget_micros_usd, self._telling.spent_before_micros_usd + self.cost_micros_usd
        told: list[Item] = [
            CostTick(
                cumulative_input_tokens=self.total.input_tokens,
                cumulative_output_tokens=self.total.output_tokens,
                cumulative_cached_input_tokens=self.total.cached_input_tokens,
                cumulative_cost_micros_usd=self.cost_micros_usd,
                task_budget_micros_usd=budget,
                task_budget_remaining_micros_usd=None if budget is None else budget - spent,
            )
        ]
        if budget is None:
            return told
        if not self._warned and spent * 100 >= budget * WARNING_PCT:
            self._warned = True
            told.append(
                CostBudgetWarning(
                    threshold_pct=WARNING_PCT, cumulative_cost_micros_usd=spent, task_budget_micros_usd=budget
                )
            )
        return [*told, *self._exceeded(spent, budget)]

    def alarm(self) -> list[Item]:
        """What a budget has to say about a turn that has not ended yet: one may be long, and spend all."""
        budget, turn = self._telling.budget_micros_usd, self._turn or NOTHING
        if budget is None:
            return []
        spent = self._telling.spent_before_micros_usd + self.cost_micros_usd + (turn.cost_micros_usd or 0)
        return self._exceeded(spent, budget)

    def _exceeded(self, spent: int, budget: int) -> list[Item]:
        if self.overspent or spent < budget:
            return []
        self.overspent = True
        exceeded = CostBudgetExceeded(
            cumulative_cost_micros_usd=spent, task_budget_micros_usd=budget, action="interrupted"
        )
        return [exceeded, Overspent()]


def added(one: Usage, other: Usage, cost_micros_usd: int) -> Usage:
    """Both together; the second costs what is given."""
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cached_input_tokens=one.cached_input_tokens + other.cached_input_tokens,
        cost_micros_usd=(one.cost_micros_usd or 0) + cost_micros_usd,
    )


def micros(dollars: float | None) -> int | None:
    """Dollars as whole micro-dollars; None stays None, and what is no amount of money counts as nothing."""
    if dollars is None or not 0 <= dollars < 1e9:
        return None if dollars is None else 0
    return round(dollars * 1_000_000)


def count(number: float | None) -> int:
    """A number of tokens as an agent gives it: never below zero, and never absurd."""
    return int(number) if number is not None and 0 <= number < 2**53 else 0
