"""Budgets: the task's ceiling, the run's totals."""

import pytest
from msgspec.structs import replace

from runwire.native.loop import spending
from runwire.native.loop.state import Rules, State

RULES = Rules(
    provider="p", model="m", window_tokens=1, max_turns=1, spent_before_micros_usd=50, may_emit=lambda _: True
)


def test_without_a_budget_nothing_is_ever_spent_up() -> None:
    state = State(cost_micros_usd=10**12)

    assert not spending.exceeded(state, RULES)
    assert spending.warning(state, RULES) is None
    assert spending.tick(state, RULES).task_budget_remaining_micros_usd is None


@pytest.mark.parametrize(("cost", "warned"), [(29, False), (30, True), (60, True)])
def test_four_fifths_are_worth_a_warning(cost: int, *, warned: bool) -> None:
    rules = replace(RULES, budget_micros_usd=100)
    state = State(cost_micros_usd=cost)

    assert (spending.warning(state, rules) is not None) == warned
    assert spending.warning(replace(state, warned=True), rules) is None


@pytest.mark.parametrize(("cost", "over"), [(49, False), (50, True), (51, True)])
def test_a_budget_is_spent_when_nothing_is_left(cost: int, *, over: bool) -> None:
    assert spending.exceeded(State(cost_micros_usd=cost), replace(RULES, budget_micros_usd=100)) == over


def test_what_the_host_counted_beats_what_the_run_knows() -> None:
    rules = replace(RULES, budget_micros_usd=100)

    assert spending.spent(State(cost_micros_usd=10), rules, 75) == 75
    assert spending.halted(State(), rules, 120).cumulative_cost_micros_usd == 120
