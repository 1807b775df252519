"""The tools that read and change files: what they do to the disk, what they tell, what they refuse."""

from pathlib import Path

import pytest

from runwire.host import ToolInputInvalid
from runwire.native.tools.file_read import KEPT_FROM_BYTES, LINES_MAX, SHOWN_MAX_BYTES
from runwire.protocol.events.edit import EditProposed, MultiEditApplied
from runwire.protocol.events.file import FileReadCompleted, FileWriteProposed
from runwire.testing.host import FakeHost
from tests.native.tools.workbench import Bench, bench, facts_for

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def put(made: Bench, path: str, body: bytes) -> Path:
    target = made.workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(body)
    return target


async def test_a_file_is_read_whole_or_in_part(ready: Bench) -> None:
    put(ready, "a.txt", b"1\n2\n3\n4")
    assert (await ready.call("file_read", {"path": "a.txt"})).output == "1\n2\n3\n4"
    part = await ready.call("file_read", {"path": "a.txt", "start_line": 2, "end_line": 3})
    assert part.output == "2\n3\n[lines 2 to 3 of 4]"
    told = [p for p in ready.host.payloads if isinstance(p, FileReadCompleted)]
    assert [(p.path, p.size_bytes, p.lines) for p in told] == [("a.txt", 7, 4), ("a.txt", 4, 2)]


async def test_a_long_file_is_kept_as_a_snapshot_that_exists_when_it_is_named(ready: Bench) -> None:
    put(ready, "long.txt", b"x" * KEPT_FROM_BYTES + b"y\n")
    result = await ready.call("file_read", {"path": "long.txt"})
    assert ready.types == ["artifact.created", "tool.file_read.completed"]
    artifact, body = ready.host.artifacts[result.kept_artifact_id or ""]
    assert (artifact.kind, artifact.meta.path, body) == ("file_snapshot", "long.txt", b"x" * KEPT_FROM_BYTES + b"y\n")


async def test_no_more_lines_are_shown_than_a_model_can_use(ready: Bench) -> None:
    put(ready, "many.txt", b"l\n" * (LINES_MAX + 5))
    result = await ready.call("file_read", {"path": "many.txt"})
    assert result.output.endswith(f"l\n[lines 1 to {LINES_MAX} of {LINES_MAX + 5}]")


async def test_a_line_that_is_too_long_is_cut_between_two_characters(ready: Bench) -> None:
    put(ready, "line.txt", ("xy" + "€" * SHOWN_MAX_BYTES).encode())
    shown, _, note = (await ready.call("file_read", {"path": "line.txt"})).output.partition("\n")
    assert note == "[lines 1 to 1 of 1]"
    assert shown == "xy" + "€" * ((SHOWN_MAX_BYTES - 2) // 3)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"path": "../outside"}, "path_refused"),
        ({"path": "/etc/passwd"}, "path_refused"),
        ({"path": "link"}, "path_refused"),
        ({"path": "linked/passwd"}, "path_refused"),
        ({"path": "nothing"}, "file_not_found"),
        ({"path": "."}, "path_refused"),
        ({"path": "binary"}, "binary_file"),
        ({"path": "a.txt", "start_line": 9}, "invalid_input"),
        ({"path": "a.txt", "start_line": 2, "end_line": 1}, "invalid_input"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_its_reason(
    ready: Bench, given: dict[str, object], code: str
) -> None:
    put(ready, "a.txt", b"1\n2\n")
    put(ready, "binary", b"\0\1\2")
    (ready.workspace / "link").symlink_to("a.txt")
    (ready.workspace / "linked").symlink_to("/etc")
    result = await ready.call("file_read", given)
    assert (result.outcome, result.code) == ("failed", code)
    assert ready.types == []


async def test_a_picture_is_shown_as_one(ready: Bench) -> None:
    put(ready, "p.png", PNG)
    result = await ready.call("file_read", {"path": "p.png"})
    (draft,) = result.images
    assert (draft.artifact.kind, draft.artifact.meta.mime) == ("image", "image/png")


async def test_an_empty_file_says_so(ready: Bench) -> None:
    put(ready, "e", b"")
    assert (await ready.call("file_read", {"path": "e"})).output == "[the file is empty]"


async def test_a_new_file_is_proposed_and_applied(ready: Bench) -> None:
    result = await ready.call("file_write", {"path": "sub/n.txt", "content": "a\nb\n"})
    assert result.outcome == "completed"
    assert (ready.workspace / "sub/n.txt").read_bytes() == b"a\nb\n"
    assert (ready.workspace / "sub/n.txt").stat().st_mode & 0o777 == 0o644
    assert ready.types == ["artifact.created", "tool.file_write.proposed", "tool.edit.applied", "artifact.updated"]
    proposed = next(p for p in ready.host.payloads if isinstance(p, FileWriteProposed))
    assert (proposed.path, proposed.summary, proposed.auto_apply) == ("sub/n.txt", "new file, 2 lines", True)
    assert not list(ready.workspace.rglob(".runwire*"))


async def test_a_proposal_waits_for_a_person(proposing: Bench) -> None:
    put(proposing, "a.txt", b"one\n")
    result = await proposing.call("file_write", {"path": "a.txt", "content": "two\n"})
    assert (proposing.workspace / "a.txt").read_bytes() == b"one\n"
    assert "not applied yet" in result.output
    assert proposing.types == ["artifact.created", "artifact.created", "tool.edit.proposed"]
    proposed = next(p for p in proposing.host.payloads if isinstance(p, EditProposed))
    artifact, body = proposing.host.artifacts[proposed.patch_artifact_id]
    assert artifact.status == "proposed"
    assert b"-one\n+two\n" in body


async def test_writing_keeps_a_file_s_mode_and_the_other_name_of_a_hard_link(ready: Bench, tmp_path: Path) -> None:
    script = put(ready, "run.sh", b"old")
    script.chmod(0o750)
    other = tmp_path / "other"
    other.hardlink_to(script)
    await ready.call("file_write", {"path": "run.sh", "content": "new"})
    assert (script.read_bytes(), script.stat().st_mode & 0o777, other.read_bytes()) == (b"new", 0o750, b"old")


async def test_a_file_that_is_so_already_makes_no_patch(ready: Bench) -> None:
    put(ready, "a.txt", b"one")
    result = await ready.call("file_write", {"path": "a.txt", "content": "one"})
    assert (result.outcome, ready.types) == ("completed", [])


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", ".git/hooks/pre-commit", ".GIT/config", "linked/x", "a\0b", "file/x"]
)
async def test_nothing_is_written_where_nothing_may_be(ready: Bench, path: str, tmp_path: Path) -> None:
    (ready.workspace / "linked").symlink_to(tmp_path)
    put(ready, "file", b"")
    before = sorted(path for path in tmp_path.rglob("*") if "locks" not in path.parts)
    result = await ready.call("file_write", {"path": path, "content": "evil"})
    assert (result.outcome, result.code) == ("failed", "path_refused")
    assert sorted(path for path in tmp_path.rglob("*") if "locks" not in path.parts) == before
    assert ready.types == []


async def test_an_edit_replaces_exactly_one_place(ready: Bench) -> None:
    put(ready, "a.txt", b"x = 1\ny = 1\n")
    done = await ready.call("edit_file", {"path": "a.txt", "old_text": "y = 1", "new_text": "y = 2"})
    assert done.outcome == "completed"
    assert (ready.workspace / "a.txt").read_bytes() == b"x = 1\ny = 2\n"
    everywhere = {"path": "a.txt", "old_text": " = ", "new_text": "=", "replace_all": True}
    await ready.call("edit_file", everywhere)
    assert (ready.workspace / "a.txt").read_bytes() == b"x=1\ny=2\n"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"path": "a.txt", "old_text": "nope", "new_text": ""}, "text_not_found"),
        ({"path": "a.txt", "old_text": "aa", "new_text": "b"}, "text_not_unique"),
        ({"path": "a.txt", "old_text": "", "new_text": "b"}, "invalid_input"),
        ({"path": "a.txt", "old_text": "aaa", "new_text": "aaa"}, "no_change"),
        ({"path": "none", "old_text": "a", "new_text": "b"}, "file_not_found"),
        ({"path": "bin", "old_text": "a", "new_text": "b"}, "binary_file"),
        ({"path": "../a.txt", "old_text": "a", "new_text": "b"}, "path_refused"),
    ],
)
async def test_an_edit_that_does_not_fit_changes_nothing(ready: Bench, given: dict[str, object], code: str) -> None:
    put(ready, "a.txt", b"aaa\n")
    put(ready, "bin", b"a\0")
    result = await ready.call("edit_file", given)
    assert (result.outcome, result.code) == ("failed", code)
    assert ((ready.workspace / "a.txt").read_bytes(), ready.types) == (b"aaa\n", [])


