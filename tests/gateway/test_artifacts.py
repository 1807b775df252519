"""Artifacts over HTTP: what is known about them, and their bytes."""

from hashlib import sha256

import pytest

from runwire.journal.artifact import Artifact, ArtifactMeta, Kind, NewArtifact, PatchStats
from tests.gateway.serving import V1, Served, caller, error_of
from tests.spec import spec

BODY = bytes(range(256)) * 2000
DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"


async def keep(gateway: Served, body: bytes, kind: Kind = "command_output", **meta: object) -> Artifact:
    fields = {"mime": "application/octet-stream"} | meta
    new = NewArtifact(kind, ArtifactMeta(**fields))  # type: ignore[arg-type]  # the fields of the test
    return await gateway.services.artifacts.create("run_1", new, body)


@pytest.fixture
async def run(gateway: Served) -> Served:
    await gateway.run()
    return gateway


async def test_a_patch_is_shown_as_the_protocol_shows_it(run: Served) -> None:
    stats = PatchStats(additions=1, deletions=1, hunks=1)
    patch = await keep(
        run,
        DIFF,
        "patch",
        mime="text/x-diff",
        target_path="x",
        base_revision="sha256:8a",
        stats=stats,
        produced_by_tool_call_id="call_1",
    )
    shown = (await run.http.get(f"{V1}/artifacts/{patch.artifact_id}")).json()
    assert shown["object"] == "artifact"
    expected = {
        "id": patch.artifact_id,
        "kind": "patch",
        "status": "proposed",
        "target_path": "x",
        "base_revision": "sha256:8a",
        "diff": DIFF.decode(),
        "stats": {"additions": 1, "deletions": 1, "hunks": 1},
        "applied_at": None,
        "reverted_at": None,
        "produced_by_run_id": "run_1",
        "produced_by_tool_call_id": "call_1",
        "sha256": sha256(DIFF).hexdigest(),
        "size_bytes": len(DIFF),
    }
    assert {key: shown["data"][key] for key in expected} == expected


async def test_artifacts_are_found_by_what_they_are_newest_first(run: Served) -> None:
    first = await keep(run, b"1")
    patch = await keep(run, DIFF, "patch")
    last = await keep(run, b"3")

    async def found(**params: str | int) -> list[str]:
        page = (await run.http.get(f"{V1}/artifacts", params=params)).json()
        return [artifact["id"] for artifact in page["data"]]

    newest = [last.artifact_id, patch.artifact_id, first.artifact_id]
    assert await found() == newest
    assert await found(kind="patch", status="proposed", run_id="run_1") == [patch.artifact_id]
    assert await found(run_id="run_2") == []
    assert await found(task_id="task_1") == newest
    page = (await run.http.get(f"{V1}/artifacts", params={"limit": 2})).json()
    assert page["has_more"] is True
    assert await found(cursor=page["next_cursor"]) == newest[2:]


@spec("ART-2")
async def test_the_bytes_carry_a_tag_that_saves_sending_them_again(run: Served) -> None:
    artifact = await keep(run, BODY)
    path = f"{V1}/artifacts/{artifact.artifact_id}/raw"
    whole = await run.http.get(path)
    assert (whole.status_code, whole.content) == (200, BODY)
    tag = whole.headers["etag"]
    assert whole.headers["accept-ranges"] == "bytes"
    for given in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = await run.http.get(path, headers={"if-none-match": given})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (await run.http.get(path, headers={"if-none-match": '"other"'})).status_code == 200


@spec("ART-3")
@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, len(BODY)),
        ("bytes=100-199", 100, 200),
        ("bytes=-5", len(BODY) - 5, len(BODY)),
        ("bytes=511999-600000", 511999, len(BODY)),
        ("BYTES=262143-262144", 262143, 262145),
    ],
)
async def test_a_range_is_answered_with_just_those_bytes(run: Served, asked: str, start: int, end: int) -> None:
    artifact = await keep(run, BODY)
    path = f"{V1}/artifacts/{artifact.artifact_id}/raw"
    part = await run.http.get(path, headers={"range": asked})
    assert part.status_code == 206
    assert part.content == BODY[start:end]
    assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{len(BODY)}"


