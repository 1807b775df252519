"""The runs of the benchmark are carried by the product's own workers. No figure is judged here."""

from pathlib import Path

from bench import working


def test_runs_are_queued_and_carried_to_their_end(tmp_path: Path) -> None:
    found = working.carry(tmp_path / "ours", 4, 2)
    assert found.per_second > 0
    assert len(found.first_event_ms) == 4


def test_the_journal_alone_is_handed_what_a_run_appends(tmp_path: Path) -> None:
    told = working.batches(tmp_path / "alone")
    assert sum(len(batch) for batch in told) == working.EVENTS_OF_A_RUN - 2
    assert (told[0][0][0], told[-1][-1][0]) == ("run.started", "run.finished")
    assert working.appended(tmp_path / "rival", told, 4, 2) > 0