async def test_a_file_of_windows_keeps_its_line_ends(ready: Bench) -> None:
    put(ready, "w.txt", b"one\r\ntwo\r\nthree\r\n")
    await ready.call("edit_file", {"path": "w.txt", "old_text": "one\ntwo\n", "new_text": "1\n2\n2b\n"})
    assert (ready.workspace / "w.txt").read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"


async def test_several_edits_are_made_together_or_not_at_all(ready: Bench) -> None:
    put(ready, "a.txt", b"one\n")
    put(ready, "b.txt", b"two\n")
    good = [
        {"path": "a.txt", "old_text": "one", "new_text": "1"},
        {"path": "b.txt", "old_text": "two", "new_text": "2"},
        {"path": "a.txt", "old_text": "1", "new_text": "I"},
    ]
    bad = await ready.call("multi_edit", {"edits": [*good, {"path": "b.txt", "old_text": "x", "new_text": "y"}]})
    assert (bad.code, bad.summary.split(":")[0], ready.types) == ("text_not_found", "edit 4", [])
    assert (ready.workspace / "a.txt").read_bytes() == b"one\n"
    await ready.call("multi_edit", {"edits": good})
    assert (ready.workspace / "a.txt").read_bytes() == b"I\n"
    assert (ready.workspace / "b.txt").read_bytes() == b"2\n"
    applied = next(p for p in ready.host.payloads if isinstance(p, MultiEditApplied))
    assert len(applied.patch_artifact_ids) == 2


async def test_a_file_can_be_deleted_by_a_run_of_that_kind(workspace: Path, data: Path) -> None:
    async with bench(data, FakeHost(facts=facts_for(workspace, kind="file"))) as made:
        put(made, "a.txt", b"one\n")
        assert [tool.name for tool in made.toolset.tools] == ["file_write", "edit_file", "file_delete"]
        result = await made.call("file_delete", {"path": "a.txt"})
        assert result.outcome == "completed"
        assert not (workspace / "a.txt").exists()
        assert (await made.call("file_delete", {"path": "a.txt"})).code == "file_not_found"


async def test_an_input_that_does_not_fit_names_its_field(ready: Bench) -> None:
    with pytest.raises(ToolInputInvalid, match=r"^content: "):
        await ready.call("file_write", {"path": "a"})
    with pytest.raises(ToolInputInvalid, match=r"^mode: "):
        await ready.call("file_write", {"path": "a", "content": "", "mode": "0777"})
    with pytest.raises(ToolInputInvalid, match=r"^edits\[0\]\.old_text: "):
        await ready.call("multi_edit", {"edits": [{"path": "a", "old_text": 1, "new_text": ""}]})
