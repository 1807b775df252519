"""Patches: applied, rejected, taken back, all or none, and one diff of a whole run."""

import asyncio
import random
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

import pytest

from runwire.errors import Conflict, InvalidContent, RunFinished
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.journal.bell.topics import control
from runwire.journal.journal import Journal
from runwire.journal.records import Stored
from runwire.journal.retention import Retention
from runwire.protocol.envelope import decode_envelope, type_of
from runwire.protocol.events.edit import MultiEditApplied
from runwire.protocol.lifecycle import check
from runwire.protocol.payload import Payload
from runwire.runs.rows.messages import waiting_messages
from runwire.workspace.changes import FileState
from runwire.workspace.errors import PatchRedacted, PatchUnavailable, WorkspaceDrifted
from tests.runs.desk import Call, Desk, desk_in
from tests.runs.house import House
from tests.spec import spec
from tests.workspace.git import read_tree, write_tree


@pytest.fixture
def desk(house: House, tmp_path: Path) -> Desk:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    write_tree(workspace, BEFORE)
    return desk_in(house, workspace)


BEFORE = {
    "a.txt": FileState(b"one\ntwo\nthree\n"),
    "win.txt": FileState(b"one\r\ntwo\r\n"),
    "run.sh": FileState(b"#!/bin/sh\necho a", 0o755),
    "sub/deep.txt": FileState("ü\n".encode(), 0o600),
}
EDIT: Call = ("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "TWO"})


def edits(*each: tuple[str, str, str]) -> Call:
    """Several edits at once: path, old text, new text."""
    return "multi_edit", {"edits": [{"path": path, "old_text": old, "new_text": new} for path, old, new in each]}


NEW: Call = ("file_write", {"path": "new/file.txt", "content": "hello"})
BOTH = edits(("a.txt", "one", "1"), ("win.txt", "two\n", "zwei\ndrei\n"), ("a.txt", "three", "3"))


async def test_a_proposal_leaves_the_file_alone_until_it_is_applied(desk: Desk) -> None:
    run_id = await desk.done([EDIT])
    (patch,) = await desk.patches_of(run_id)
    assert patch.status == "proposed"
    assert patch.meta.base_revision == BEFORE["a.txt"].revision
    assert read_tree(desk.workspace) == BEFORE
    (applied,) = await desk.patches.apply([patch.artifact_id], by="ana")
    assert (applied.status, applied.meta.applied_at is not None) == ("applied", True)
    assert (desk.workspace / "a.txt").read_bytes() == b"one\nTWO\nthree\n"
    types = await desk.house.types(run_id)
    assert types[-2:] == ["tool.edit.applied", "artifact.updated"]
    assert types[types.index("artifact.created") :][:3] == [
        "artifact.created",
        "artifact.created",
        "tool.edit.proposed",
    ]
    assert await desk.open_rows() == 0
    assert not any((desk.house.data / "undo").iterdir())


async def test_a_run_that_may_applies_at_once(desk: Desk) -> None:
    run_id = await desk.done(
        [
            EDIT,
            NEW,
            edits(("a.txt", "one", "1"), ("run.sh", "a", "b")),
        ],
        auto=True,
    )
    types = await desk.house.types(run_id)
    assert [one for one in types if one.startswith("tool.")] == [
        "tool.edit.proposed",
        "tool.edit.applied",
        "tool.file_write.proposed",
        "tool.edit.applied",
        "tool.multi_edit.proposed",
        "tool.multi_edit.applied",
    ]
    assert {patch.status for patch in await desk.patches_of(run_id)} == {"applied"}
    assert read_tree(desk.workspace) == {
        **BEFORE,
        "a.txt": FileState(b"1\nTWO\nthree\n"),
        "new/file.txt": FileState(b"hello"),
        "run.sh": FileState(b"#!/bin/sh\necho b", 0o755),
    }


async def test_a_file_that_has_changed_meanwhile_stays_as_it_is(desk: Desk) -> None:
    run_id = await desk.done([BOTH])
    ids = [patch.artifact_id for patch in await desk.patches_of(run_id)]
    (desk.workspace / "win.txt").write_bytes(b"mine\r\n")
    tree = read_tree(desk.workspace)
    with pytest.raises(WorkspaceDrifted) as caught:
        await desk.patches.apply(ids, by="ana")
    assert caught.value.details == {
        "path": "win.txt",
        "expected": BEFORE["win.txt"].revision,
        "actual": FileState(b"mine\r\n").revision,
    }
    assert read_tree(desk.workspace) == tree
    assert {patch.status for patch in await desk.patches_of(run_id)} == {"proposed"}
    assert await desk.open_rows() == 0


async def test_a_file_that_is_there_meanwhile_is_not_overwritten(desk: Desk) -> None:
    run_id = await desk.done([NEW])
    (patch,) = await desk.patches_of(run_id)
    (desk.workspace / "new").mkdir()
    (desk.workspace / "new/file.txt").write_text("mine")
    with pytest.raises(WorkspaceDrifted) as caught:
        await desk.patches.apply([patch.artifact_id], by="ana")
    assert caught.value.expected == "absent"
    assert (desk.workspace / "new/file.txt").read_text() == "mine"


async def test_a_link_in_the_place_of_a_file_is_refused(desk: Desk, tmp_path: Path) -> None:
    run_id = await desk.done([EDIT])
    (patch,) = await desk.patches_of(run_id)
    outside = tmp_path / "outside"
    outside.write_bytes(BEFORE["a.txt"].body)
    (desk.workspace / "a.txt").unlink()
    (desk.workspace / "a.txt").symlink_to(outside)
    with pytest.raises(Exception, match="symbolic link"):
        await desk.patches.apply([patch.artifact_id], by="ana")
    assert outside.read_bytes() == BEFORE["a.txt"].body


async def test_apply_then_revert_gives_back_bytes_and_modes(desk: Desk) -> None:
    run_id = await desk.done([BOTH, NEW])
    ids = [patch.artifact_id for patch in await desk.patches_of(run_id)]
    await desk.patches.apply(ids, by="ana")
    assert (desk.workspace / "win.txt").read_bytes() == b"one\r\nzwei\r\ndrei\r\n"
    for artifact_id in ids:
        artifact, inverse = await desk.patches.revert(artifact_id, by="ana", reason="tests failed")
        assert (artifact.status, artifact.meta.reverted_at is not None) == ("applied", True)
        undone = await desk.house.ground.artifacts.get(inverse)
        assert (undone.status, undone.meta.inverse_of) == ("applied", artifact_id)
    assert read_tree(desk.workspace) == BEFORE
    assert (await desk.house.types(run_id))[-3:] == ["artifact.created", "tool.edit.reverted", "artifact.updated"]
    assert await desk.patches.merged(run_id) == b""


async def test_a_reverted_patch_can_be_done_again_by_reverting_its_inverse(desk: Desk) -> None:
    run_id = await desk.done([EDIT], auto=True)
    (patch,) = await desk.patches_of(run_id)
    _, inverse = await desk.patches.revert(patch.artifact_id, by="ana")
    await desk.patches.revert(inverse, by="ana")
    assert (desk.workspace / "a.txt").read_bytes() == b"one\nTWO\nthree\n"


async def test_a_revert_of_a_file_that_was_changed_since_changes_nothing(desk: Desk) -> None:
    run_id = await desk.done([EDIT], auto=True)
    (patch,) = await desk.patches_of(run_id)
    (desk.workspace / "a.txt").write_bytes(b"other")
    with pytest.raises(WorkspaceDrifted) as caught:
        await desk.patches.revert(patch.artifact_id, by="ana")
    assert caught.value.expected == FileState(b"one\nTWO\nthree\n").revision
    assert caught.value.actual == FileState(b"other").revision
    assert (desk.workspace / "a.txt").read_bytes() == b"other"


async def test_what_was_decided_is_not_decided_again(desk: Desk) -> None:
    run_id = await desk.done([EDIT, NEW])
    edit, new = (patch.artifact_id for patch in await desk.patches_of(run_id))
    await desk.patches.apply([edit], by="ana")
    await desk.patches.reject(new, by="ana", reason="no")
    with pytest.raises(Conflict):
        await desk.patches.apply([edit], by="ana")
    with pytest.raises(Conflict):
        await desk.patches.apply([edit, new], by="ana")
    with pytest.raises(Conflict):
        await desk.patches.reject(edit, by="ana")
    with pytest.raises(Conflict):
        await desk.patches.revert(new, by="ana")


async def test_two_who_apply_at_once_leave_one_fact(desk: Desk) -> None:
    run_id = await desk.done([EDIT])
    (patch,) = await desk.patches_of(run_id)
    other = desk_in(desk.house, desk.workspace)
    outcomes = await asyncio.gather(
        desk.patches.apply([patch.artifact_id], by="ana"),
        other.patches.apply([patch.artifact_id], by="ben"),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in outcomes) == ["Conflict", "list"]
    assert (await desk.house.types(run_id)).count("tool.edit.applied") == 1


async def test_two_proposals_for_one_file_are_applied_in_order(desk: Desk) -> None:
    second: Call = ("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1"})
    run_id = await desk.done([EDIT, second])
    first_id, second_id = (patch.artifact_id for patch in await desk.patches_of(run_id))
    await desk.patches.apply([first_id], by="ana")
    with pytest.raises(WorkspaceDrifted):
        await desk.patches.apply([second_id], by="ana")


