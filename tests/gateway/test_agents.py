"""Which agents can be asked, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.version import VERSION
from tests.gateway.working import Working, at_work


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def test_every_agent_is_listed_with_what_its_runs_can_tell(working: Working) -> None:
    listed = await working.get("/agents")
    found = {one["name"]: one for one in listed["data"]}
    assert listed["object"] == "list"
    assert list(found) == ["native", "zot", "pi", "claude", "codex", "opencode", "gemini"]
    native = found["native"]
    assert (native["installed"], native["version"], native["survives_restart"]) == (True, VERSION, True)
    assert native["sandbox_layer"] == found["claude"]["sandbox_layer"] != "none"
    for one in found.values():
        assert {"run.queued", "run.finished", "tool.completed"} <= set(one["event_types"])
        assert one["driven"]
        assert (one["install"] is None) == one["installed"]


async def test_others_are_answered_while_agents_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "programs" / "zot"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 2\necho 1.2.3\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent), prepend=":")
    async with at_work(tmp_path) as working:
        looking = asyncio.create_task(working.get("/agents"))
        answered = 0
        while not looking.done():
            await working.get("/panes")
            answered += 1
            await asyncio.sleep(0.05)
        found = {one["name"]: one for one in (await looking)["data"]}
    assert (found["zot"]["installed"], found["zot"]["version"]) == (True, "1.2.3")
    assert answered > 5
