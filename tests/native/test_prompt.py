"""What a model is told before the conversation."""

from pathlib import Path

from msgspec.structs import replace

from runwire.host import ToolSpec
from runwire.native.prompt import system_prompt
from runwire.testing.host import run_facts

TOOLS = [ToolSpec("echo", "Say a word.", {"type": "object"})]


def test_it_says_where_the_work_is_done() -> None:
    text = system_prompt(run_facts(workspace=Path("/srv/place")), TOOLS, asks_in_text=False)

    assert "/srv/place (in_place)" in text
    assert "echo" not in text


def test_it_describes_tools_only_to_those_who_cannot_be_given_any() -> None:
    assert "- echo: Say a word." in system_prompt(run_facts(), TOOLS, asks_in_text=True)


def test_it_says_when_edits_are_only_proposals() -> None:
    facts = replace(run_facts(), auto_apply=False)

    assert "proposals" in system_prompt(facts, (), asks_in_text=False)
    assert "proposals" not in system_prompt(run_facts(), (), asks_in_text=False)
