"""The real agents, each set up against a scripted model on loopback."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from runwire.testing.agent_model_server import AgentModelServer
from tests.real.agno_driven import Driven, driving
from tests.real.agno_os import AgnoOS, serving_agno
from tests.real.agno_raw import Raw
from tests.real.installed import requires
from tests.real.place import Place
from tests.real.recipes import ASKING, RECIPES, RealAgent


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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driven(agno_os: AgnoOS, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Driven]:
    """One gateway for all rows of a module: they tell their documents apart by title."""
    async with driving(tmp_path_factory.mktemp("driven"), agno_os) as found:
        yield found


@pytest.fixture
def raw(agno_os: AgnoOS) -> Raw:
    """The server itself, asked without us."""
    return Raw(agno_os)


def _set_up(name: str, place: Place, models: AgentModelServer) -> RealAgent:
    requires(name)
    return RECIPES[name](place.home, models.url)
