"""What a page asks first."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.version import VERSION
from tests.gateway.serving import V1, caller
from tests.gateway.working import Working, at_work, says


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def test_a_caller_learns_what_it_may_do(working: Working) -> None:
    about = await working.get("/about")
    assert (about["version"], about["caller"], about["demo"]) == (VERSION, "operator", False)
    assert about["scopes"] == ["read", "operate", "write", "admin"]
    assert "read_only" in about["policies"]
    assert about["workspace"] == str(Path.cwd())
    token = (await working.post("/tokens", {"name": "alex", "scopes": ["operate"]})).json()["token"]
    async with caller(working.served.port, token) as http:
        about = (await http.get(f"{V1}/about")).json()
    assert (about["caller"], about["scopes"]) == ("alex", ["read", "operate"])


async def test_sessions_are_listed_with_the_number_of_their_tasks(working: Working) -> None:
    for session in ("chat_a", "chat_a", "chat_b"):
        await working.task(says(), session_id=session, title=f"In {session}", start=False)
    sessions = (await working.get("/sessions"))["data"]
    assert [(one["session_id"], one["title"], one["tasks"]) for one in sessions] == [
        ("chat_b", "In chat_b", 1),
        ("chat_a", "In chat_a", 2),
    ]
    assert len((await working.get("/sessions", limit="1"))["data"]) == 1
