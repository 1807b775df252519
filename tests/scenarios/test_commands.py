"""What a log tells of commands and of runs that were ended."""

import pytest

from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCancelled, ToolFailed, ToolTimedOut
from runwire.protocol.events.turn import TurnFailed
from tests.scenarios.playing import Repertoire


def test_a_command_that_fails_is_told_and_not_fatal(played: Repertoire) -> None:
    log = played("fails").log
    assert log.one(ToolFailed).code == "nonzero_exit"
    assert log.one(ShellExited).exit_code == 3
    assert [(one.stream, one.data) for one in log.all(ShellOutputChunk)] == [("stderr", "trouble\n")]
    assert log.types[-1] == "run.finished"


def test_a_command_that_takes_too_long_is_ended(played: Repertoire) -> None:
    log = played("takes_too_long").log
    assert log.one(ToolTimedOut).limit == "wall_clock"
    assert log.types[-1] == "run.finished"


def test_a_command_that_prints_without_end_is_ended(played: Repertoire) -> None:
    log = played("floods").log
    assert log.one(ToolTimedOut).limit == "output_bytes"
    assert sum(len(one.data) for one in log.all(ShellOutputChunk)) <= 2_000


def test_a_cancelled_run_ends_its_command_and_every_child(played: Repertoire) -> None:
    story = played("cancelled_command")
    assert story.log.one(ToolCancelled).by == "operator"
    assert (story.log.one(RunCancelled).by, story.log.one(RunCancelled).reason) == ("operator", "changed my mind")
    assert story.facts["left behind"] == []


def test_a_cancelled_turn_is_told_as_failed(played: Repertoire) -> None:
    log = played("cancelled_turn").log
    assert log.one(TurnFailed).code == "cancelled"
    assert log.types[-1] == "run.cancelled"
    assert "assistant.text_complete" not in log.types


def test_a_run_that_nobody_has_taken_up_is_cancelled_at_once(played: Repertoire) -> None:
    assert played("cancelled_in_the_queue").log.types == ["run.queued", "user.message", "run.cancelled"]


@pytest.mark.parametrize(("story", "tool"), [("shell_kind", "shell_exec"), ("git_kind", "git_exec")])
def test_a_task_that_is_one_command_has_no_turns(played: Repertoire, story: str, tool: str) -> None:
    log = played(story).log
    assert [one for one in log.types if one.startswith(("turn.", "assistant."))] == []
    assert log.one(RunFinished).turns == 0
    assert f'"tool_name":"{tool}"'.encode() in log.envelopes[log.types.index("tool.invoked")]


def test_a_task_that_is_one_command_fails_with_it(played: Repertoire) -> None:
    assert played("failing_shell_kind").log.one(RunFailed).code == "nonzero_exit"


def test_tasks_that_change_a_file_leave_patches(played: Repertoire) -> None:
    story = played("file_kind")
    assert story.facts["files"] == {"new.txt": "newer\n"}
    assert [log.types[-1] for log in story.logs] == ["run.finished"] * 3
    assert all("tool.edit.applied" in log.types for log in story.logs)
