"""`runwire agents probe` with each real agent: found, asked for its version, started, and heard."""

import asyncio
import json
from pathlib import Path

import pytest

from runwire.testing.agent_model_server import AgentModelServer
from tests.cli.program import Shell
from tests.cli.working import rows
from tests.real.driven import name_of, settings_of
from tests.real.place import Place
from tests.real.recipes import ASKING, RealAgent


def table(agent: RealAgent) -> str:
    """The agent's table, as it stands in a file."""
    ((name, settings),) = settings_of(agent).items()
    lines = [f"[agents.{name}]", f"command = {json.dumps(settings.command)}", f"state = {json.dumps(settings.state)}"]
    return "\n".join(
        [
            *lines,
            f"[agents.{name}.set_env]",
            *(f"{key} = {json.dumps(settings.set_env[key])}" for key in settings.set_env),
        ]
    )


@pytest.mark.parametrize("agent", tuple(ASKING), indirect=True)
async def test_a_real_agent_is_found_started_and_heard(
    agent: RealAgent, place: Place, models: AgentModelServer, tmp_path: Path
) -> None:
    data = place.home.parent / "data"
    data.mkdir(mode=0o700)
    (data / "config.toml").write_text(table(agent))
    name = name_of(agent)
    ended = await asyncio.to_thread(Shell(tmp_path).runwire, "--data", str(data), "--json", "agents", "probe", name)
    assert (ended.status, ended.err) == (0, "")
    (told,) = rows(ended)
    assert (told["agent"], told["installed"], told["status"]) == (name, True, "completed")
    assert told["version"].startswith(agent.name.partition("-")[2])
    assert told["said"]
    assert models.asked
