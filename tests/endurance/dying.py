"""A run that does something of everything, with workers that are killed under it, and what must be true afterwards."""

import asyncio
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from runwire.protocol import chain
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.edit import MultiEditApplied
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.run import RunFinished, RunStarted
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolInvoked, ToolStarted
from runwire.protocol.verify import verify
from runwire.runs.recovering import HAD_NOT_BEGUN, MAY_HAVE_HAPPENED
from tests.endurance.worker_entry import Place, worker
from tests.scenarios.log import Log
from tests.scenarios.stage import V1, Json, Stage, Theatre, call, sh, turn

COUNT = "count.txt"
BEFORE = {"one.txt": "first\nsecond\n", "folder/two.txt": "alpha\r\nbeta"}
AFTER = {"one.txt": "first\n2nd\n", "folder/two.txt": "alpha\r\ngamma"}


def _turns() -> list[Json]:
    """A command that a person is asked about, two files changed at once, a new file, and a word at the end."""
    edits = [
        {"path": "one.txt", "old_text": "second", "new_text": "2nd"},
        {"path": "folder/two.txt", "old_text": "beta", "new_text": "gamma"},
    ]
    return [
        turn("", sh(f"echo done >> {COUNT}")),
        turn("Now the files.", call("multi_edit", edits=edits)),
        turn("", call("file_write", path="new/three.txt", content="three\n")),
        turn("Done."),
    ]


async def live(folder: Path, deaths: Sequence[Place], *, trace: Path | None = None) -> Log:
    """Carry the run through workers of which each but the last dies at its place; prove what is left, return its log."""
    folder.mkdir(exist_ok=True)
    theatre = Theatre(folder)
    for path, text in BEFORE.items():
        theatre.file(path, "").write_bytes(text.encode())
    async with theatre.open(workers=0) as stage, asyncio.TaskGroup() as group:
        run_id = await stage.start(*_turns(), policy={"shell_exec": "ask"})
        group.create_task(_agree(stage, run_id))
        seen: Sequence[bytes] = ()
        for place in deaths:
            async with worker(theatre.data, place) as one:
                await one.died()
            found = (await stage.log(run_id)).envelopes
            assert list(found[: len(seen)]) == list(seen), "an event was lost"
            seen = found
        async with worker(theatre.data, trace=trace):
            log = await stage.end(run_id)
        assert list(log.envelopes[: len(seen)]) == list(seen), "an event was lost"
        await _prove(stage, theatre, log)
    return log


async def _agree(stage: Stage, run_id: str) -> None:
    asked = await stage.until(run_id, ApprovalRequested)
    await stage.resolve(asked.approval_id, "approved")


async def _prove(stage: Stage, theatre: Theatre, log: Log) -> None:
    run = await stage.run(log.run_id)
    assert list(verify(log.envelopes, head=chain.read(run.head_hash))) == []
    assert log.one(RunFinished).turns >= 4
    assert len(log.all(GapRunDisconnected)) == len(log.all(RunStarted)) - 1
    assert len(log.all(ApprovalRequested)) == len(log.all(ApprovalResolved)) == 1
    begun = [one.tool_call_id for one in log.all(ToolStarted)]
    assert len(begun) == len(set(begun))
    _prove_command(theatre.workspace, log)
    diff = await stage.http.get(f"{V1}/runs/{log.run_id}/patch")
    assert diff.status_code == 200, diff.text
    _prove_files(theatre, log, diff.content)


def _prove_command(workspace: Path, log: Log) -> None:
    """The command took effect once, or nobody knows and the model was told so."""
    path = workspace / COUNT
    times = len(path.read_text().splitlines()) if path.exists() else 0
    ran = next(one.tool_call_id for one in log.all(ToolInvoked) if one.tool_name == "shell_exec")
    if any(one.tool_call_id == ran for one in log.all(ToolCompleted)):
        assert times == 1
        return
    (failed,) = (one for one in log.all(ToolFailed) if one.tool_call_id == ran)
    assert failed.code == "interrupted"
    assert (times, failed.message) in {(0, HAD_NOT_BEGUN), (0, MAY_HAVE_HAPPENED), (1, MAY_HAVE_HAPPENED)}


def _prove_files(theatre: Theatre, log: Log, diff: bytes) -> None:
    """What the log says was applied, done again to the files as they were, gives the files as they are."""
    again = theatre.folder / "again"
    for path, text in BEFORE.items():
        (again / path).parent.mkdir(parents=True, exist_ok=True)
        (again / path).write_bytes(text.encode())
    if diff:
        subprocess.run(["git", "apply", "-"], cwd=again, input=diff, check=True, capture_output=True)
    now = _files(theatre.workspace)
    assert now == _files(again)
    edited = {path: now[path].decode() for path in BEFORE}
    assert edited == (AFTER if log.all(MultiEditApplied) else BEFORE)
    assert not any((theatre.data / "undo").glob("*")), "copies were left behind"
    shutil.rmtree(again)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != COUNT
    }
