"""What the patches of a run add up to: a diff that real git takes, and the same files in another place."""

import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from runwire.journal.artifact import Artifact, ArtifactMeta, NewArtifact
from runwire.journal.retention import Retention
from runwire.protocol.envelope import type_of
from runwire.workspace.changes import FileState, revision_of
from runwire.workspace.diff import diff
from runwire.workspace.errors import PatchUnavailable, WorkspaceDrifted
from tests.runs.desk import Call, Desk, desk_in
from tests.runs.house import House
from tests.workspace.git import checkout, git, read_tree, write_tree

BEFORE = {
    "a.txt": FileState(b"one\ntwo\nthree\n"),
    "win.txt": FileState(b"one\r\ntwo\r\n"),
    "run.sh": FileState(b"#!/bin/sh\necho a", 0o755),
    "sub/deep.txt": FileState("ü\n".encode(), 0o600),
    "old name.txt": FileState(b"1\n2\n3\n4\n5\n6\n7\n8\n"),
    "pic.bin": FileState(bytes(range(256))),
    "empty": FileState(b""),
}
EDIT: Call = ("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "TWO"})
NEW: Call = ("file_write", {"path": "new/file.txt", "content": "hello"})


@pytest.fixture
def desk(house: House, tmp_path: Path) -> Desk:
    workspace = tmp_path / "workspace"
    write_tree(workspace, BEFORE)
    return desk_in(house, workspace)


@dataclass
class Hand:
    """Makes patches of every kind, as a tool would that can do more than ours."""

    desk: Desk
    run_id: str

    async def propose(self, path: str, after: FileState | None, *, renamed_from: str | None = None) -> Artifact:
        source = self.desk.workspace / (renamed_from or path)
        before = FileState(source.read_bytes(), source.stat().st_mode & 0o777) if source.exists() else None
        artifacts = self.desk.house.ground.artifacts
        if before is not None:
            meta = ArtifactMeta(path=renamed_from or path, revision=before.revision)
            await artifacts.create(self.run_id, NewArtifact("file_snapshot", meta), before.body)
        patch = diff(before, after, path, renamed_from=renamed_from)
        meta = ArtifactMeta(mime="text/x-diff", target_path=path, base_revision=revision_of(before))
        return await artifacts.create(self.run_id, NewArtifact("patch", meta), patch.body)

    async def change(self, path: str, after: FileState | None, *, renamed_from: str | None = None) -> str:
        patch = await self.propose(path, after, renamed_from=renamed_from)
        await self.desk.patches.apply([patch.artifact_id], by="ana")
        return patch.artifact_id


@pytest.fixture
async def hand(desk: Desk) -> Hand:
    return Hand(desk, await desk.done([]))


async def _taken_by_git(desk: Desk, run_id: str, fresh: Path) -> bytes:
    """Apply the run's diff with real git to a fresh checkout, and hold the result to the workspace."""
    checkout(fresh, BEFORE)
    body = await desk.patches.merged(run_id)
    if body:
        git(fresh, "apply", "--check", given=body)
        git(fresh, "apply", "--index", given=body)
    # Git keeps no more of a mode than whether a file is run.
    assert _plain(read_tree(fresh)) == _plain(read_tree(desk.workspace))
    return body


def _plain(tree: dict[str, FileState]) -> dict[str, tuple[bytes, bool]]:
    return {path: (state.body, bool(state.mode & 0o100)) for path, state in tree.items()}


async def test_the_diff_of_a_run_is_taken_by_git_on_a_fresh_checkout(desk: Desk, tmp_path: Path) -> None:
    edits = [
        {"path": "a.txt", "old_text": "one", "new_text": "1"},
        {"path": "win.txt", "old_text": "one\n", "new_text": ""},
    ]
    run_id = await desk.done(
        [
            EDIT,
            ("multi_edit", {"edits": edits}),
            NEW,
            ("file_write", {"path": "new/empty", "content": ""}),
            ("file_write", {"path": "run.sh", "content": "#!/bin/sh\n"}),
            ("file_write", {"path": "new/ü ñ.txt", "content": "é\n"}),
        ],
        auto=True,
    )
    new = next(patch for patch in await desk.patches_of(run_id) if patch.meta.target_path == "new/file.txt")
    await desk.patches.revert(new.artifact_id, by="ana")
    body = await _taken_by_git(desk, run_id, tmp_path / "fresh")
    assert os.access(tmp_path / "fresh/run.sh", os.X_OK)
    assert body.count(b"diff --git") == 5


async def test_git_takes_removed_renamed_binary_and_chmodded_files(hand: Hand, tmp_path: Path) -> None:
    await hand.change("a.txt", None)
    await hand.change("new name.txt", FileState(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"), renamed_from="old name.txt")
    await hand.change("moved", FileState(b"", 0o644), renamed_from="empty")
    await hand.change("pic.bin", FileState(b"\0\xff" * 40))
    await hand.change("more.bin", FileState(b"\0new\n"))
    await hand.change("win.txt", FileState(b"one\r\ntwo\r\n", 0o755))
    await hand.change("run.sh", FileState(b"#!/bin/sh\necho b", 0o644))
    await hand.change("sub/deep.txt", FileState(b"no end", 0o600))
    await hand.change("latin.txt", FileState(b"caf\xe9\n"))
    body = await _taken_by_git(hand.desk, hand.run_id, tmp_path / "fresh")
    assert body.count(b"diff --git") == 9
    assert b"rename from old name.txt\nrename to new name.txt\n" in body
    assert b"deleted file mode 100644" in body
    assert b"old mode 100644\nnew mode 100755" in body


async def test_a_mode_that_is_not_gits_leads_to_a_diff_that_git_takes(hand: Hand, tmp_path: Path) -> None:
    await hand.change("sub/deep.txt", FileState(b"changed\n", 0o600))
    await hand.change("sub/deep.txt", FileState(b"changed\n", 0o640))
    await hand.change("secret/key", FileState(b"k\n", 0o600))
    body = await _taken_by_git(hand.desk, hand.run_id, tmp_path / "fresh")
    assert b"mode 100600" not in body
    assert b"old mode" not in body


async def test_what_comes_and_goes_is_not_in_the_diff(hand: Hand, tmp_path: Path) -> None:
    await hand.change("tmp.txt", FileState(b"x\n"))
    await hand.change("tmp.txt", None)
    await hand.change("a.txt", FileState(b"other\n"))
    await hand.change("a.txt", BEFORE["a.txt"])
    await hand.change("there", BEFORE["empty"], renamed_from="empty")
    await hand.change("empty", BEFORE["empty"], renamed_from="there")
    assert await _taken_by_git(hand.desk, hand.run_id, tmp_path / "fresh") == b""


async def test_everything_that_was_changed_can_be_taken_back(hand: Hand) -> None:
    ids = [
        await hand.change("a.txt", None),
        await hand.change("new name.txt", FileState(b"9\n"), renamed_from="old name.txt"),
        await hand.change("pic.bin", FileState(b"\0\xff")),
        await hand.change("run.sh", FileState(b"#!/bin/sh\necho b", 0o600)),
        await hand.change("run.sh", FileState(b"#!/bin/sh\necho c", 0o600)),
        await hand.change("sub/deep.txt", FileState(BEFORE["sub/deep.txt"].body, 0o711)),
        await hand.change("deep/er/new", FileState(b"", 0o700)),
    ]
    await hand.desk.patches.revert_all(ids, by="ana")
    assert read_tree(hand.desk.workspace) == BEFORE
    assert await hand.desk.patches.merged(hand.run_id) == b""


async def test_random_changes_are_taken_by_git_and_taken_back(hand: Hand, tmp_path: Path) -> None:
    rng = random.Random(11)
    ids = []
    for _ in range(60):
        path = rng.choice(["a.txt", "win.txt", "run.sh", "pic.bin", "x/y", "x/z.txt", "ü.txt", "empty"])
        target = hand.desk.workspace / path
        body = b"".join(
            rng.choice([b"a\n", b"b\r\n", b"c", b"\0", b"one\n", b"\xff\n"]) for _ in range(rng.randrange(9))
        )
        after = None if target.exists() and rng.random() < 0.25 else FileState(body, rng.choice([0o644, 0o755]))
        there = FileState(target.read_bytes(), target.stat().st_mode & 0o777) if target.exists() else None
        if after != there:
            ids.append(await hand.change(path, after))
    await _taken_by_git(hand.desk, hand.run_id, tmp_path / "fresh")
    for count in (len(ids) // 2, len(ids)):
        left = [
            artifact_id
            for artifact_id in ids[-count:]
            if (await hand.desk.house.ground.artifacts.get(artifact_id)).meta.reverted_at is None
        ]
        await hand.desk.patches.revert_all(left, by="ana")
        await _taken_by_git(hand.desk, hand.run_id, tmp_path / f"fresh-{count}")
    assert read_tree(hand.desk.workspace) == BEFORE


async def test_a_file_that_something_else_changed_between_two_patches_is_told_by_its_end(
    desk: Desk, tmp_path: Path
) -> None:
    more: Call = ("shell_exec", {"command": "echo four >> a.txt"})
    again: Call = ("edit_file", {"path": "a.txt", "old_text": "four", "new_text": "4"})
    run_id = await desk.done([EDIT, more, again], auto=True)
    await _taken_by_git(desk, run_id, tmp_path / "fresh")
    assert (tmp_path / "fresh/a.txt").read_bytes() == b"one\nTWO\nthree\n4\n"


async def test_a_secret_elsewhere_in_a_file_does_not_keep_its_one_patch_out_of_the_diff(
    desk: Desk, tmp_path: Path
) -> None:
    secret = "hunter2-correct-horse"
    desk.house.secrets.register("test", secret)
    lines = b"".join(b"%d\n" % number for number in range(30))
    (desk.workspace / "a.txt").write_bytes(lines + secret.encode())
    edit: Call = ("edit_file", {"path": "a.txt", "old_text": "\n5\n", "new_text": "\nfive\n"})
    run_id = await desk.done([edit, NEW], auto=True)
    fresh = tmp_path / "fresh"
    checkout(fresh, {**BEFORE, "a.txt": FileState(lines + secret.encode())})
    body = await desk.patches.merged(run_id)
    assert secret.encode() not in body
    git(fresh, "apply", given=body)
    assert read_tree(fresh)["a.txt"] == read_tree(desk.workspace)["a.txt"]
    first, _ = await desk.patches_of(run_id)
    await desk.patches.revert(first.artifact_id, by="ana")
    assert (await desk.patches.merged(run_id)).count(b"diff --git") == 1
    again = await desk.done(
        [edit, ("edit_file", {"path": "a.txt", "old_text": "\n6\n", "new_text": "\nsix\n"})], auto=True
    )
    with pytest.raises(PatchUnavailable):
        await desk.patches.merged(again)


async def test_the_diff_outlives_the_events(desk: Desk) -> None:
    run_id = await desk.done(
        [EDIT, NEW, ("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1"})], auto=True
    )
    before = await desk.patches.merged(run_id)
    ground = desk.house.ground
    retention = Retention(journal=ground.journal, clock=ground.clock, ids=ground.ids)
    await retention.prune(run_id, (await ground.journal.reader.run(run_id)).head_sequence)
    assert "tool.edit.applied" not in await desk.house.types(run_id)
    assert await desk.patches.merged(run_id) == before


async def test_a_branch_gets_the_patches_that_its_parent_had_applied(desk: Desk, tmp_path: Path) -> None:
    run_id = await desk.done([EDIT, NEW], auto=True)
    log = await desk.house.log(run_id)
    first_applied = next(at for at, one in enumerate(log) if type_of(one) == "tool.edit.applied")
    place = tmp_path / "branch"
    write_tree(place, BEFORE)
    await desk.patches.replay(run_id, first_applied, place)
    assert read_tree(place) == {**BEFORE, "a.txt": FileState(b"one\nTWO\nthree\n")}
    # What is there already is left as it is.
    await desk.patches.replay(run_id, len(log), place)
    assert read_tree(place) == {**BEFORE, "a.txt": FileState(b"one\nTWO\nthree\n"), "new/file.txt": FileState(b"hello")}


async def test_a_branch_gets_files_that_only_its_parents_workspace_had(desk: Desk, tmp_path: Path) -> None:
    made: Call = ("shell_exec", {"command": "echo made > made.txt"})
    edit: Call = ("edit_file", {"path": "made.txt", "old_text": "made", "new_text": "kept"})
    run_id = await desk.done([made, edit], auto=True)
    place = tmp_path / "branch"
    write_tree(place, BEFORE)
    await desk.patches.replay(run_id, 1_000, place)
    assert (place / "made.txt").read_text() == "kept\n"


async def test_a_place_that_has_gone_its_own_way_gets_nothing(desk: Desk, tmp_path: Path) -> None:
    run_id = await desk.done([NEW, EDIT], auto=True)
    place = tmp_path / "branch"
    write_tree(place, {**BEFORE, "a.txt": FileState(b"mine")})
    tree = read_tree(place)
    with pytest.raises(WorkspaceDrifted) as caught:
        await desk.patches.replay(run_id, 1_000, place)
    assert (caught.value.path, caught.value.expected) == ("a.txt", BEFORE["a.txt"].revision)
    assert read_tree(place) == tree


async def test_a_resumed_runs_branch_gets_what_came_before_too(desk: Desk, tmp_path: Path) -> None:
    async with desk.live([EDIT], auto=True) as first:
        pass
    info = await desk.house.starter.resume(first)
    place = tmp_path / "branch"
    write_tree(place, BEFORE)
    await desk.patches.replay(info.birth.run_id, info.head_sequence, place)
    assert (place / "a.txt").read_bytes() == b"one\nTWO\nthree\n"
