"""The OpenAPI document is true: Schemathesis finds no server error and nothing that is not written there."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import httpx2
import jsonschema_rs
import msgspec
import pytest

from runwire.gateway.operation import Operation
from runwire.gateway.routes import ROUTES
from tests.gateway.processes import TOKEN, up
from tests.gateway.serving import FINISHED, QUEUED, V1, Served, note, serving
from tests.gateway.working import at_work, says, uses
from tests.spec import spec

ROOT = Path(__file__).resolve().parents[2]
# A live stream has no end to wait for. Cursors and the like are valid only if they came from the gateway, which no
# schema can say, so a valid request may be refused.
LEFT_OUT = (f"{V1}/events/stream", f"{V1}/panes/stream")
CHECKS_LEFT_OUT = "positive_data_acceptance"
# A value that is too long may make the head too long, which is refused before anybody looks at the value.
REFUSALS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, 431, "5xx"]
"""
IMPORTED = """
[parameters]
"path.run_id" = "run_1"
"path.task_id" = "task_1"
"path.name" = "envelope.json"
"""
# What would be gone after the first deletion is deleted by a name that nobody has.
CARRIED_OUT = """
[parameters]
"path.run_id" = "{run_id}"
"path.task_id" = "{task_id}"
"path.artifact_id" = "{artifact_id}"
"path.approval_id" = "{approval_id}"

[[operations]]
include-name = "DELETE /hecate/v1/tasks/{{task_id}}"
parameters = {{ "path.task_id" = "task_nobody" }}
"""


async def _imported(folder: Path) -> str:
    """Fill a data directory with runs that were carried out elsewhere."""
    async with serving(folder / "data") as gateway:
        await gateway.run(QUEUED, note("a"), note("b"))
        await gateway.run(QUEUED, FINISHED, run_id="run_2")
    return IMPORTED


async def _carried_out(folder: Path) -> str:
    """Fill a data directory with the same, and with a run that has asked, was answered, and proposes a patch."""
    await _imported(folder)
    async with at_work(folder) as working:
        wanted = uses("file_write", path="a.txt", content="a\n")
        run = await working.run(wanted, says(), policy={"default": "ask", "auto_apply": False})
        asked = await working.until(run["run_id"], "approval.requested")
        await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved"})
        await working.end(run["run_id"])
        (patch,) = (await working.get("/artifacts", kind="patch"))["data"]
    return CARRIED_OUT.format(
        run_id=run["run_id"], task_id=run["task_id"], artifact_id=patch["id"], approval_id=asked["approval_id"]
    )


# Paths that name nothing see the whole directory, so they are asked once, where most is in it.
@pytest.mark.parametrize(("fill", "paths"), [(_imported, r"\{"), (_carried_out, "")], ids=["imported", "carried-out"])
@spec("ERR-1")
def test_schemathesis_finds_nothing(
    fill: Callable[[Path], Coroutine[None, None, str]], paths: str, tmp_path: Path
) -> None:
    (tmp_path / "schemathesis.toml").write_text(REFUSALS + asyncio.run(fill(tmp_path)))
    tool = Path(sys.executable).with_name("schemathesis")
    with up(tmp_path / "data") as gateway:
        command = [
            *(
                str(tool),
                "--config-file",
                str(tmp_path / "schemathesis.toml"),
                "run",
                f"{gateway.url}{V1}/openapi.json",
            ),
            *("-H", f"Authorization: Bearer {TOKEN}", *(f"--exclude-path={path}" for path in LEFT_OUT)),
            *("--include-path-regex", paths),
            *("--exclude-checks", CHECKS_LEFT_OUT, "--phases", "examples,coverage,fuzzing", "--max-examples", "20"),
            *("--request-timeout", "10", "--continue-on-failure", "--no-color", "--generation-deterministic"),
        ]
        hooks = {"SCHEMATHESIS_HOOKS": "tests.gateway.schemathesis_hooks", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | hooks, capture_output=True, text=True, timeout=540, check=False
        )
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
        answer = httpx2.get(f"{gateway.url}/readyz", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200


async def test_the_document_names_every_route(gateway: Served) -> None:
    document = (await gateway.http.get(f"{V1}/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    named = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert named == {(operation.method, operation.path) for operation in ROUTES}
    names = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names))


def answering(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


@pytest.mark.parametrize("operation", ROUTES, ids=answering)
def test_every_route_documents_how_it_refuses(operation: Operation) -> None:
    from runwire.gateway.openapi import document

    described = msgspec.json.decode(msgspec.json.encode(document(ROUTES)))
    responses = described["paths"][operation.path][operation.method.lower()]["responses"]
    always = {"400", "403", "408", "431", "500", "503"}
    assert always <= set(responses)
    assert ("401" in responses) is (operation.scope is not None)
    assert {"409", "413", "507"} <= set(responses) or operation.method == "GET"
    for refusal in operation.refusals:
        assert f"`{refusal.code}`" in responses[str(refusal.status)]["description"]


async def test_answers_fit_their_schemas(gateway: Served) -> None:
    await gateway.run()
    document = (await gateway.http.get(f"{V1}/openapi.json")).json()
    for path, url in (("/runs", "/runs"), ("/runs/{run_id}", "/runs/run_1"), ("/tokens", "/tokens")):
        answer = (await gateway.http.get(V1 + url)).json()
        shape = document["paths"][V1 + path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema_rs.validate({**shape, "components": document["components"]}, answer)