async def test_a_batch_of_a_live_run_is_told_as_one(desk: Desk) -> None:
    async with desk.live(
        [
            BOTH,
            edits(("sub/deep.txt", "ü", "u"), ("run.sh", "a", "b")),
        ]
    ) as run_id:
        first, second, third, fourth = (patch.artifact_id for patch in await desk.patches_of(run_id))
        assert await desk.patches.batch_of(second) == [first, second]
        await desk.patches.apply([first, second], by="ana")
        await desk.patches.revert_all([first, second], by="ana", reason="why not")
        await desk.patches.reject_all(await desk.patches.batch_of(third), by="ana", reason="no")
        decided = [one for one in await desk.house.types(run_id) if one.startswith(("tool.edit", "tool.multi"))]
        assert decided == [
            "tool.multi_edit.proposed",
            "tool.multi_edit.proposed",
            "tool.multi_edit.applied",
            "tool.multi_edit.reverted",
            "tool.multi_edit.rejected",
        ]
    assert fourth
    assert read_tree(desk.workspace) == BEFORE


async def test_a_rejection_waits_for_the_run_that_is_at_work(desk: Desk) -> None:
    async with desk.live([EDIT]) as run_id:
        (patch,) = await desk.patches_of(run_id)
        rejected = await desk.patches.reject(patch.artifact_id, by="ana", reason="use tabs")
        assert rejected.status == "rejected"
        (message,) = await desk.house.journal.reader.query(lambda db: waiting_messages(db, run_id))
        assert message.kind == "rejection"
        assert message.text == f"The patch {patch.artifact_id} to a.txt was rejected by ana: use tabs"
    assert read_tree(desk.workspace) == BEFORE


