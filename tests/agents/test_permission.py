"""A question of an agent's, as it is put to policy, grants and people."""

import pytest

from runwire.agents.dialect import Question
from runwire.agents.permission import ask_about
from runwire.host import ToolInputInvalid


def question(*, fixed: bool = False) -> Question:
    return Question(
        question_id="q1",
        tool_name="Bash",
        tool_kind="shell",
        summary="ls",
        reason="it asks",
        input={"command": "ls"},
        argv_text="ls",
        fixed=fixed,
    )


def test_what_somebody_makes_of_a_command_is_what_is_decided_about() -> None:
    assert ask_about(question(), 0).recheck({"command": "ls -l"}).argv_text == "ls -l"
    with pytest.raises(ToolInputInvalid, match="cwd"):
        ask_about(question(), 0).recheck({"command": "ls", "cwd": "/"})


def test_a_call_of_an_agent_that_takes_no_other_input_cannot_be_another() -> None:
    asked = ask_about(question(fixed=True), 0)
    assert asked.fixed
    with pytest.raises(ToolInputInvalid, match="no other input"):
        asked.recheck({"command": "ls -l"})
