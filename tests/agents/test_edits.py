"""Edits that an agent has made behind our back: told, merged and taken back as if our own tools had made them."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwire.agents import edits
from runwire.agents.edits import Applied, EditWatch, watching
from runwire.errors import Conflict
from runwire.host import Ended, Finished, RunHost
from runwire.journal.artifact import ArtifactFilter, Change
from runwire.protocol.events.edit import EditProposed, MultiEditProposed
from runwire.protocol.payload import Payload
from runwire.runs.past import told
from runwire.workspace.changes import FileState
from runwire.workspace.errors import PatchRedacted, PatchUnavailable
from tests.runs.desk import Desk, desk_in
from tests.runs.house import House, open_house
from tests.workspace.git import checkout, git, read_tree, write_tree
from tests.workspace.trees import EXACT_STATES, NAMES

BEFORE = {
    "a.txt": FileState(b"one\ntwo\nthree\n"),
    "win.txt": FileState(b"one\r\ntwo\r\n"),
    "run.sh": FileState(b"#!/bin/sh\necho a", 0o755),
    "sub/deep.txt": FileState("ü\n".encode(), 0o600),
    "pic.bin": FileState(b"\0\1\2" * 50),
}
ID = re.compile(r"art_[0-9A-Z]{26}|sha256:[0-9a-f]{64}|call_\w+|20\d\d-\d\d-\d\dT[0-9:.]+Z")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path / "data") as house:
        yield house


@pytest.fixture
def desk(house: House, tmp_path: Path) -> Desk:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    write_tree(workspace, BEFORE)
    return desk_in(house, workspace)


@dataclass(frozen=True, slots=True)
class Watched:
    """A run whose agent writes as the test does."""

    run_id: str
    host: RunHost
    watch: EditWatch


@asynccontextmanager
async def watched(desk: Desk, *, applied: Applied | None = None) -> AsyncGenerator[Watched]:
    """A run that is at work, and watched, until the block is left."""
    loop = asyncio.get_running_loop()
    begun: asyncio.Future[RunHost] = loop.create_future()
    leave = asyncio.Event()

    async def work(host: RunHost) -> Ended:
        begun.set_result(host)
        await leave.wait()
        return Finished()

    stop, ground = asyncio.Event(), desk.house.ground
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(desk.house.worker(work).work(stop))
        run_id = await desk.house.run(workspace={"path": str(desk.workspace), "mode": "in_place"})
        host = await begun
        try:
            async with watching(
                host,
                folder=desk.house.data / "shadows",
                applied=applied or desk.patches.applier.ledger.applied,
                locks=desk.patches.locks,
                clock=ground.clock,
                ids=ground.ids,
            ) as watch:
                yield Watched(run_id, host, watch)
        finally:
            leave.set()
            await desk.house.end(run_id)
            stop.set()


async def events(desk: Desk, run_id: str) -> list[Payload]:
    """What a run tells of files, in order."""
    found = [told(envelope) for envelope in await desk.house.log(run_id)]
    return [
        one
        for one in found
        if isinstance(one, Payload)
        and one.type.startswith(("artifact.", "tool.edit.", "tool.multi_edit.", "tool.file"))
    ]


def shown(payloads: list[Payload]) -> list[str]:
    """Events without what differs from run to run."""
    return [ID.sub("_", repr(one)) for one in payloads]


def write(desk: Desk, path: str, body: bytes, mode: int = 0o644) -> None:
    write_tree(desk.workspace, {path: FileState(body, mode)})


async def test_one_file_is_told_exactly_as_our_own_tools_tell_it(desk: Desk, house: House, tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "TWO"}),
        ("file_write", {"path": "new/file.txt", "content": "hello"}),
        (
            "multi_edit",
            {
                "edits": [
                    {"path": "a.txt", "old_text": "one", "new_text": "1"},
                    {"path": "win.txt", "old_text": "two", "new_text": "zwei"},
                ]
            },
        ),
    ]
    ours = await desk.done(calls, auto=True)
    other = tmp_path / "other"
    other.mkdir()
    write_tree(other, BEFORE)
    theirs = desk_in(house, other)
    async with watched(theirs) as run:
        write(theirs, "a.txt", b"one\nTWO\nthree\n")
        await run.watch.look("call_0")
        write(theirs, "new/file.txt", b"hello")
        await run.watch.look("call_1")
        write(theirs, "a.txt", b"1\nTWO\nthree\n")
        write(theirs, "win.txt", b"one\r\nzwei\r\n")
        await run.watch.look("call_2")
        assert (await run.watch.look("call_3")).patches == ()
    assert shown(await events(theirs, run.run_id)) == shown(await events(desk, ours))
    assert await theirs.patches.merged(run.run_id) == await desk.patches.merged(ours)
    metas = [
        [
            (one.status, one.meta.target_path, one.meta.base_revision, one.meta.stats)
            for one in await each.patches_of(run_id)
        ]
        for each, run_id in ((desk, ours), (theirs, run.run_id))
    ]
    assert metas[0] == metas[1]


async def test_a_batch_of_every_kind_is_taken_back_as_one(desk: Desk) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"one\n2\nthree\n")
        write(desk, "pic.bin", b"\0\3" * 40)
        write(desk, "new/deep/er.txt", b"new", 0o755)
        (desk.workspace / "sub/deep.txt").unlink()
        (desk.workspace / "run.sh").chmod(0o700)
        looked = await run.watch.look("call_1")
        assert len(looked.patches) == 5
        (patch, *_) = looked.patches
        assert await desk.patches.batch_of(patch) == list(looked.patches)
        # While the run lives, a batch is taken back by one event.
        await desk.patches.revert_all(looked.patches, by="ana")
        assert read_tree(desk.workspace) == BEFORE
        # And that is not the agent's doing.
        assert (await run.watch.look("call_2")).patches == ()
        types = [one.type for one in await events(desk, run.run_id)]
    assert types.count("tool.multi_edit.proposed") == types.count("tool.multi_edit.applied") == 1
    assert types.count("tool.multi_edit.reverted") == 1
    assert not any(one.startswith("tool.edit.") for one in types)
    assert await desk.patches.merged(run.run_id) == b""
    assert read_tree(desk.workspace) == BEFORE


async def test_a_finished_run_can_be_taken_back_and_its_diff_be_applied(desk: Desk, tmp_path: Path) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"ONE\ntwo\nthree\n")
        await run.watch.look("call_1")
        write(desk, "a.txt", b"ONE\ntwo\nTHREE\n")
        write(desk, "b.txt", b"b\n")
        await run.watch.look("call_2")
    after = read_tree(desk.workspace)
    elsewhere = tmp_path / "elsewhere"
    checkout(elsewhere, BEFORE)
    git(elsewhere, "apply", "--binary", given=await desk.patches.merged(run.run_id))
    assert {path: one.body for path, one in read_tree(elsewhere).items()} == {p: s.body for p, s in after.items()}
    # One alone, in the middle of the others.
    first, *others = [one.artifact_id for one in await desk.patches_of(run.run_id)]
    await desk.patches.revert_all([first, *others], by="ana")
    assert read_tree(desk.workspace) == BEFORE
    assert not list((desk.house.data / "shadows").iterdir())


async def test_what_a_person_takes_back_is_not_told_twice_and_what_follows_is(desk: Desk) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"A\n")
        (first,) = (await run.watch.look("call_1")).patches
        write(desk, "a.txt", b"B\n")
        (second,) = (await run.watch.look("call_2")).patches
        await desk.patches.revert_all([first, second], by="ana")
        # Between two looks a person takes both back, and the agent writes anew.
        write(desk, "a.txt", b"one\ntwo\nthree\nfour\n")
        (third,) = (await run.watch.look("call_3")).patches
        # The agent itself goes back: that is its doing.
        write(desk, "a.txt", BEFORE["a.txt"].body)
        (fourth,) = (await run.watch.look("call_4")).patches
    found = {one.artifact_id: one.meta for one in await desk.patches_of(run.run_id)}
    assert found[third].base_revision == BEFORE["a.txt"].revision
    assert found[fourth].base_revision == FileState(b"one\ntwo\nthree\nfour\n").revision
    assert await desk.patches.merged(run.run_id) == b""


async def test_a_change_without_a_call_has_an_id_of_its_own(desk: Desk) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"A\n")
        await run.watch.look()
    (edit,) = [one for one in await events(desk, run.run_id) if isinstance(one, EditProposed)]
    assert re.fullmatch(r"call_[0-9A-Z]{26}", edit.tool_call_id)
    assert edit.auto_apply


async def test_a_patch_near_a_secret_says_that_it_cannot_be_taken_back(desk: Desk) -> None:
    desk.house.secrets.register("test", "hunter2-correct-horse")
    async with watched(desk) as run:
        write(desk, "a.txt", b"key=hunter2-correct-horse\n")
        (patch,) = (await run.watch.look("call_1")).patches
        with pytest.raises(PatchRedacted):
            await desk.patches.revert(patch, by="ana")
        assert (desk.workspace / "a.txt").read_bytes() == b"key=hunter2-correct-horse\n"
    (edit,) = [one for one in await events(desk, run.run_id) if isinstance(one, EditProposed)]
    assert "redacted, so it cannot be applied or reverted" in edit.summary
    assert not any(b"hunter2" in envelope for envelope in await desk.house.log(run.run_id))
    with pytest.raises(PatchUnavailable):
        await desk.patches.merged(run.run_id)


async def test_what_no_patch_can_tell_is_said(desk: Desk) -> None:
    async with watched(desk) as run:
        (desk.workspace / "link").symlink_to("a.txt")
        looked = await run.watch.look("call_1")
        assert (looked.patches, [one.path for one in looked.unpatchable]) == ((), ["link"])
        (desk.workspace / "link").unlink()
        (desk.workspace / os.fsdecode(b"odd\n\xff")).write_text("x")
        write(desk, "a.txt", b"A\n")
        assert len((await run.watch.look("call_2")).unpatchable) == 2
    (edit,) = [one for one in await events(desk, run.run_id) if isinstance(one, EditProposed)]
    assert "link (it is or was a symbolic link)" in edit.summary
    assert "odd\ufffd\ufffd (" in edit.summary


async def test_a_workspace_that_cannot_be_looked_through_is_no_failure_of_the_run(desk: Desk) -> None:
    async with watched(desk) as run:
        shutil.rmtree(desk.workspace)
        assert (await run.watch.look("call_1")).patches == ()
        assert (await run.watch.look("call_2")).patches == ()


async def test_what_is_ignored_is_not_told(desk: Desk) -> None:
    write(desk, ".gitignore", b"*.log\n")
    async with watched(desk) as run:
        write(desk, "x.log", b"x")
        assert (await run.watch.look("call_1")).patches == ()
    assert await events(desk, run.run_id) == []


async def test_a_refusal_leaves_nothing_and_the_next_look_tells_it(desk: Desk) -> None:
    refusals = 1

    def applied(artifact_id: str) -> Change:
        change = desk.patches.applier.ledger.applied(artifact_id)

        def effect(db: apsw.Connection) -> None:
            nonlocal refusals
            if refusals:
                refusals -= 1
                raise Conflict("no room")
            change.effect(db)

        return Change(artifact_id, change.event, effect)

    async with watched(desk, applied=applied) as run:
        write(desk, "a.txt", b"A\n")
        write(desk, "b.txt", b"B\n")
        with pytest.raises(Conflict):
            await run.watch.look("call_1")
        assert await events(desk, run.run_id) == []
        assert await desk.patches_of(run.run_id) == []
        assert len((await run.watch.look("call_2")).patches) == 2
    (batch,) = [one for one in await events(desk, run.run_id) if isinstance(one, MultiEditProposed)]
    assert (batch.paths, batch.tool_call_id) == (["a.txt", "b.txt"], "call_2")
    snapshots = await desk.house.ground.artifacts.list(ArtifactFilter(kind="file_snapshot", run_id=run.run_id))
    assert [one.meta.path for one in snapshots.artifacts] == ["a.txt"]


@pytest.mark.parametrize("steps", [0, 1, 3, 6, 10, 20, 40, 80])
async def test_a_look_that_is_called_off_tells_all_or_nothing_and_never_twice(desk: Desk, steps: int) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"A\n")
        write(desk, "b.txt", b"B\n")
        task = asyncio.get_running_loop().create_task(run.watch.look("call_1"))
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        task.cancel()
        await asyncio.wait({task})
        await run.watch.look("call_2")
    batches = [one for one in await events(desk, run.run_id) if isinstance(one, MultiEditProposed)]
    assert len(batches) == 1
    assert {one.status for one in await desk.patches_of(run.run_id)} == {"applied"}
    assert len(await desk.patches_of(run.run_id)) == 2


async def test_too_much_at_once_is_told_in_part_and_said_so(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "FILES_MAX", 3)
    async with watched(desk) as run:
        write_tree(desk.workspace, {f"n{number}": FileState(b"x") for number in range(9)})
        looked = await run.watch.look("call_1")
    assert (len(looked.patches), len(looked.unpatchable)) == (3, 6)
    (batch,) = [one for one in await events(desk, run.run_id) if isinstance(one, MultiEditProposed)]
    assert batch.summary.endswith("n5 (too much has changed at once) and 3 more")


async def test_looks_do_not_run_into_one_another_or_a_persons_decision(desk: Desk) -> None:
    async with watched(desk) as run:
        write(desk, "a.txt", b"A\n")
        (patch,) = (await run.watch.look("call_0")).patches
        write(desk, "win.txt", b"W\n")
        await asyncio.gather(
            run.watch.look("call_1"), desk.patches.revert(patch, by="ana"), run.watch.look("call_2"), run.watch.look()
        )
        await run.watch.look("call_3")
    assert len(await desk.patches_of(run.run_id)) == 3
    assert (desk.workspace / "a.txt").read_bytes() == BEFORE["a.txt"].body
    assert b"win.txt" in await desk.patches.merged(run.run_id)
    assert b"a.txt" not in await desk.patches.merged(run.run_id)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(NAMES, EXACT_STATES, max_size=5), min_size=1, max_size=4))
async def test_whatever_was_done_can_be_taken_back(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, FileState]]
) -> None:
    place = tmp_path_factory.mktemp("any")
    workspace = place / "workspace"
    workspace.mkdir()
    write_tree(workspace, BEFORE)
    async with open_house(place / "data") as house:
        desk = desk_in(house, workspace)
        async with watched(desk) as run:
            for number, files in enumerate(states):
                _clear(workspace)
                write_tree(workspace, files)
                await run.watch.look(f"call_{number}")
        patches = [one.artifact_id for one in await desk.patches_of(run.run_id)]
        if patches:
            await desk.patches.revert_all(patches, by="ana")
        assert read_tree(workspace) == BEFORE
        assert await desk.patches.merged(run.run_id) == b""


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
