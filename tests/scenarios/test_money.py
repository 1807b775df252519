"""What a log tells of money."""

from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunFailed, RunFinished, RunResumedFromEvent
from tests.scenarios.playing import Repertoire


def test_money_is_counted_and_a_warning_comes_once(played: Repertoire) -> None:
    log = played("warned").log
    assert [one.cumulative_cost_micros_usd for one in log.all(CostTick)] == [500, 850, 860]
    assert log.one(CostBudgetWarning).cumulative_cost_micros_usd == 850
    assert log.one(RunFinished).cost_micros_usd == 860


def test_a_spent_budget_halts_before_the_next_call(played: Repertoire) -> None:
    story = played("halted")
    assert story.log.one(CostBudgetExceeded).action == "halted"
    assert story.log.one(PolicyToolBlocked).policy_id == "budget"
    assert story.log.one(RunFailed).code == "budget_exceeded"
    assert story.facts["files"] == []


def test_the_ceiling_spans_the_chain_and_may_only_be_raised(played: Repertoire) -> None:
    story = played("spent_before")
    first, poor, rich = story.logs
    assert [log.types[-1] for log in story.logs] == ["run.failed", "run.failed", "run.finished"]
    assert poor.one(RunFailed).code == "budget_exceeded"
    assert poor.one(RunResumedFromEvent).prior_cost_micros_usd == 1200
    assert story.facts["lowered"]["error"]["code"] == "budget_lowered"
    assert rich.one(CostTick).task_budget_remaining_micros_usd == 2000 - 1210
    assert first.one(RunFailed).code == "budget_exceeded"
