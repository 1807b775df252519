"""What the logs tell of runs that go on from others."""

from runwire.protocol.events.artifact import ArtifactReferenced
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.experimental import RunBranched
from runwire.protocol.events.run import RunFinished, RunQueued, RunResumedFromEvent
from runwire.protocol.events.user import UserMessage
from tests.scenarios.playing import Repertoire


def test_a_resumed_run_repeats_nothing(played: Repertoire) -> None:
    story = played("resumed")
    first, second = story.logs
    assert second.types[0] == "run.resumed_from_event"
    assert second.one(RunResumedFromEvent).from_run_id == first.run_id
    assert second.one(RunQueued).prior_run_id == first.run_id
    assert second.one(AssistantTextComplete).text == "And now the end."
    assert story.facts["count"] == "once\n"


def test_a_run_goes_on_from_any_checkpoint(played: Repertoire) -> None:
    whole, by_id, by_sequence = played("resumed_from_an_earlier_place").logs
    assert whole.types[-1] == "run.finished"
    for log in (by_id, by_sequence):
        # The first answer counts; its call had not been made at that point, so it is made now.
        assert [one.text for one in log.all(AssistantTextComplete)] == ["Two.", "Three."]
        assert log.types[-1] == "run.finished"
    assert by_id.one(RunResumedFromEvent).from_sequence == by_sequence.one(RunResumedFromEvent).from_sequence


def test_a_continued_run_hears_more_and_sees_what_was_made(played: Repertoire) -> None:
    first, second = played("continued").logs
    assert second.one(UserMessage).text == "What did it print?"
    assert second.one(ArtifactReferenced).relation == "consumed"
    assert second.one(AssistantTextComplete).text == "One to five."
    assert first.types[-1] == "run.finished"


def test_a_retried_run_begins_anew(played: Repertoire) -> None:
    first, second = played("retried").logs
    assert second.types == first.types
    assert second.one(RunQueued).prior_run_id == first.run_id


def test_a_branch_leaves_the_live_run_to_itself(played: Repertoire) -> None:
    trunk, branch = played("branched").logs
    told = trunk.one(RunBranched)
    assert told.branch_run_id == branch.run_id
    assert branch.one(RunResumedFromEvent).from_sequence == told.from_sequence
    assert trunk.one(RunFinished).final_status == branch.one(RunFinished).final_status == "completed"
