"""What goes, what stays, and that nothing goes which somebody needs."""

import asyncio
import os
from pathlib import Path

import pytest

from runwire.errors import ArtifactNotFound
from runwire.journal.artifact import ArtifactFilter, ArtifactMeta, NewArtifact
from runwire.journal.bodies import INCOMING, Bodies
from runwire.journal.collecting import no_collecting
from runwire.journal.layout import bodies_of
from tests.journal.house import House, open_house
from tests.spec import spec

LARGE = b"0123456789abcdef" * 4096
IMAGE = NewArtifact("image", ArtifactMeta(mime="image/png"))


def files_in(house: House) -> list[str]:
    return sorted(path.name for path in bodies_of(house.data).glob("??/*"))


async def test_an_artifact_goes_with_its_run_and_takes_its_body_along(house: House) -> None:
    small, large = await house.keep(b"small"), await house.keep(LARGE)
    await house.retention.delete("run_1")
    pruned = await house.artifacts.prune()
    assert (pruned.artifacts, pruned.bodies, pruned.size_bytes) == (2, 2, 5 + len(LARGE))
    for artifact in (small, large):
        with pytest.raises(ArtifactNotFound):
            await house.artifacts.get(artifact.artifact_id)
    assert files_in(house) == []


@spec("ART-6")
async def test_a_pinned_one_survives_its_run_until_it_is_let_go(house: House) -> None:
    kept, lost = await house.keep(LARGE), await house.keep(b"lost" * 10_000)
    assert (await house.artifacts.pin(kept.artifact_id, True)).pinned
    await house.retention.delete("run_1")
    assert (await house.artifacts.prune()).artifacts == 1
    assert await house.read(kept) == LARGE
    assert files_in(house) == [kept.digest.hex()]
    with pytest.raises(ArtifactNotFound):
        await house.artifacts.get(lost.artifact_id)
    assert not (await house.artifacts.pin(kept.artifact_id, False)).pinned
    assert (await house.artifacts.prune()).artifacts == 1
    assert files_in(house) == []


async def test_a_body_stays_as_long_as_one_artifact_names_it(house: House) -> None:
    await house.run("run_2")
    await house.keep(LARGE)
    other = await house.keep(LARGE, run_id="run_2")
    await house.retention.delete("run_1")
    pruned = await house.artifacts.prune()
    assert (pruned.artifacts, pruned.bodies) == (1, 0)
    assert await house.read(other) == LARGE


async def test_pruning_touches_nothing_of_runs_that_are_there(house: House) -> None:
    artifact = await house.keep(LARGE)
    assert (await house.artifacts.prune()).artifacts == 0
    assert await house.read(artifact) == LARGE


async def test_a_crash_between_file_and_row_leaves_a_file_that_is_collected(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        await house.run()
        await house.artifacts.prepare("run_1", IMAGE, LARGE)
        assert len(files_in(house)) == 1
    async with open_house(tmp_path / "data") as house:
        pruned = await house.artifacts.prune()
        assert (pruned.bodies, pruned.size_bytes) == (1, len(LARGE))
        assert files_in(house) == []


async def test_a_half_written_file_is_swept_once_it_is_old(house: House) -> None:
    await house.keep(LARGE)
    incoming = bodies_of(house.data) / INCOMING
    now_s = house.clock.now_ns() / 1e9
    for name, age_s in (("young", 60), ("old", 7_200)):
        (incoming / name).write_bytes(b"half a bo")
        os.utime(incoming / name, (now_s - age_s, now_s - age_s))
    await house.artifacts.prune()
    assert [path.name for path in incoming.iterdir()] == ["young"]


async def test_files_that_are_not_ours_are_left_alone(house: House) -> None:
    await house.keep(LARGE)
    folder = bodies_of(house.data) / "ab"
    folder.mkdir(exist_ok=True)
    strangers = [folder / "notes.txt", folder / ("cd" * 32), folder / "abcd"]
    for path in strangers:
        path.write_text("mine")
    await house.artifacts.prune()
    assert all(path.exists() for path in strangers)


async def test_a_draft_outlives_a_collection_that_comes_before_its_event(house: House) -> None:
    draft = await house.artifacts.prepare("run_1", IMAGE, LARGE)
    assert (await house.artifacts.prune()).bodies == 1
    await house.journal.append("run_1", draft.event, also=draft.effect)
    assert await house.read(draft.artifact) == LARGE


async def test_a_reader_keeps_what_it_has_opened(house: House) -> None:
    artifact = await house.keep(LARGE)
    async with await house.artifacts.open(artifact.artifact_id) as body:
        await house.retention.delete("run_1")
        assert (await house.artifacts.prune()).bodies == 1
        assert await body.read() == LARGE


async def test_a_collection_waits_for_the_next_time_while_a_backup_copies(house: House) -> None:
    await house.artifacts.prepare("run_1", IMAGE, LARGE)
    with no_collecting(Bodies(folder=bodies_of(house.data))):
        pruned = await house.artifacts.prune()
        assert pruned.held
        assert len(files_in(house)) == 1
    assert (await house.artifacts.prune()).bodies == 1


async def test_the_same_body_made_and_collected_over_and_over_is_never_lost(tmp_path: Path) -> None:
    """Two processes keep one body in runs that come and go, while one of them prunes without a pause."""
    async with open_house(tmp_path / "data") as keeper, open_house(tmp_path / "data") as other:

        async def come_and_go(house: House, name: str) -> None:
            for number in range(12):
                run_id = await house.run(f"run_{name}_{number}")
                artifact = await house.artifacts.create(run_id, IMAGE, LARGE)
                assert await house.read(artifact) == LARGE
                await keeper.retention.delete(run_id)

        async def prune() -> None:
            while True:
                await keeper.artifacts.prune()

        pruning = asyncio.create_task(prune())
        await asyncio.gather(come_and_go(keeper, "a"), come_and_go(other, "b"))
        pruning.cancel()
        await asyncio.wait([pruning])
        await keeper.artifacts.prune()
        assert (await keeper.artifacts.list(ArtifactFilter())).artifacts == []
        assert files_in(keeper) == []
