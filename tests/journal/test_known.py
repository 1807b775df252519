"""What is known of runs that others write."""

from runwire.journal.records import Head, RunBirth
from runwire.journal.store.known import Known
from runwire.journal.story import Story
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.state.pane import PaneState

TOLD = Story(pane=PaneState(doing="writing"))


def head(sequence: int, story: Story) -> Head:
    """The end of a run, as a snapshot of the store shows it."""
    writer = EnvelopeWriter(run_id="run_a")
    return Head(1, RunBirth("run_a"), created_ns=1, updated_ns=2, writer=writer, sequence=sequence, story=story)


def test_a_story_is_gone_on_with_where_it_was_left() -> None:
    known = Known(lambda _: None)
    known.keep(head(5, TOLD), 5)
    later = head(9, Story())
    assert known.go_on(later, 2) == 5
    assert later.story == TOLD


def test_an_older_snapshot_is_not_shown_what_comes_after_it() -> None:
    known = Known(lambda _: None)
    known.keep(head(5, TOLD), 5)
    earlier = head(4, Story())
    assert known.go_on(earlier, 2) == 2
    assert earlier.story == Story()