async def test_a_rejection_rings_for_the_run_that_is_at_work(desk: Desk) -> None:
    async with desk.live([EDIT]) as run_id:
        (patch,) = await desk.patches_of(run_id)
        ring = desk.house.journal.bell.listen(control(run_id), 10)
        await desk.patches.reject(patch.artifact_id, by="ana")
        assert await ring


async def test_a_rejection_after_the_end_waits_for_the_run_that_goes_on(desk: Desk) -> None:
    run_id = await desk.done([BOTH])
    first, second = (patch.artifact_id for patch in await desk.patches_of(run_id))
    await desk.patches.reject_all([second, first], by="ana", reason="no")
    assert (await desk.house.types(run_id))[-4:] == ["tool.edit.rejected"] * 2 + ["artifact.updated"] * 2
    resumed = (await desk.house.starter.resume(run_id)).birth.run_id
    (message,) = await desk.house.journal.reader.query(lambda db: waiting_messages(db, resumed))
    assert message.text == f"The patches {first} to a.txt, {second} to win.txt were rejected by ana: no"


@spec("LIF-8")
async def test_after_the_end_of_the_run_each_patch_is_told_of_by_itself(desk: Desk) -> None:
    run_id = await desk.done([BOTH])
    ids = [patch.artifact_id for patch in await desk.patches_of(run_id)]
    assert await desk.patches.batch_of(ids[1]) == ids
    await desk.patches.apply(ids, by="ana")
    await desk.patches.revert_all(ids, by="ana")
    log = await desk.house.log(run_id)
    assert [type_of(one) for one in log[-10:]] == [
        *["tool.edit.applied"] * 2,
        *["artifact.updated"] * 2,
        *["artifact.created"] * 2,
        *["tool.edit.reverted"] * 2,
        *["artifact.updated"] * 2,
    ]
    assert list(check(map(decode_envelope, log))) == []


