"""The real agents, each set up against a scripted model on loopback."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runwire.testing.agent_model_server import AgentModelServer
from tests.real.agno_os import AgnoOS, serving_agno
from tests.real.installed import requires
from tests.real.recipes import ASKING, RECIPES, RealAgent


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent works, and beside it where it keeps its own files."""

    workspace: Path
    home: Path


@pytest.fixture
def place() -> Iterator[Place]:
    """Not in /tmp, which is another one inside a sandbox."""
    folder = Path(tempfile.mkdtemp(prefix="runwire-real-", dir="/var/tmp")).resolve()
    made = Place(folder / "workspace", folder / "home")
    made.workspace.mkdir()
    made.home.mkdir()
    yield made
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def models() -> AsyncIterator[AgentModelServer]:
    """The scripted model that every agent talks to."""
    async with AgentModelServer() as server:
        yield server


@pytest.fixture
def agent(request: pytest.FixtureRequest, place: Place, models: AgentModelServer) -> RealAgent:
    """The agent that the test is parametrised with, by name."""
    return _set_up(str(request.param), place, models)


@pytest.fixture
def asking(request: pytest.FixtureRequest, place: Place, models: AgentModelServer) -> RealAgent:
    """The same, set up so that it asks before it runs a command."""
    requires(str(request.param))
    return ASKING[str(request.param)](place.home, models.url)


@pytest.fixture
def zot(place: Place, models: AgentModelServer) -> RealAgent:
    """zot, set up."""
    return _set_up("zot", place, models)


@pytest.fixture(params=["pi-0.73", "pi-0.87"])
def pi(request: pytest.FixtureRequest, place: Place, models: AgentModelServer) -> RealAgent:
    """pi, the last version of each of its two lines, set up."""
    return _set_up(str(request.param), place, models)


@pytest.fixture
def claude(place: Place, models: AgentModelServer) -> RealAgent:
    """Claude Code, set up."""
    return _set_up("claude", place, models)


@pytest.fixture
def codex(place: Place, models: AgentModelServer) -> RealAgent:
    """Codex, set up."""
    return _set_up("codex", place, models)


@pytest.fixture
def opencode(place: Place, models: AgentModelServer) -> RealAgent:
    """opencode, set up."""
    return _set_up("opencode", place, models)


@pytest.fixture
def gemini(place: Place, models: AgentModelServer) -> RealAgent:
    """gemini-cli, set up."""
    return _set_up("gemini", place, models)


@pytest.fixture(scope="session")
def agno_os(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgnoOS]:
    """One AgentOS for all tests that leave it alive; they tell their documents apart by title."""
    requires("agno")
    with serving_agno(tmp_path_factory.mktemp("agno")) as serving:
        yield serving


def _set_up(name: str, place: Place, models: AgentModelServer) -> RealAgent:
    requires(name)
    return RECIPES[name](place.home, models.url)
