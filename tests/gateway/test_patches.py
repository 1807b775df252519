"""Patches over HTTP: all or nothing, and the first one wins."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, caller, error_of
from tests.gateway.working import Json, Working, at_work, says, uses

PROPOSE = {"auto_apply": False}


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        (opened.folder / "a.txt").write_text("one\n")
        (opened.folder / "b.txt").write_text("two\r\n")
        yield opened


async def _proposed(working: Working) -> tuple[str, list[str]]:
    """A run that has proposed two edits and is over, and the patches."""
    edits = [
        {"path": "a.txt", "old_text": "one", "new_text": "ONE"},
        {"path": "b.txt", "old_text": "two", "new_text": "TWO"},
    ]
    run = await working.run(uses("multi_edit", edits=edits), says(), policy=PROPOSE)
    await working.end(run["run_id"])
    listed = await working.get("/artifacts", run_id=run["run_id"], kind="patch", status="proposed")
    return run["run_id"], [one["id"] for one in reversed(listed["data"])]


def _files(working: Working) -> tuple[bytes, bytes]:
    return (working.folder / "a.txt").read_bytes(), (working.folder / "b.txt").read_bytes()


async def test_a_patch_goes_from_proposed_to_applied_to_reverted(working: Working) -> None:
    run_id, (first, _) = await _proposed(working)
    applied = (await working.post(f"/artifacts/{first}/apply")).json()["data"]
    assert (applied["status"], _files(working)) == ("applied", (b"ONE\n", b"two\r\n"))
    diff = await working.http.get(f"{V1}/runs/{run_id}/patch")
    assert diff.headers["content-type"].startswith("text/x-diff")
    assert b"-one\n+ONE\n" in diff.content
    kept = await working.http.get(f"{V1}/runs/{run_id}/patch", headers={"if-none-match": diff.headers["etag"]})
    assert kept.status_code == 304
    reverted = (await working.post(f"/artifacts/{first}/revert", {"reason": "no"})).json()
    assert _files(working) == (b"one\n", b"two\r\n")
    inverse = await working.get(f"/artifacts/{reverted['inverse_artifact_id']}")
    assert inverse["data"]["kind"] == "patch"
    assert (await working.http.get(f"{V1}/runs/{run_id}/patch")).content == b""


async def test_a_batch_is_written_whole_with_its_line_ends(working: Working) -> None:
    run_id, patches = await _proposed(working)
    answer = await working.post(f"/runs/{run_id}/patches/apply", {"artifact_ids": patches})
    assert [one["status"] for one in answer.json()["data"]] == ["applied", "applied"]
    assert _files(working) == (b"ONE\n", b"TWO\r\n")


async def test_one_file_that_drifted_leaves_all_as_they_were(working: Working) -> None:
    run_id, _ = await _proposed(working)
    (working.folder / "b.txt").write_bytes(b"three\r\n")
    answer = await working.post(f"/runs/{run_id}/patches/apply")
    assert answer.status_code == 409
    error = error_of(answer)
    assert error["code"] == "workspace_drifted"
    assert error["details"]["path"] == "b.txt"
    assert {"expected", "actual"} <= error["details"].keys()
    assert _files(working) == (b"one\n", b"three\r\n")
    listed = await working.get("/artifacts", run_id=run_id, status="proposed")
    assert len(listed["data"]) == 2


async def test_of_many_who_apply_at_once_one_does(working: Working) -> None:
    run_id, (first, _) = await _proposed(working)
    answers = await asyncio.gather(*(working.post(f"/artifacts/{first}/apply") for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    log = b"".join(await working.served.stored(run_id))
    assert log.count(b'"type":"tool.edit.applied"') == 1


async def test_a_decided_patch_is_decided(working: Working) -> None:
    _, (first, second) = await _proposed(working)
    assert (await working.post(f"/artifacts/{first}/reject", {"reason": "no"})).json()["data"]["status"] == "rejected"
    assert (await working.refused(f"/artifacts/{first}/apply"))[0] == 409
    assert (await working.refused(f"/artifacts/{second}/revert"))[0] == 409


async def test_a_revert_of_a_file_that_changed_since_is_409(working: Working) -> None:
    _, (first, _) = await _proposed(working)
    await working.post(f"/artifacts/{first}/apply")
    (working.folder / "a.txt").write_text("ONE and more\n")
    assert await working.refused(f"/artifacts/{first}/revert") == (409, "workspace_drifted")
    assert _files(working)[0] == b"ONE and more\n"


@pytest.mark.parametrize(("path", "body"), [("apply", {"x": 1}), ("reject", {"why": ""}), ("revert", {"reason": 1})])
async def test_a_body_that_makes_no_sense_is_422(working: Working, path: str, body: Json) -> None:
    _, (first, _) = await _proposed(working)
    assert (await working.refused(f"/artifacts/{first}/{path}", body))[0] == 422
    assert _files(working) == (b"one\n", b"two\r\n")


async def test_what_is_no_patch_cannot_be_applied(working: Working) -> None:
    run = await working.run(uses("shell_exec", command="seq 1 2000"), says())
    await working.end(run["run_id"])
    (output,) = (await working.get("/artifacts", run_id=run["run_id"]))["data"]
    assert (await working.refused(f"/artifacts/{output['id']}/apply"))[0] == 422
    assert await working.refused("/artifacts/art_01JC0000000000000000000001/apply") == (404, "artifact_not_found")


@pytest.mark.parametrize("scope", ["read", "write"])
async def test_deciding_needs_the_scope_to_operate(working: Working, scope: str) -> None:
    _, (first, _) = await _proposed(working)
    token = (await working.post("/tokens", {"name": "somebody", "scopes": [scope]})).json()["token"]
    async with caller(working.served.port, token) as http:
        for verb in ("apply", "reject", "revert"):
            assert (await http.post(f"{V1}/artifacts/{first}/{verb}", json={})).status_code == 403


async def test_a_batch_is_of_one_run(working: Working) -> None:
    _, (first, _) = await _proposed(working)
    other = await working.run(says())
    await working.end(other["run_id"])
    status, _ = await working.refused(f"/runs/{other['run_id']}/patches/apply", {"artifact_ids": [first]})
    assert status in {404, 422}
    assert _files(working) == (b"one\n", b"two\r\n")


async def test_a_run_without_patches_has_an_empty_diff(working: Working) -> None:
    run = await working.run(says())
    await working.end(run["run_id"])
    answer = await working.http.get(f"{V1}/runs/{run['run_id']}/patch")
    assert (answer.status_code, answer.content) == (200, b"")
    nothing = await working.post(f"/runs/{run['run_id']}/patches/apply")
    assert (nothing.status_code, nothing.json()["data"]) == (200, [])


async def _check(working: Working, path: str, **params: str) -> Json:
    before = _files(working)
    found = await working.get(path, **params)
    assert _files(working) == before
    return found


async def test_a_check_says_what_applying_would_answer_and_writes_nothing(working: Working) -> None:
    run_id, (first, second) = await _proposed(working)
    for path in (f"/artifacts/{first}/check", f"/runs/{run_id}/patches/check"):
        assert (await _check(working, path))["fits"] is True
    (working.folder / "a.txt").write_text("another\n")
    drifted = await _check(working, f"/artifacts/{first}/check")
    refused = error_of(await working.post(f"/artifacts/{first}/apply"))
    assert (drifted["fits"], drifted["code"]) == (False, "workspace_drifted")
    assert {name: drifted[name] for name in ("path", "expected", "actual")} == refused["details"]
    assert (drifted["message"], drifted["hint"]) == (refused["message"], refused["hint"])
    assert (await _check(working, f"/artifacts/{second}/check"))["fits"] is True
    batch = await _check(working, f"/runs/{run_id}/patches/check")
    assert (batch["fits"], batch["path"], batch["artifact_ids"]) == (False, "a.txt", [first, second])


async def test_an_applied_patch_is_checked_for_its_revert(working: Working) -> None:
    _, (first, _) = await _proposed(working)
    await working.post(f"/artifacts/{first}/apply")
    assert (await _check(working, f"/artifacts/{first}/check"))["verb"] == "revert"
    assert (await _check(working, f"/artifacts/{first}/check", verb="apply"))["code"] == "conflict"
    (working.folder / "a.txt").write_text("another\n")
    assert (await _check(working, f"/artifacts/{first}/check"))["code"] == "workspace_drifted"
    wrong = await working.http.get(f"{V1}/artifacts/{first}/check", params={"verb": "burn"})
    assert (wrong.status_code, error_of(wrong)["code"]) == (400, "invalid_filter")
