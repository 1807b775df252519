"""Patches when processes die: whoever comes next finishes what was begun, or takes it back; never half of it."""

import asyncio
import contextlib
import sys
from pathlib import Path

import pytest

from runwire.errors import Conflict
from runwire.journal.artifact import Artifact
from runwire.protocol.envelope import data_of, decode_envelope, type_of
from runwire.protocol.lifecycle import check
from runwire.runs.ledger import WriteLedger
from runwire.workspace.applying import Applier
from runwire.workspace.changes import FileState
from runwire.workspace.locking import Locks
from runwire.workspace.root import Root
from tests.runs.desk import Call, Desk, desk_in
from tests.runs.house import House, open_house
from tests.workspace.git import read_tree, write_tree

BEFORE = {
    "a.txt": FileState(b"one\ntwo\n", 0o755),
    "b.txt": FileState(b"uno\r\ndos"),
}
BOTH: Call = (
    "multi_edit",
    {
        "edits": [
            {"path": "a.txt", "old_text": "one", "new_text": "1"},
            {"path": "b.txt", "old_text": "dos", "new_text": "2"},
        ]
    },
)
NEW: Call = ("file_write", {"path": "new/deep/c.txt", "content": "c\n"})
AFTER = {
    "a.txt": FileState(b"1\ntwo\n", 0o755),
    "b.txt": FileState(b"uno\r\n2"),
    "new/deep/c.txt": FileState(b"c\n"),
}

HALF_WRITTEN = 11
"""Of the steps that `_stop_at` counts: two files of three have their new bytes."""


@pytest.fixture
def desk(house: House, tmp_path: Path) -> Desk:
    workspace = tmp_path / "workspace"
    write_tree(workspace, BEFORE)
    return desk_in(house, workspace)


class _Power(BaseException):
    """The machine stops here."""