async def test_a_run_that_ends_while_a_batch_is_told_has_each_patch_told_by_itself(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Journal.append_all
    async with desk.live([BOTH]) as run_id:
        ids = [patch.artifact_id for patch in await desk.patches_of(run_id)]

        def refused(journal: Journal, of: str, payloads: Sequence[Payload], **rest: Any) -> Awaitable[Stored]:
            if any(isinstance(payload, MultiEditApplied) for payload in payloads):
                raise RunFinished(of)
            return real(journal, of, payloads, **rest)

        with monkeypatch.context() as patched:
            patched.setattr(Journal, "append_all", refused)
            await desk.patches.apply(ids, by="ana")
        assert (await desk.house.types(run_id))[-4:] == ["tool.edit.applied"] * 2 + ["artifact.updated"] * 2


async def test_a_batch_of_one_is_a_batch_too(desk: Desk) -> None:
    call: Call = ("multi_edit", {"edits": [{"path": "a.txt", "old_text": "one", "new_text": "1"}]})
    async with desk.live([call, EDIT]) as run_id:
        several, single = (patch.artifact_id for patch in await desk.patches_of(run_id))
        await desk.patches.apply([several], by="ana")
        await desk.patches.reject(single, by="ana")
        decided = [one for one in await desk.house.types(run_id) if one.startswith(("tool.edit", "tool.multi"))]
        assert decided[-2:] == ["tool.multi_edit.applied", "tool.edit.rejected"]


async def test_a_pinned_patch_is_decided_about_when_its_run_is_gone(desk: Desk) -> None:
    run_id = await desk.done([EDIT, NEW])
    edit, new = (patch.artifact_id for patch in await desk.patches_of(run_id))
    ground = desk.house.ground
    for artifact_id in (edit, new):
        await ground.artifacts.pin(artifact_id, True)
    await Retention(journal=ground.journal, clock=ground.clock, ids=ground.ids).delete(run_id)
    assert await desk.patches.batch_of(edit) == [edit]
    (applied,) = await desk.patches.apply([edit], by="ana")
    assert applied.status == "applied"
    assert (desk.workspace / "a.txt").read_bytes() == b"one\nTWO\nthree\n"
    assert (await desk.patches.reject(new, by="ana")).status == "rejected"


async def test_patches_of_two_runs_are_two_decisions(desk: Desk) -> None:
    first, second = await desk.done([EDIT]), await desk.done([NEW])
    ids = [patch.artifact_id for run_id in (first, second) for patch in await desk.patches_of(run_id)]
    with pytest.raises(InvalidContent):
        await desk.patches.apply(ids, by="ana")
    assert read_tree(desk.workspace) == BEFORE


async def test_a_patch_that_was_cut_is_not_applied(desk: Desk) -> None:
    run_id = await desk.done([])
    meta = ArtifactMeta(mime="text/x-diff", target_path="a.txt", base_revision="absent", truncated=True)
    patch = await desk.house.ground.artifacts.create(run_id, NewArtifact("patch", meta), b"diff --git a/a b/a\n")
    with pytest.raises(PatchRedacted):
        await desk.patches.apply([patch.artifact_id], by="ana")
    rejected = await desk.patches.reject(patch.artifact_id, by="ana")
    assert rejected.status == "rejected"


async def test_what_is_no_patch_is_refused(desk: Desk) -> None:
    run_id = await desk.done([EDIT])
    output = await desk.house.ground.artifacts.create(
        run_id, NewArtifact("command_output", ArtifactMeta(mime="text/plain")), b"x"
    )
    with pytest.raises(InvalidContent):
        await desk.patches.apply([output.artifact_id], by="ana")
    with pytest.raises(InvalidContent):
        await desk.patches.apply([], by="ana")


async def test_a_patch_that_lost_a_secret_is_not_applied(desk: Desk) -> None:
    desk.house.secrets.register("test", "hunter2-correct-horse")
    run_id = await desk.done([("file_write", {"path": "s.txt", "content": "key=hunter2-correct-horse\n"})])
    (patch,) = await desk.patches_of(run_id)
    with pytest.raises(PatchRedacted):
        await desk.patches.apply([patch.artifact_id], by="ana")
    again = await desk.done([("file_write", {"path": "s.txt", "content": "key=hunter2-correct-horse\n"})], auto=True)
    assert (desk.workspace / "s.txt").read_text() == "key=hunter2-correct-horse\n"
    with pytest.raises(PatchUnavailable):
        await desk.patches.merged(again)


async def test_random_edits_can_all_be_taken_back(desk: Desk) -> None:
    rng = random.Random(7)
    calls: list[Call] = []
    for number in range(12):
        path = rng.choice(["r1.txt", "r2.txt", "r3.bin", "d/r4.txt"])
        body = "".join(rng.choice(["a\n", "b\r\n", "", "c", "\0x"]) for _ in range(rng.randrange(12)))
        calls.append(("file_write", {"path": path, "content": f"{number}{body}"}))
    run_id = await desk.done(calls, auto=True)
    ids = [patch.artifact_id for patch in await desk.patches_of(run_id)]
    await desk.patches.revert_all(ids, by="ana")
    assert read_tree(desk.workspace) == BEFORE
    assert await desk.patches.merged(run_id) == b""
