"""What a log tells of edits, and what the files say to it."""

import pytest

from runwire.protocol.events.artifact import ArtifactCreated, ArtifactUpdated
from runwire.protocol.events.edit import (
    EditApplied,
    EditProposed,
    EditRejected,
    EditReverted,
    MultiEditApplied,
    MultiEditProposed,
    MultiEditRejected,
    MultiEditReverted,
)
from runwire.protocol.events.file import FileWriteProposed
from runwire.protocol.events.user import UserMessage
from tests.scenarios.playing import Repertoire

BEFORE = {"a.txt": "one\n", "b.txt": "two\n"}


def test_edits_that_need_nobody_are_in_the_workspace_at_once(played: Repertoire) -> None:
    story = played("applied_at_once")
    assert story.facts["files"] == {"a.txt": "1\n", "b.txt": "TWO\n", "new.txt": "new\n"}
    assert story.log.one(FileWriteProposed).path == "new.txt"
    assert story.log.one(EditProposed).auto_apply is True
    assert len(story.log.all(EditApplied)) == 2
    assert len(story.log.one(MultiEditApplied).patch_artifact_ids) == 2
    patches = {one.artifact_id for one in story.log.all(ArtifactCreated) if one.kind == "patch"}
    assert {one.artifact_id for one in story.log.all(ArtifactUpdated)} == patches


def test_the_whole_change_is_one_diff_that_git_takes(played: Repertoire) -> None:
    story = played("applied_at_once")
    assert story.facts["type"].startswith("text/x-diff")
    assert story.facts["elsewhere"] == story.facts["files"]


def test_proposals_wait_and_are_decided_one_by_one(played: Repertoire) -> None:
    story = played("reviewed")
    assert story.facts["proposed"] == BEFORE
    assert story.facts["applied"] == {**BEFORE, "a.txt": "ONE\n"}
    assert story.facts["end"] == BEFORE
    rejected, reverted = story.log.one(EditRejected), story.log.one(EditReverted)
    assert (rejected.rejected_by, rejected.reason) == ("operator", "two is fine")
    assert reverted.inverse_artifact_id == story.facts["reverted"]["inverse_artifact_id"]
    assert story.log.one(EditApplied).applied_by == "operator"


def test_a_rejection_reaches_the_agent_at_its_next_turn(played: Repertoire) -> None:
    log = played("rejected_in_time").log
    heard = log.all(UserMessage)[-1].text
    assert "keep it small" in heard
    assert "a.txt" in heard
    assert log.types.index("tool.edit.rejected") < log.types.index("run.finished")


def test_a_batch_is_rejected_as_one(played: Repertoire) -> None:
    story = played("batch_rejected")
    assert story.log.one(MultiEditRejected).patch_artifact_ids == story.log.one(MultiEditProposed).patch_artifact_ids
    assert story.facts["files"] == BEFORE


def test_a_batch_is_taken_back_as_one(played: Repertoire) -> None:
    story = played("batch_reverted")
    assert story.facts["changed"] == {"a.txt": "ONE\n", "b.txt": "TWO\n"}
    # What was written last is taken back first.
    reverted, applied = story.log.one(MultiEditReverted), story.log.one(MultiEditApplied)
    assert reverted.patch_artifact_ids == applied.patch_artifact_ids[::-1]
    assert story.facts["files"] == BEFORE


def test_a_batch_is_applied_as_one(played: Repertoire) -> None:
    story = played("batch_applied")
    assert [one["status"] for one in story.facts["applied"]["data"]] == ["applied", "applied"]
    assert story.log.one(MultiEditApplied).applied_by == "operator"
    assert story.facts["files"] == {"a.txt": "ONE\n", "b.txt": "TWO\n"}


def test_a_file_that_has_changed_since_is_not_written(played: Repertoire) -> None:
    story = played("drifted")
    error = story.facts["refused"]["error"]
    assert error["code"] == "workspace_drifted"
    assert error["details"]["path"] == "b.txt"
    assert error["details"]["expected"] != error["details"]["actual"]
    assert story.facts["files"] == {"a.txt": "one\n", "b.txt": "two and a half\n"}


@pytest.mark.parametrize("story", ["reviewed", "batch_reverted"])
def test_every_patch_is_an_artifact_of_its_run(played: Repertoire, story: str) -> None:
    log = played(story).log
    made = {one.artifact_id for one in log.all(ArtifactCreated)}
    assert {one.artifact_id for one in log.all(ArtifactUpdated)} <= made