@spec("ART-3")
@pytest.mark.parametrize("asked", ["bytes=512000-", "bytes=999999-1000000", "bytes=-0"])
async def test_a_range_outside_is_refused_and_told_the_size(run: Served, asked: str) -> None:
    artifact = await keep(run, BODY)
    response = await run.http.get(f"{V1}/artifacts/{artifact.artifact_id}/raw", headers={"range": asked})
    assert response.status_code == 416
    assert error_of(response)["code"] == "invalid_range"
    assert response.headers["content-range"] == f"bytes */{len(BODY)}"


@pytest.mark.parametrize("asked", ["bytes=5-2", "lines=1-2", "bytes=1-2,5-6", "bytes=x", "bytes=-", "nonsense"])
async def test_a_range_that_is_none_is_passed_over(run: Served, asked: str) -> None:
    artifact = await keep(run, b"0123456789")
    response = await run.http.get(f"{V1}/artifacts/{artifact.artifact_id}/raw", headers={"range": asked})
    assert (response.status_code, response.content) == (200, b"0123456789")


@spec("ART-3")
async def test_a_range_of_another_body_gets_the_whole_of_this_one(run: Served) -> None:
    artifact = await keep(run, b"0123456789")
    path = f"{V1}/artifacts/{artifact.artifact_id}/raw"
    same = await run.http.get(path, headers={"range": "bytes=1-2", "if-range": artifact.etag})
    assert (same.status_code, same.content) == (206, b"12")
    other = await run.http.get(path, headers={"range": "bytes=1-2", "if-range": '"other"'})
    assert (other.status_code, other.content) == (200, b"0123456789")


async def test_an_empty_body_is_a_body(run: Served) -> None:
    artifact = await keep(run, b"")
    path = f"{V1}/artifacts/{artifact.artifact_id}/raw"
    response = await run.http.get(path)
    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "0")
    assert (await run.http.get(path, headers={"range": "bytes=0-"})).status_code == 416


async def test_head_tells_the_size_and_sends_nothing(run: Served) -> None:
    artifact = await keep(run, BODY)
    response = await run.http.head(f"{V1}/artifacts/{artifact.artifact_id}/raw")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-length"] == str(len(BODY))


@pytest.mark.parametrize("mime", ["text/html", "evil\r\nset-cookie: x=y", "text/plain\x00", "", "ünï/cödé"])
async def test_what_an_agent_calls_its_bytes_cannot_harm_the_answer(run: Served, mime: str) -> None:
    artifact = await keep(run, b"<script>", mime=mime)
    response = await run.http.get(f"{V1}/artifacts/{artifact.artifact_id}/raw")
    assert response.status_code == 200
    assert "set-cookie" not in response.headers
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]


async def test_pinning_is_for_those_who_operate(run: Served) -> None:
    artifact = await keep(run, b"1")
    path = f"{V1}/artifacts/{artifact.artifact_id}"
    reading = (await run.services.tokens.create("reader", ["read"])).secret
    async with caller(run.port, reading) as reader:
        assert (await reader.post(f"{path}/pin")).status_code == 403
    assert (await run.http.post(f"{path}/pin")).json()["data"]["pinned"] is True
    assert (await run.http.get(path)).json()["data"]["pinned"] is True
    assert (await run.http.post(f"{path}/unpin")).json()["data"]["pinned"] is False


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/artifacts/art_none", 404, "artifact_not_found"),
        ("GET", "/artifacts/art_none/raw", 404, "artifact_not_found"),
        ("POST", "/artifacts/art_none/pin", 404, "artifact_not_found"),
        ("GET", "/artifacts?kind=poem", 400, "invalid_filter"),
        ("GET", "/artifacts?status=lost", 400, "invalid_filter"),
        ("GET", "/artifacts?cursor=x", 400, "invalid_cursor"),
        ("GET", "/artifacts?limit=1001", 400, "invalid_limit"),
    ],
)
async def test_what_is_not_there_is_not_found(run: Served, method: str, path: str, status: int, code: str) -> None:
    response = await run.http.request(method, V1 + path)
    assert response.status_code == status
    assert error_of(response)["code"] == code
