"""How a call ends is told once, and shown to whoever wants to see it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from runwire.clock import SystemClock
from runwire.host import ToolEnd
from runwire.journal.journal import Journal
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut
from runwire.protocol.payload import Payload
from runwire.runs.settling import Settles, terminal
from tests.runs.deciding import Desk, begin, log_of, opened, shell, types_of
from tests.runs.test_hooks import Hook, command, stored
from tests.runs.test_permitting import permitted

DONE = ToolEnd(outcome="completed", duration_ms=5, summary="exit 0", output="ok")


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "journal.db") as journal:
        yield journal


async def settled(journal: Journal, tmp_path: Path, end: ToolEnd, *hooks: Hook) -> Desk:
    desk = Desk(
        journal, await begin(journal, tmp_path), "default", clock=SystemClock(), data=tmp_path / "data", hooks=hooks
    )
    ask = shell("make")
    await permitted(desk, ask)
    await Settles(policies=desk.policies, hooks=desk.hooks).settle(desk.held, ask, end, desk.emit)
    await desk.emit()
    return desk


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (DONE, ToolCompleted),
        (
            ToolEnd(outcome="failed", duration_ms=5, summary="exit 1", output="no", code="nonzero_exit", message="m"),
            ToolFailed,
        ),
        (
            ToolEnd(outcome="cancelled", duration_ms=5, summary="", output=None, by="ann", message="enough"),
            ToolCancelled,
        ),
        (ToolEnd(outcome="timed_out", duration_ms=5, summary="", output=None, limit="output_bytes"), ToolTimedOut),
    ],
)
async def test_an_end_is_told_as_what_it_is(
    journal: Journal, tmp_path: Path, end: ToolEnd, told: type[Payload]
) -> None:
    await settled(journal, tmp_path, end)
    *_, last = await log_of(journal)
    assert type(last) is told
    assert last == terminal(shell("make"), end)


def test_everything_that_is_known_of_an_end_is_told() -> None:
    ask = replace(shell("x"), mcp_server="s", mcp_tool="t")
    told = terminal(ask, replace(DONE, result="dispatched", result_artifact_id="art_1"))
    assert isinstance(told, ToolCompleted)
    assert (told.mcp_server, told.mcp_tool, told.result) == ("s", "t", "dispatched")
    assert (told.output, told.result_artifact_id, told.summary) == ("ok", "art_1", "exit 0")


async def test_a_hook_sees_the_stored_end(journal: Journal, tmp_path: Path) -> None:
    await settled(journal, tmp_path, DONE, command(tmp_path, f"cat > {tmp_path}/seen", on="PostToolUse"))
    seen = (tmp_path / "seen").read_bytes()
    assert seen.startswith(b'{"hook":"PostToolUse","event":' + (await stored(journal))[-1])


@pytest.mark.parametrize("script", ["exit 3", "sleep 60"])
async def test_a_broken_hook_is_an_error_event_and_the_end_stands(
    journal: Journal, tmp_path: Path, script: str
) -> None:
    await settled(journal, tmp_path, DONE, command(tmp_path, script, on="PostToolUse", timeout_s=0.5))
    assert await types_of(journal) == ["tool.invoked", "tool.started", "tool.completed", "error.upstream"]


async def test_a_call_that_is_being_stopped_does_not_wait_for_hooks(journal: Journal, tmp_path: Path) -> None:
    end = ToolEnd(outcome="cancelled", duration_ms=5, summary="", output=None, by="ann")
    await settled(journal, tmp_path, end, command(tmp_path, f"touch {tmp_path}/ran", on="PostToolUse"))
    assert not (tmp_path / "ran").exists()
