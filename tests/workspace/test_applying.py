"""Batches of files: all of them or none, whatever fails and wherever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from runwire.errors import Conflict
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.journal.records import Effect
from runwire.runs.ledger import WriteLedger
from runwire.runs.rows.writes import open_batches
from runwire.workspace.applying import Applier, Intent, PlannedPatch, WritePlan, beside, carry_out, plan_writes
from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.errors import PathRefused, WorkspaceDrifted
from runwire.workspace.root import Root
from tests.runs.house import House, open_house
from tests.workspace.git import read_tree, write_tree

BEFORE = {
    "a.txt": FileState(b"one\n"),
    "b.bin": FileState(b"\0\1", 0o600),
    "gone.txt": FileState(b"bye", 0o755),
    "run.sh": FileState(b"#!/bin/sh\n"),
}
CHANGES = [
    FileChange("a.txt", BEFORE["a.txt"], FileState(b"two\n")),
    FileChange("new/deep/c.txt", None, FileState(b"c", 0o640)),
    FileChange("b.bin", BEFORE["b.bin"], FileState(b"\0\2", 0o600)),
    FileChange("gone.txt", BEFORE["gone.txt"], None),
    FileChange("run.sh", BEFORE["run.sh"], FileState(b"#!/bin/sh\n", 0o755)),
]
AFTER = {change.path: change.after for change in CHANGES if change.after is not None}
STEPS = ("write_temp", "rename", "remove", "make_parents")


class Faulty(Root):
    """A workspace in which one step fails."""

    left = 0
    steps = 0

    def _step(self) -> None:
        self.steps += 1
        self.left -= 1
        if self.left == 0:
            raise PathRefused("x", "the disk is full")


def _failing(name: str) -> Callable[..., object]:
    def step(self: Faulty, *given: object, **named: object) -> object:
        self._step()
        return getattr(Root, name)(self, *given, **named)

    return step


for _name in STEPS:
    setattr(Faulty, _name, _failing(_name))


@dataclass
class Bench:
    """A workspace, and an applier whose memory is a real store."""

    house: House
    workspace: Path
    applier: Applier
    run_id: str

    async def intent(self, changes: list[FileChange]) -> Intent:
        new = NewArtifact("patch", ArtifactMeta(mime="text/x-diff", target_path="x"))
        patch = await self.house.ground.artifacts.create(self.run_id, new, b"x")
        batch_id = self.house.ground.ids.new("batch")
        return Intent(
            batch_id=batch_id,
            run_id=self.run_id,
            workspace=str(self.workspace),
            verb="apply",
            patches=(PlannedPatch(patch.artifact_id, WritePlan(writes=plan_writes(batch_id, changes), by="ana")),),
        )

    async def write(self, root: Root, intent: Intent, changes: list[FileChange]) -> None:
        store = self.house.journal.write
        await self.applier.write(root, intent, changes, begin=store, tell=store)

    async def open_batches(self) -> list[Intent]:
        return list(await self.house.journal.reader.query(open_batches))

    def leftovers(self) -> list[Path]:
        undo = self.house.data / "undo"
        return [*self.workspace.rglob(".runwire-*"), *(undo.iterdir() if undo.exists() else ())]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    workspace = (tmp_path / "workspace").resolve()
    write_tree(workspace, BEFORE)
    async with open_house(tmp_path / "data") as house:
        ledger = WriteLedger(journal=house.journal, artifacts=house.ground.artifacts)
        applier = Applier(ledger=ledger, undo=house.data / "undo")
        yield Bench(house, workspace, applier, await house.run())


async def test_a_batch_writes_new_changed_removed_and_chmodded_files(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    with Root.open(bench.workspace) as root:
        await bench.write(root, intent, CHANGES)
    assert read_tree(bench.workspace) == AFTER
    assert await bench.open_batches() == []
    assert bench.leftovers() == []


async def test_a_step_that_fails_leaves_all_as_it_was_and_nothing_behind(bench: Bench) -> None:
    with Faulty.open(bench.workspace) as probe:
        intent = await bench.intent(CHANGES)
        await asyncio.to_thread(bench.applier._prepare, probe, intent, CHANGES)
        carry_out(probe, intent.writes)
        steps = probe.steps
        bench.applier.take_back(probe, intent)
    assert read_tree(bench.workspace) == BEFORE
    assert steps == 13
    for number in range(1, steps + 1):
        intent = await bench.intent(CHANGES)
        with Faulty.open(bench.workspace) as root:
            root.left = number
            with pytest.raises(PathRefused, match="the disk is full"):
                await bench.write(root, intent, CHANGES)
        assert read_tree(bench.workspace) == BEFORE, number
        assert not (bench.workspace / "new").exists()
        assert await bench.open_batches() == []
        assert bench.leftovers() == []


@pytest.mark.parametrize("changed", ["a.txt", "new/deep/c.txt", "gone.txt", "run.sh"])
async def test_one_file_that_is_another_stops_the_whole_batch(bench: Bench, changed: str) -> None:
    target = bench.workspace / changed
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"mine")
    tree = read_tree(bench.workspace)
    intent = await bench.intent(CHANGES)
    with Root.open(bench.workspace) as root, pytest.raises(WorkspaceDrifted) as caught:
        await bench.write(root, intent, CHANGES)
    expected = BEFORE[changed].revision if changed in BEFORE else "absent"
    assert caught.value.details == {
        "path": changed,
        "expected": expected,
        "actual": FileState(b"mine").revision,
    }
    assert read_tree(bench.workspace) == tree
    assert await bench.open_batches() == []
    assert bench.leftovers() == []


async def test_a_mode_that_is_another_stops_what_would_change_it(bench: Bench) -> None:
    (bench.workspace / "run.sh").chmod(0o700)
    intent = await bench.intent(CHANGES)
    with Root.open(bench.workspace) as root, pytest.raises(WorkspaceDrifted) as caught:
        await bench.write(root, intent, CHANGES)
    assert (caught.value.expected, caught.value.actual) == ("mode 644", "mode 700")


async def test_what_cannot_be_told_is_taken_back(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)

    async def tell(_: Effect) -> None:
        assert read_tree(bench.workspace) == AFTER
        raise Conflict("no")

    with Root.open(bench.workspace) as root, pytest.raises(Conflict):
        await bench.applier.write(root, intent, CHANGES, begin=bench.house.journal.write, tell=tell)
    assert read_tree(bench.workspace) == BEFORE
    assert await bench.open_batches() == []
    assert bench.leftovers() == []


async def test_a_cancellation_waits_until_the_batch_is_done(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    telling, go_on = asyncio.Event(), asyncio.Event()

    async def tell(effect: Effect) -> None:
        telling.set()
        await go_on.wait()
        await bench.house.journal.write(effect)

    with Root.open(bench.workspace) as root:
        writing = asyncio.create_task(
            bench.applier.write(root, intent, CHANGES, begin=bench.house.journal.write, tell=tell)
        )
        await telling.wait()
        writing.cancel()
        await asyncio.sleep(0)
        assert not writing.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await writing
    assert read_tree(bench.workspace) == AFTER
    assert await bench.open_batches() == []


async def test_a_copy_that_somebody_tidied_away_is_not_told_as_written(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    first = bench.workspace / beside(intent.writes[0])
    applier = Applier(
        ledger=bench.applier.ledger,
        undo=bench.house.data / "undo",
        probe=lambda place: first.unlink() if place == "write prepared" else None,
    )
    with Root.open(bench.workspace) as root, pytest.raises(PathRefused, match="its new bytes are gone"):
        await applier.write(root, intent, CHANGES, begin=bench.house.journal.write, tell=bench.house.journal.write)
    assert read_tree(bench.workspace) == BEFORE
    assert await bench.open_batches() == []


async def test_what_somebody_else_wrote_meanwhile_is_not_taken_back(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    with Root.open(bench.workspace) as root:
        await asyncio.to_thread(bench.applier._prepare, root, intent, CHANGES)
        carry_out(root, intent.writes)
        (bench.workspace / "a.txt").write_bytes(b"mine")
        assert not bench.applier.may_go_on(root, intent)
        bench.applier.take_back(root, intent)
    assert read_tree(bench.workspace) == {**BEFORE, "a.txt": FileState(b"mine")}


async def test_a_copy_without_its_mode_is_not_ready(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    with Root.open(bench.workspace) as root:
        await asyncio.to_thread(bench.applier._prepare, root, intent, CHANGES)
        assert bench.applier.may_go_on(root, intent)
        (bench.workspace / beside(intent.writes[-1])).chmod(0o600)
        assert not bench.applier.may_go_on(root, intent)
        bench.applier.take_back(root, intent)
    assert read_tree(bench.workspace) == BEFORE


async def test_the_same_patch_is_not_in_two_batches(bench: Bench) -> None:
    intent = await bench.intent(CHANGES)
    await bench.house.journal.write(bench.applier.ledger.opening(intent))
    with Root.open(bench.workspace) as root, pytest.raises(Conflict):
        await bench.write(root, intent, CHANGES)
    assert read_tree(bench.workspace) == BEFORE
    assert [one.writes for one in await bench.open_batches()] == [intent.writes]
