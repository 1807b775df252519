"""What a budget has to say, and when."""

from runwire.agents.dialect import Overspent, Telling, Usage
from runwire.agents.telling import Teller
from runwire.protocol.events.cost import CostBudgetExceeded


def test_a_turn_that_spends_the_budget_is_not_waited_out() -> None:
    teller = Teller(Telling(agent="zot", budget_micros_usd=100, spent_before_micros_usd=10))
    teller.leg_begins()
    teller.turn_begins()
    teller.use(Usage(cost_micros_usd=80))
    assert not any(isinstance(item, Overspent) for item in teller.take())
    teller.use(Usage(cost_micros_usd=10))
    exceeded, overspent = teller.take()
    assert isinstance(exceeded, CostBudgetExceeded)
    assert (exceeded.cumulative_cost_micros_usd, overspent) == (100, Overspent())
    teller.use(Usage(cost_micros_usd=10))
    teller.turn_ends("end_turn")
    assert not any(isinstance(item, (CostBudgetExceeded, Overspent)) for item in teller.take())
