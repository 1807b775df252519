"""How each agent that is a program is told which model to use."""

import json

import pytest

from runwire.agents.profile import Wish
from runwire.agents.profiles import known, profile_of

WISHED = {
    "zot": ("--provider", "openai", "--model", "gpt-5"),
    "pi": ("--model", "openai/gpt-5"),
    "claude": ("--model", "gpt-5"),
    "codex": ("-c", 'model_provider="openai"', "-c", 'model="gpt-5"'),
    "opencode": (),
    "gemini": ("-m", "gpt-5"),
    "acp": (),
}


@pytest.mark.parametrize("name", known())
def test_a_model_is_wished_for_in_the_agents_own_words(name: str) -> None:
    profile = profile_of(name)
    assert tuple(profile.arguments(Wish("openai:gpt-5", "/workspace"))) == WISHED[name]
    assert not profile.arguments(Wish(None, "/workspace"))
    assert not profile.variables(Wish(None, "/workspace"))


def test_one_whose_command_takes_no_model_reads_it_from_its_environment() -> None:
    variables = profile_of("opencode").variables(Wish("openai:gpt-5", "/workspace"))
    assert json.loads(variables["OPENCODE_CONFIG_CONTENT"]) == {"model": "openai/gpt-5"}
