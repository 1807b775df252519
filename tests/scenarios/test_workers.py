"""What a log tells of workers that went away, and of events that did."""

from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.gap import GapEventsPruned, GapRunDisconnected
from runwire.protocol.events.run import RunStarted
from runwire.protocol.events.tool import ToolCancelled, ToolFailed
from tests.scenarios.playing import Repertoire


def test_a_killed_worker_leaves_a_gap_and_its_call_is_not_repeated(played: Repertoire) -> None:
    story = played("killed")
    gap = story.log.one(GapRunDisconnected)
    assert gap.since_sequence == story.log.types.index("gap.run_disconnected") - 1
    assert story.log.one(ToolFailed).code == "interrupted"
    first, second = story.log.all(RunStarted)
    assert first.worker_id != second.worker_id
    assert story.facts["count"] == "begun\n"
    assert story.log.types[-1] == "run.finished"


def test_a_worker_that_closes_hands_its_run_on_without_a_gap(played: Repertoire) -> None:
    story = played("closed")
    assert story.facts["status"] == 0
    changed = story.log.one(AgentStateChanged)
    assert (changed.from_, changed.to) == ("working", "idle")
    assert story.log.one(ToolCancelled).by == "system"
    assert "gap.run_disconnected" not in story.log.types
    assert len(story.log.all(RunStarted)) == 2
    assert story.log.types[-1] == "run.finished"


def test_a_pruned_log_says_what_is_missing_and_still_verifies(played: Repertoire) -> None:
    log = played("pruned").log
    gap = log.one(GapEventsPruned)
    assert log.types[0] == "gap.events_pruned"
    assert (gap.first_pruned_sequence, gap.reason) == (0, "operator")
