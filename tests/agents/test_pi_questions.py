"""pi: the questions of its extensions, watched."""

import pytest

from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from tests.agents.pi_streams import START, answer, bash, confirm, ended, of, shows, told, turn_end

# Questions, watched.


def test_a_question_that_is_watched_is_answered_by_what_becomes_of_the_call() -> None:
    items, _ = told(*bash("rm -rf x"), confirm(), shows(""), ended("(no output)"))
    (asked,) = of(items, ApprovalRequested)
    assert (asked.tool_call_id, asked.kind, asked.summary, asked.policy_reason) == (
        "c1",
        "bash",
        "rm -rf x",
        "Allow command?",
    )
    assert [one.decision for one in of(items, ApprovalResolved)] == ["approved"]
    items, _ = told(*bash("rm -rf x"), confirm(), ended("Blocked by user", is_error=True))
    assert [(one.decision, one.comment) for one in of(items, ApprovalResolved)] == [("denied", "Blocked by user")]


@pytest.mark.parametrize("method", ["notify", "setStatus", "setTitle", "setWidget", "set_editor_text"])
def test_what_an_extension_only_shows_is_no_question(method: str) -> None:
    items, _ = told(*START, confirm(method=method))
    assert not of(items, ApprovalRequested)


def test_a_question_about_no_call_is_answered_when_the_agent_goes_on() -> None:
    items, _ = told(*START, confirm(), *answer(), turn_end(), {"type": "agent_end"})
    assert [one.by for one in of(items, ApprovalResolved)] == ["operator"]
