"""Edits as patches: applied at once, or proposed and decided upon."""

import subprocess
from collections.abc import Mapping

from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.edit import EditProposed, MultiEditProposed
from tests.scenarios.stage import Stage, Theatre, call, sh, turn

PROPOSE = {"auto_apply": False}
TWO = {
    "edits": [
        {"path": "a.txt", "old_text": "one", "new_text": "ONE"},
        {"path": "b.txt", "old_text": "two", "new_text": "TWO"},
    ]
}


def _files(theatre: Theatre) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(theatre.workspace.iterdir()) if path.is_file()}


def _prepare(theatre: Theatre) -> None:
    theatre.file("a.txt", "one\n")
    theatre.file("b.txt", "two\n")


async def applied_at_once(theatre: Theatre) -> None:
    """A file made, one changed, several changed; and the whole as one diff that git takes."""
    _prepare(theatre)
    async with theatre.open() as stage:
        log = await stage.play(
            turn("", call("file_write", path="new.txt", content="new\n")),
            turn("", call("edit_file", path="a.txt", old_text="one", new_text="first")),
            turn(
                "", call("multi_edit", edits=[{"path": "a.txt", "old_text": "first", "new_text": "1"}, TWO["edits"][1]])
            ),
            turn("Written."),
        )
        answer = await stage.http.get(f"/hecate/v1/runs/{log.run_id}/patch")
        assert answer.status_code == 200, answer.text
        theatre.facts["type"] = answer.headers["content-type"]
    theatre.facts["files"] = _files(theatre)
    theatre.facts["elsewhere"] = _applied_elsewhere(theatre, answer.content)


def _applied_elsewhere(theatre: Theatre, diff: bytes) -> dict[str, str]:
    """The same change on a fresh checkout, by git."""
    fresh = theatre.folder / "fresh"
    fresh.mkdir()
    (fresh / "a.txt").write_text("one\n")
    (fresh / "b.txt").write_text("two\n")
    subprocess.run(["git", "init", "-q", str(fresh)], check=True)
    subprocess.run(["git", "-C", str(fresh), "apply", "-"], input=diff, check=True)
    return {path.name: path.read_text() for path in sorted(fresh.iterdir()) if path.is_file()}


async def reviewed(theatre: Theatre) -> None:
    """Three proposals of a run that is over: one applied and taken back, one rejected, one left."""
    _prepare(theatre)
    async with theatre.open() as stage:
        log = await stage.play(
            turn("", call("edit_file", path="a.txt", old_text="one", new_text="ONE")),
            turn("", call("edit_file", path="b.txt", old_text="two", new_text="TWO")),
            turn("", call("file_write", path="c.txt", content="three\n")),
            turn("Proposed."),
            policy=PROPOSE,
        )
        theatre.facts["proposed"] = _files(theatre)
        first, second = (one.patch_artifact_id for one in log.all(EditProposed))
        await stage.post(f"/artifacts/{first}/apply")
        theatre.facts["applied"] = _files(theatre)
        await stage.post(f"/artifacts/{second}/reject", {"reason": "two is fine"})
        theatre.facts["reverted"] = await stage.post(f"/artifacts/{first}/revert", {"reason": "too loud"})
    theatre.facts["end"] = _files(theatre)


async def rejected_in_time(theatre: Theatre) -> None:
    """A proposal that is rejected while the run goes on: the agent hears why."""
    _prepare(theatre)
    async with theatre.open() as stage:
        run_id = await stage.start(
            turn("", call("edit_file", path="a.txt", old_text="one", new_text="ONE")),
            turn("", sh("true")),
            turn("I see."),
            policy={**PROPOSE, "shell_exec": "ask"},
        )
        proposed = await stage.until(run_id, EditProposed)
        asked = await stage.until(run_id, ApprovalRequested)
        await stage.post(f"/artifacts/{proposed.patch_artifact_id}/reject", {"reason": "keep it small"})
        await stage.resolve(asked.approval_id, "approved")
        await stage.end(run_id)


async def _batch(theatre: Theatre, stage: Stage, policy: Mapping[str, object]) -> tuple[str, str, str]:
    """A run that has changed two files at once and now waits: its id, the first patch, the question."""
    _prepare(theatre)
    run_id = await stage.start(
        turn("", call("multi_edit", **TWO)), turn("", sh("true")), turn("Done."), policy={**policy, "shell_exec": "ask"}
    )
    proposed = await stage.until(run_id, MultiEditProposed)
    asked = await stage.until(run_id, ApprovalRequested)
    return run_id, proposed.patch_artifact_ids[0], asked.approval_id


async def batch_rejected(theatre: Theatre) -> None:
    """Two files in one proposal, refused as one."""
    async with theatre.open() as stage:
        run_id, patch, question = await _batch(theatre, stage, PROPOSE)
        await stage.post(f"/artifacts/{patch}/reject", {"reason": "neither", "whole_batch": True})
        await stage.resolve(question, "approved")
        await stage.end(run_id)
    theatre.facts["files"] = _files(theatre)


async def batch_reverted(theatre: Theatre) -> None:
    """Two files changed as one, and taken back as one."""
    async with theatre.open() as stage:
        run_id, patch, question = await _batch(theatre, stage, {})
        theatre.facts["changed"] = _files(theatre)
        await stage.post(f"/artifacts/{patch}/revert", {"reason": "both", "whole_batch": True})
        await stage.resolve(question, "approved")
        await stage.end(run_id)
    theatre.facts["files"] = _files(theatre)


async def batch_applied(theatre: Theatre) -> None:
    """Two proposals of one batch, applied by a person as one while the run waits."""
    async with theatre.open() as stage:
        run_id, _, question = await _batch(theatre, stage, PROPOSE)
        theatre.facts["applied"] = await stage.post(f"/runs/{run_id}/patches/apply")
        await stage.resolve(question, "approved")
        await stage.end(run_id)
    theatre.facts["files"] = _files(theatre)


async def drifted(theatre: Theatre) -> None:
    """A file that has changed since: nothing is written."""
    _prepare(theatre)
    async with theatre.open() as stage:
        log = await stage.play(turn("", call("multi_edit", **TWO)), turn("Proposed."), policy=PROPOSE)
        theatre.file("b.txt", "two and a half\n")
        theatre.facts["refused"] = await stage.post(f"/runs/{log.run_id}/patches/apply", status=409)
    theatre.facts["files"] = _files(theatre)
