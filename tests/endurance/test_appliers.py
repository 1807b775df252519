"""Whoever writes a patch may die over it: files, status and log still say the same, and it can be decided again."""

from pathlib import Path

import pytest

from runwire.protocol import chain
from runwire.protocol.verify import verify
from runwire.workspace.applying import Verb
from tests.endurance.worker_entry import Place, die_writing
from tests.scenarios.stage import Stage, Theatre, call, turn

OLD = {"one.txt": "old\n", "two.txt": "old\r\n"}
NEW = {"one.txt": "new\n", "two.txt": "new\r\n", "three.txt": "made\n"}
PLACES = [
    Place("write prepared"),
    Place("write renamed", 2),
    Place("write renamed", 3),
    Place("write told"),
]


async def _proposed(stage: Stage) -> tuple[str, list[str]]:
    edits = [{"path": path, "old_text": "old", "new_text": "new"} for path in OLD]
    making = call("file_write", path="three.txt", content="made\n")
    log = await stage.play(
        turn("", call("multi_edit", edits=edits)), turn("", making), turn("Done."), policy={"auto_apply": False}
    )
    found = (await stage.get("/artifacts", run_id=log.run_id, kind="patch"))["data"]
    return log.run_id, [one["id"] for one in found]


def _files(theatre: Theatre) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in theatre.workspace.iterdir()}


async def _is_done(theatre: Theatre, stage: Stage, run_id: str, patches: list[str], verb: Verb) -> bool:
    """Whether it was done, as files, artifacts and log say with one voice."""
    log, run = await stage.log(run_id), await stage.run(run_id)
    assert list(verify(log.envelopes, head=chain.read(run.head_hash))) == []
    metas = [(await stage.get(f"/artifacts/{one}"))["data"] for one in patches]
    done = log.types.count("tool.edit.reverted" if verb == "revert" else "tool.edit.applied")
    assert done in {0, len(patches)}
    if verb == "apply":
        assert {one["status"] for one in metas} == {"applied" if done else "proposed"}
    else:
        assert {bool(one.get("reverted_at")) for one in metas} == {bool(done)}
    assert _files(theatre) == (NEW if bool(done) is (verb == "apply") else OLD)
    assert not any((theatre.data / "undo").glob("*"))
    return bool(done)


@pytest.mark.parametrize("verb", ["apply", "revert"])
@pytest.mark.parametrize("place", PLACES, ids=str)
async def test_a_batch_is_written_whole_or_not_at_all(tmp_path: Path, verb: Verb, place: Place) -> None:
    theatre = Theatre(tmp_path)
    for name, text in OLD.items():
        theatre.file(name, "").write_bytes(text.encode())
    async with theatre.open(workers=1) as stage:
        run_id, patches = await _proposed(stage)
        if verb == "revert":
            await stage.post(f"/runs/{run_id}/patches/apply", {"artifact_ids": patches})
    await die_writing(theatre.data, verb, patches, place)
    async with theatre.open(workers=0) as stage:
        if not await _is_done(theatre, stage, run_id, patches, verb):
            for patch in patches:
                await stage.post(f"/artifacts/{patch}/{verb}")
            assert await _is_done(theatre, stage, run_id, patches, verb)