def _stop_at(monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    """Let the nth step, and whatever would come after it, not happen: as if the machine had stopped there."""
    steps: list[str] = []

    def watched(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def step(*given: object, **named: object) -> object:
            steps.append(name)
            if len(steps) >= number:
                raise _Power
            return real(*given, **named)

        monkeypatch.setattr(owner, name, step)

    for name in ("write_temp", "rename", "remove", "make_parents"):
        watched(Root, name)
    for name in ("_prepare", "take_back", "clear"):
        watched(Applier, name)
    for name in ("opening", "closing", "forget"):
        watched(WriteLedger, name)
    return steps


async def _whole(desk: Desk, run_id: str, patches: list[Artifact], verb: str) -> bool:
    """Whether the batch took place; that it did not do so by halves is asserted."""
    found = [await desk.house.ground.artifacts.get(patch.artifact_id) for patch in patches]
    done = {one.meta.reverted_at is not None if verb == "revert" else one.status == "applied" for one in found}
    assert len(done) == 1
    happened = done.pop()
    assert read_tree(desk.workspace) == (AFTER if happened is (verb == "apply") else BEFORE)
    assert not list(desk.workspace.rglob(".runwire-*"))
    assert not (undo := desk.house.data / "undo").exists() or not list(undo.iterdir())
    assert await desk.open_rows() == 0
    told = [one for one in await desk.house.log(run_id) if type_of(one) == f"tool.edit.{_past(verb)}"]
    assert len(told) == (len(patches) if happened else 0)
    assert all(b'_by":"ana"' in bytes(data_of(one)) for one in told)
    assert list(check(map(decode_envelope, await desk.house.log(run_id)))) == []
    return happened


def _past(verb: str) -> str:
    return {"apply": "applied", "revert": "reverted"}[verb]


async def _attempt(desk: Desk, patches: list[Artifact], verb: str) -> None:
    ids = [patch.artifact_id for patch in patches]
    if verb == "apply":
        await desk.patches.apply(ids, by="ana")
    else:
        await desk.patches.revert_all(ids, by="ana", reason="no")


@pytest.mark.parametrize("verb", ["apply", "revert"])
async def test_wherever_the_machine_stops_a_batch_is_whole_afterwards(
    desk: Desk, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: list[bool] = []
    stopped = True
    for number in range(1, 40):
        write_tree(desk.workspace, BEFORE)
        run_id = await desk.done([BOTH, NEW], auto=verb == "revert")
        patches = await desk.patches_of(run_id)
        with monkeypatch.context() as patched:
            steps = _stop_at(patched, number)
            with contextlib.suppress(_Power):
                await _attempt(desk, patches, verb)
            stopped = len(steps) >= number
        await desk_in(desk.house, desk.workspace).patches.settle_all()
        outcomes.append(await _whole(desk, run_id, patches, verb))
        if not stopped:
            break
        if outcomes[-1] is (verb == "apply"):
            (desk.workspace / "new/deep/c.txt").unlink()
            (desk.workspace / "new/deep").rmdir()
            (desk.workspace / "new").rmdir()
    assert not stopped, "there are more steps than were tried"
    # Before the copies are ready it is taken back, from there on it is finished.
    assert outcomes == sorted(outcomes)
    assert {*outcomes} == {False, True}


async def _child(desk: Desk, verb: str, patches: list[Artifact], place: str, nth: int) -> asyncio.subprocess.Process:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.runs.patch_entry",
        str(desk.house.data),
        verb,
        ",".join(patch.artifact_id for patch in patches),
        place,
        str(nth),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    assert (await child.stdout.readline()).strip() == b"ready"
    return child


@pytest.mark.parametrize(
    ("verb", "place", "nth", "forward"),
    [
        ("apply", "write begun", 1, False),
        ("apply", "write prepared", 1, True),
        ("apply", "write renamed", 1, True),
        ("apply", "write renamed", 3, True),
        ("apply", "write told", 1, True),
        ("revert", "write begun", 1, False),
        ("revert", "write renamed", 2, True),
        ("revert", "write told", 1, True),
    ],
)
async def test_a_process_that_is_killed_leaves_no_half(
    desk: Desk, verb: str, place: str, nth: int, forward: bool
) -> None:
    run_id = await desk.done([BOTH, NEW], auto=verb == "revert")
    patches = await desk.patches_of(run_id)
    child = await _child(desk, verb, patches, place, nth)
    await child.communicate(b"go\n")
    assert child.returncode == -9
    settled = await desk.patches.settle_all()
    assert settled == (place != "write told")
    assert await _whole(desk, run_id, patches, verb) is forward


async def test_of_two_processes_that_apply_at_once_one_does(desk: Desk) -> None:
    run_id = await desk.done([BOTH, NEW])
    patches = await desk.patches_of(run_id)
    children = [await _child(desk, "apply", patches, "nowhere", 1) for _ in range(3)]
    said = [out for out, _ in await asyncio.gather(*(child.communicate(b"go\n") for child in children))]
    assert sorted(out.strip() for out in said) == [b"conflict", b"conflict", b"done"]
    assert await _whole(desk, run_id, patches, "apply")


async def test_the_next_who_decides_in_a_workspace_settles_it_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.workspace / "d.txt").write_text("four")
    other = await desk.done([("edit_file", {"path": "d.txt", "old_text": "four", "new_text": "4"})])
    (later,) = await desk.patches_of(other)
    run_id, _ = await _half_applied(desk, monkeypatch)
    assert await desk.open_rows() == 3
    await desk.patches.apply([later.artifact_id], by="ben")
    assert await desk.open_rows() == 0
    assert {one.status for one in await desk.patches_of(run_id)} == {"applied"}
    assert read_tree(desk.workspace) == {**AFTER, "d.txt": FileState(b"4")}


@pytest.mark.parametrize("number", [1, 2, 5, 9, 10, 11, 12])
async def test_what_somebody_wrote_in_between_stays_and_the_rest_is_taken_back(
    desk: Desk, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await desk.done([BOTH, NEW])
    patches = await desk.patches_of(run_id)
    with monkeypatch.context() as patched:
        _stop_at(patched, number)
        with pytest.raises(_Power):
            await _attempt(desk, patches, "apply")
    if number > 1:
        with pytest.raises(Conflict):
            await desk.patches.reject(patches[0].artifact_id, by="ben")
    (desk.workspace / "b.txt").write_bytes(b"mine")
    await desk.patches.settle_all()
    assert await desk.patches.settle_all() == 0
    assert read_tree(desk.workspace) == {**BEFORE, "b.txt": FileState(b"mine")}
    assert not (desk.workspace / "new").exists()
    assert {one.status for one in await desk.patches_of(run_id)} == {"proposed"}
    assert await desk.open_rows() == 0


async def _half_applied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[Artifact]]:
    """A run whose patches were being applied when the power failed, and those patches."""
    run_id = await desk.done([BOTH, NEW])
    patches = await desk.patches_of(run_id)
    with monkeypatch.context() as patched:
        _stop_at(patched, HALF_WRITTEN)
        with pytest.raises(_Power):
            await _attempt(desk, patches, "apply")
    return run_id, patches


async def test_a_batch_that_somebody_is_writing_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, patches = await _half_applied(desk, monkeypatch)
    async with Locks(desk.house.data / "locks").hold(desk.workspace):
        assert await desk.patches.settle_all() == 0
    assert await desk.open_rows() == 3
    assert await desk.patches.settle(run_id) == 1
    assert await _whole(desk, run_id, patches, "apply")


async def test_a_workspace_that_is_gone_is_forgotten(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, patches = await _half_applied(desk, monkeypatch)
    elsewhere = desk.workspace.with_name("elsewhere")
    desk.workspace.rename(elsewhere)
    assert await desk.patches.settle_all() == 1
    assert await desk.open_rows() == 0
    assert {one.status for one in await desk.patches_of(run_id)} == {"proposed"}
    with pytest.raises(Conflict):
        await desk.patches.apply([patches[0].artifact_id], by="ana")


async def test_a_batch_of_a_run_that_was_deleted_is_taken_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await _half_applied(desk, monkeypatch)
    await desk.house.journal.write(lambda db: db.execute("DELETE FROM artifacts"))
    assert await desk.patches.settle_all() == 1
    assert read_tree(desk.workspace) == BEFORE
    assert await desk.open_rows() == 0


async def test_another_process_settles_what_one_left(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, patches = await _half_applied(desk, monkeypatch)
    async with open_house(desk.house.data) as house:
        assert await desk_in(house, desk.workspace).patches.settle(run_id) == 1
    assert await _whole(desk, run_id, patches, "apply")
