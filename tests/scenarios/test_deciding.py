"""What a log tells of decisions."""

import json

from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunFailed
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolInvoked, ToolStarted
from tests.scenarios.playing import Repertoire


def test_what_a_policy_denies_is_told_and_does_not_happen(played: Repertoire) -> None:
    story = played("blocked")
    assert "tool.invoked" not in story.log.types
    assert story.log.one(PolicyToolBlocked).tool_name == "shell_exec"
    assert story.facts["files"] == []
    assert story.log.types[-1] == "run.finished"


def test_an_approved_call_happens_after_its_answer(played: Repertoire) -> None:
    story = played("approved")
    asked, answer = story.log.one(ApprovalRequested), story.log.one(ApprovalResolved)
    assert story.facts["waiting"] == "awaiting_approval"
    assert [one["approval_id"] for one in story.facts["inbox"]] == [asked.approval_id]
    assert (answer.decision, answer.by, answer.comment) == ("approved", "operator", "fine")
    types = story.log.types
    assert types.index("approval.requested") < types.index("approval.resolved") < types.index("tool.invoked")
    assert asked.input == {"command": "echo agreed"}


def test_an_edited_call_happens_as_it_was_edited(played: Repertoire) -> None:
    log = played("edited").log
    assert log.one(ApprovalResolved).edited_input == {"command": "echo quiet"}
    assert log.one(ToolStarted).input == {"command": "echo quiet"}
    assert log.one(ShellCommand).argv[-1] == "echo quiet"


def test_a_denied_call_is_told_as_blocked_and_the_run_goes_on(played: Repertoire) -> None:
    log = played("denied").log
    assert log.one(ApprovalResolved).decision == "denied"
    blocked = log.one(PolicyToolBlocked)
    assert "not here" in blocked.reason
    assert blocked.policy_id == f"approval:{log.one(ApprovalRequested).approval_id}"
    assert log.all(ToolInvoked) == []
    assert log.types[-1] == "run.finished"


def test_a_denial_that_stops_ends_the_run_and_every_call_of_the_answer(played: Repertoire) -> None:
    log = played("stopped").log
    assert log.one(RunFailed).code == "approval_denied"
    assert log.all(ToolCompleted) == []
    asked = {one.approval_id for one in log.all(ApprovalRequested)}
    assert {one.approval_id for one in log.all(ApprovalResolved)} == asked


def test_a_question_that_nobody_answers_is_a_denial(played: Repertoire) -> None:
    log = played("nobody_decides").log
    assert log.one(ApprovalTimedOut).approval_id == log.one(ApprovalRequested).approval_id
    assert "nobody decided" in log.one(PolicyToolBlocked).reason
    assert log.types[-1] == "run.finished"


def test_a_grant_answers_the_same_question_and_no_other(played: Repertoire) -> None:
    story = played("granted")
    first, second, third = story.log.all(ApprovalResolved)
    assert first.scope == "task"
    assert second.by == f"grant:{story.facts['permissions'][0]['permission_id']}"
    # One segment of the compound command was never granted.
    assert (third.by, third.decision) == ("operator", "denied")
    assert len(story.log.all(ToolCompleted)) == 2


def test_two_calls_that_are_the_same_are_one_question(played: Repertoire) -> None:
    log = played("merged").log
    assert len(log.all(ApprovalRequested)) == 1
    assert len(log.all(ToolCompleted)) == 2


def test_a_hook_may_refuse_a_call(played: Repertoire) -> None:
    failed = played("hook_denies").log.one(ToolFailed)
    assert (failed.code, failed.message) == ("hook_denied", "not on a Monday")


def test_a_hook_may_change_a_call(played: Repertoire) -> None:
    log = played("hook_replaces").log
    started = log.one(ToolStarted)
    assert (started.input, started.changed_by) == ({"command": "echo replaced"}, "hook:guard")
    assert log.one(ShellCommand).argv[-1] == "echo replaced"


def test_a_hook_that_breaks_is_an_event_and_the_call_goes_on(played: Repertoire) -> None:
    log = played("hook_breaks").log
    assert log.one(ErrorUpstream).provider == "hook:guard"
    assert len(log.all(ToolCompleted)) == 1


def test_a_hook_that_must_agree_and_hangs_fails_the_call(played: Repertoire) -> None:
    log = played("hook_hangs").log
    assert log.one(ToolFailed).code == "hook_failed"
    assert log.types[-1] == "run.finished"


def test_a_hook_after_a_call_sees_the_stored_event_verbatim(played: Repertoire) -> None:
    story = played("told_afterwards")
    seen = json.loads(story.facts["seen"])
    stored = story.log.envelopes[story.log.types.index("tool.completed")]
    assert seen["event"] == json.loads(stored)
    assert seen["hook"] == "PostToolUse"


def test_an_address_of_the_machine_itself_is_not_reached(played: Repertoire) -> None:
    log = played("network_needs_a_word").log
    assert log.one(ToolFailed).code == "address_refused"
