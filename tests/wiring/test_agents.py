"""The agents that tasks may name, and what is asked of a task for each."""

from pathlib import Path

import pytest

from runwire.config import AgentSettings
from runwire.ids import Ids
from runwire.native.models.catalogue import Catalogue
from runwire.runs.accepting import Acceptance
from runwire.runs.errors import AgentUnknown, ModelUnknown, TaskInvalid
from runwire.runs.task import NewTask, settled
from runwire.wiring.naming import NamedAgents, named_agents

TABLES = {
    "goose": AgentSettings(dialect="acp", command=("goose", "acp")),
    "sales": AgentSettings(dialect="agno", url="http://127.0.0.1:7777"),
    "my-zot": AgentSettings(dialect="zot", command=("/opt/zot",)),
    "pi": AgentSettings(dialect="pi", command=("/opt/pi",)),
}


@pytest.fixture
def acceptance(tmp_path: Path) -> Acceptance:
    ids = Ids(now_ns=lambda: 0, random_bytes=bytes)
    models = Catalogue(providers={}, environ={}, ids=ids, idle_s=1.0)
    return Acceptance(agents=NamedAgents(TABLES), models=models, cwd=tmp_path)


def test_a_known_agent_needs_no_table_and_a_table_changes_how_it_is_run() -> None:
    named = named_agents(TABLES)
    assert named["zot"] == AgentSettings(dialect="zot")
    assert named["pi"].command == ("/opt/pi",)
    assert {"zot", "pi", "claude", "codex", "opencode", "gemini", "my-zot"} <= set(named)


def test_an_agent_of_a_family_is_known_by_its_name_with_and_without_the_family() -> None:
    named = named_agents(TABLES)
    assert named["acp:goose"] is named["goose"]
    assert named["agno:sales"] is named["sales"]
    assert not {"acp", "agno", "acp:sales", "zot:my-zot"} & set(named)


@pytest.mark.parametrize("agent", ["claude", "acp:goose", "agno:sales", "my-zot"])
def test_an_agent_of_somebody_elses_brings_its_model_or_is_told_one_as_it_is(
    acceptance: Acceptance, agent: str
) -> None:
    plain = NewTask(prompt="x", agent=agent, budget_micros_usd=5, timeout_s=60)
    assert acceptance.accept(plain) == plain
    told = NewTask(prompt="x", agent=agent, model="sonnet-of-theirs", budget_micros_usd=5, timeout_s=60)
    assert acceptance.accept(told) == told


def test_our_own_agent_still_needs_a_model_that_is_there(acceptance: Acceptance) -> None:
    with pytest.raises(TaskInvalid):
        acceptance.accept(NewTask(prompt="x"))
    with pytest.raises(ModelUnknown):
        acceptance.accept(NewTask(prompt="x", model="nobody:nothing"))


@pytest.mark.parametrize("agent", ["nobody", "acp:nobody", "acp:sales", "acp", "native:agent_loop"])
def test_an_agent_that_is_not_there_is_refused_with_those_that_are(acceptance: Acceptance, agent: str) -> None:
    with pytest.raises(AgentUnknown) as refused:
        acceptance.accept(NewTask(prompt="x", agent=agent))
    for known in ("native", "zot", "acp:goose", "agno:sales", "[agents.NAME]"):
        assert known in refused.value.hint


def test_kinds_without_a_model_are_our_own_agents(acceptance: Acceptance) -> None:
    new = acceptance.accept(NewTask(kind="shell", agent="claude", input={"command": "true"}))
    with pytest.raises(TaskInvalid):
        settled(new, task_id="task_1", created_ns=0)


def test_a_table_bounds_the_runs_of_its_agent_unless_the_task_does(tmp_path: Path) -> None:
    table = AgentSettings(dialect="zot", command=("/opt/zot",), timeout_s=60, max_steps=5)
    ids = Ids(now_ns=lambda: 0, random_bytes=bytes)
    models = Catalogue(providers={}, environ={}, ids=ids, idle_s=1.0)
    acceptance = Acceptance(agents=NamedAgents({"quick": table}), models=models, cwd=tmp_path)
    accepted = acceptance.accept(NewTask(prompt="x", agent="quick"))
    assert (accepted.timeout_s, accepted.max_turns) == (60, 5)
    accepted = acceptance.accept(NewTask(prompt="x", agent="quick", timeout_s=5, max_turns=90))
    assert (accepted.timeout_s, accepted.max_turns) == (5, 90)
    accepted = acceptance.accept(NewTask(prompt="x", agent="zot"))
    assert (accepted.timeout_s, accepted.max_turns) == (None, None)
