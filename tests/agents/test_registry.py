"""Which agents are here: programs that are found, asked once for their version, and asked again once they have changed."""

import asyncio
import os
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from runwire.agents.registry import Found, Registry
from runwire.agents.versions import Surroundings, Versions, version_in
from runwire.config import AgentSettings
from runwire.testing.clock import ManualClock
from runwire.workspace.sandbox.choosing import choose
from runwire.workspace.sandbox.layer import Sandbox


class Machine:
    """A folder of programs that leave a trace of being asked, and what looks at it."""

    def __init__(self, folder: Path, *, asking_s: float = 5.0) -> None:
        self.folder = folder
        self.clock = ManualClock()
        self.sandboxes = 0
        self.environ = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": "/nowhere", "OPENAI_API_KEY": "sk-not-for-versions"}
        surroundings = Surroundings(choose=self._choose, environ=self.environ)
        self.versions = Versions(surroundings=surroundings, clock=self.clock, asking_s=asking_s)

    async def _choose(self) -> Sandbox:
        self.sandboxes += 1
        return await choose()

    def program(self, name: str, body: str, *, at_s: int = 1_700_000_000) -> Path:
        """Put a program there; its time of change is as told."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        os.utime(path, (at_s, at_s))
        return path

    def registry(self, **agents: AgentSettings) -> Registry:
        """What knows these agents."""
        named: Mapping[str, AgentSettings] = {name.replace("__", ":"): one for name, one in agents.items()}
        return Registry(version="9.9", agents=named, environ=self.environ, versions=self.versions)

    async def look(self, **agents: AgentSettings) -> dict[str, Found]:
        """Every one of these agents."""
        return {one.known.name: one for one in await self.registry(**agents).look()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


async def test_our_own_agent_is_always_here(machine: Machine) -> None:
    ours = (await machine.look())["native"]
    assert (ours.installed, ours.version, ours.known.driven) == (True, "9.9", "in process")
    assert "run.finished" in ours.known.event_types


async def test_an_agent_that_is_missing_says_how_to_get_it_and_starts_nothing(machine: Machine) -> None:
    found = await machine.look(zot=AgentSettings(dialect="zot"))
    assert (found["zot"].installed, found["zot"].version) == (False, None)
    assert found["zot"].to_do.startswith("go install ")
    assert machine.sandboxes == 0


async def test_a_command_of_the_operators_own_that_is_missing_is_named(machine: Machine) -> None:
    found = await machine.look(mine=AgentSettings(dialect="zot", command=("my-zot",)))
    assert found["mine"].to_do == "install my-zot, or name it by its whole path in `command` of [agents.mine]"


async def test_a_program_tells_its_version_without_seeing_a_key(machine: Machine) -> None:
    machine.program("zot", 'echo "zot $1 ${OPENAI_API_KEY:-without} 0.1.62-beta+1 (linux)"')
    zot = (await machine.look(zot=AgentSettings(dialect="zot")))["zot"]
    assert (zot.installed, zot.version, zot.place) == (True, "0.1.62-beta+1", str(machine.folder / "zot"))


async def test_a_program_is_asked_once_and_again_when_it_has_changed(machine: Machine) -> None:
    zot = AgentSettings(dialect="zot")
    machine.program("zot", "echo 1.0")
    assert (await machine.look(zot=zot))["zot"].version == "1.0"
    machine.program("zot", "echo 2.0")
    assert (await machine.look(zot=zot))["zot"].version == "1.0"
    machine.program("zot", "echo 2.0", at_s=1_700_000_001)
    assert (await machine.look(zot=zot))["zot"].version == "2.0"


async def test_one_that_never_answers_costs_a_bounded_time_and_is_left_in_peace_for_a_while(tmp_path: Path) -> None:
    machine, zot = Machine(tmp_path, asking_s=2.0), AgentSettings(dialect="zot")
    machine.program("zot", "sleep 60")
    began = time.monotonic()
    found = (await machine.look(zot=zot))["zot"]
    assert (found.installed, found.version) == (True, None)
    assert time.monotonic() - began < 20
    machine.program("zot", "echo 3.1")
    assert (await machine.look(zot=zot))["zot"].version is None
    machine.clock.advance(61)
    assert (await machine.look(zot=zot))["zot"].version == "3.1"


async def test_the_loop_goes_on_while_programs_are_asked(tmp_path: Path) -> None:
    machine = Machine(tmp_path, asking_s=2.0)
    machine.program("zot", "sleep 60")
    looking = asyncio.create_task(machine.look(zot=AgentSettings(dialect="zot")))
    longest, last = 0.0, time.monotonic()
    while not looking.done():
        await asyncio.sleep(0.01)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert (await looking)["zot"].version is None
    assert longest < 1.0


async def test_those_who_ask_together_cause_one_question(machine: Machine) -> None:
    machine.program("zot", "date +%s.%N")
    looks = await asyncio.gather(*(machine.look(zot=AgentSettings(dialect="zot")) for _ in range(4)))
    assert len({one["zot"].version for one in looks}) == 1


async def test_an_interpreters_script_is_asked_and_not_the_interpreter(machine: Machine) -> None:
    script = machine.folder / "agent.sh"
    script.write_text('echo "agent 7.7.7 $*"\n')
    mine = AgentSettings(dialect="zot", command=("sh", str(script), "rpc"))
    assert (await machine.look(mine=mine))["mine"].version == "7.7.7"


async def test_an_agent_of_a_family_is_listed_once_by_its_whole_name(machine: Machine) -> None:
    settings = AgentSettings(dialect="agno", url="http://127.0.0.1:9")
    found = await machine.look(sales=settings, agno__sales=settings)
    assert list(found) == ["native", "agno:sales"]
    sales = found["agno:sales"]
    assert (sales.known.aliases, sales.known.driven, sales.known.asks) == (("sales",), "HTTP/SSE", True)
    assert (sales.installed, sales.place) == (False, "http://127.0.0.1:9")
    assert "start the AgentOS at http://127.0.0.1:9" in sales.to_do


@pytest.mark.parametrize(
    ("pages", "installed", "version"),
    [
        ({"/info": b'{"agno_version":"3.1.10","auth_mode":"none"}'}, True, "3.1.10"),
        ({"/health": b'{"status":"ok"}'}, True, None),
        ({"/info": b"<html>"}, False, None),
        ({}, False, None),
    ],
)
async def test_a_server_tells_its_version_where_it_has_a_way_to(
    machine: Machine, pages: dict[str, bytes], installed: bool, version: str | None
) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's own name
            """Quietly."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        found = await machine.look(sales=AgentSettings(dialect="agno", url=url))
        server.shutdown()
    assert (found["sales"].installed, found["sales"].version) == (installed, version)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("codex-cli 0.166.0\n", "0.166.0"),
        ("2.1.325 (Claude Code)", "2.1.325"),
        ("v22.9.0", "22.9.0"),
        ("no numbers here", None),
        ("7", None),
        ("", None),
    ],
)
def test_a_version_is_found_in_what_programs_say(text: str, version: str | None) -> None:
    assert version_in(text) == version
