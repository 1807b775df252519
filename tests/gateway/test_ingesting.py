"""The stream of an agent that runs elsewhere becomes a run, live, and never stays open when the stream does not."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Telling
from runwire.agents.normalising import Normaliser, birth
from runwire.journal.records import RunBirth
from runwire.protocol.lifecycle import check
from runwire.protocol.payload import Payload
from runwire.protocol.stream import is_delta
from tests.agents.transcripts import FOLDER
from tests.gateway.serving import NDJSON, V1, Served, error_of, serving
from tests.patience import PATIENCE_S

ANSWERED = (FOLDER / "zot" / "tool_bash.jsonl").read_bytes()
RUN = "run_01JC0000000000000000000001"


async def log_of(gateway: Served, run_id: str) -> list[bytes]:
    answer = await gateway.http.get(f"{V1}/runs/{run_id}/events", headers=NDJSON)
    return answer.content.splitlines()


async def test_a_stream_becomes_a_run_that_keeps_the_rules(gateway: Served) -> None:
    response = await gateway.http.post(f"{V1}/ingest", params={"agent": "zot"}, content=ANSWERED)
    assert response.status_code == 201
    run = response.json()
    assert (run["status"], run["agent"], run["usage"]["turns"]) == ("completed", "zot", 2)
    assert list(check(await log_of(gateway, run["run_id"]))) == []


async def test_what_has_come_is_there_before_the_stream_ends(gateway: Served) -> None:
    more = asyncio.Event()

    async def stream() -> AsyncGenerator[bytes]:
        lines = ANSWERED.splitlines(keepends=True)
        yield b"".join(lines[:14])
        await more.wait()
        yield b"".join(lines[14:])

    sending = asyncio.create_task(
        gateway.http.post(f"{V1}/ingest", params={"agent": "zot", "run_id": RUN}, content=stream())
    )
    async with asyncio.timeout(PATIENCE_S):
        while True:
            shown = await gateway.http.get(f"{V1}/runs/{RUN}")
            if shown.status_code == 200 and any(b"tool.completed" in line for line in await log_of(gateway, RUN)):
                break
            await asyncio.sleep(0.01)
    assert shown.json()["status"] == "running"
    panes = (await gateway.http.get(f"{V1}/panes")).json()["data"]
    assert [(pane["run_id"], pane["state"]) for pane in panes] == [(RUN, "working")]
    more.set()
    assert (await sending).json()["status"] == "completed"


async def test_a_sender_that_goes_away_fails_the_run(gateway: Served) -> None:
    async def stream() -> AsyncGenerator[bytes]:
        yield b"".join(ANSWERED.splitlines(keepends=True)[:14])
        await asyncio.sleep(60)

    sending = asyncio.create_task(
        gateway.http.post(f"{V1}/ingest", params={"agent": "zot", "run_id": RUN}, content=stream())
    )
    async with asyncio.timeout(PATIENCE_S):
        while (await gateway.http.get(f"{V1}/runs/{RUN}")).status_code != 200:
            await asyncio.sleep(0.01)
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, httpx2.HTTPError):
            await sending
        while (await gateway.http.get(f"{V1}/runs/{RUN}")).json()["status"] == "running":
            await asyncio.sleep(0.01)
    log = await log_of(gateway, RUN)
    assert b'"code":"stream_lost"' in log[-1]
    assert list(check(log)) == []


async def test_a_run_that_a_dead_gateway_was_taking_in_is_ended_by_the_next(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as gateway:
        # As a process leaves it that dies in the middle: the run is there, and nobody holds its lock.
        journal = gateway.services.journal
        await journal.create_run(RunBirth(RUN, None, None, "zot"), birth("zot"))
        normaliser = Normaliser(make_dialect("zot", Telling(agent="zot")))
        items = normaliser.feed(b"".join(ANSWERED.splitlines(keepends=True)[:13]), 0)
        await journal.append_all(RUN, [item for item in items if isinstance(item, Payload) and not is_delta(item)])
    async with serving(tmp_path / "data") as gateway:
        assert await gateway.services.runtime.ingesting.sweep() == 1
        log = await log_of(gateway, RUN)
        assert b"gap.run_disconnected" in b"".join(log)
        assert b'"code":"stream_lost"' in log[-1]
        assert list(check(log)) == []
        assert await gateway.services.runtime.ingesting.sweep() == 0


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 400, "invalid_request"),
        ({"agent": "nobody"}, 422, "agent_unknown"),
        ({"agent": "a b"}, 400, "invalid_filter"),
        ({"agent": "zot", "run_id": "x"}, 400, "invalid_filter"),
    ],
)
async def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    gateway: Served, query: dict[str, str], status: int, code: str
) -> None:
    response = await gateway.http.post(f"{V1}/ingest", params=query, content=ANSWERED)
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    assert (await gateway.http.get(f"{V1}/runs")).json()["data"] == []


async def test_an_id_is_given_once(gateway: Served) -> None:
    query = {"agent": "zot", "run_id": RUN}
    assert (await gateway.http.post(f"{V1}/ingest", params=query, content=ANSWERED)).status_code == 201
    again = await gateway.http.post(f"{V1}/ingest", params=query, content=ANSWERED)
    assert (again.status_code, error_of(again)["code"]) == (409, "run_exists")


async def test_a_key_stands_for_one_stream(gateway: Served) -> None:
    key = {"idempotency-key": "k-1"}
    first = await gateway.http.post(f"{V1}/ingest", params={"agent": "zot"}, content=ANSWERED, headers=key)
    again = await gateway.http.post(f"{V1}/ingest", params={"agent": "zot"}, content=ANSWERED, headers=key)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert again.json()["run_id"] == first.json()["run_id"]


async def test_a_secret_of_the_agents_stream_is_not_stored(tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    leaking = ANSWERED.replace(b"Linux kernel", f"key {secret} kernel".encode()).replace(
        b"em runs a", f"em runs {secret} a".encode()
    )
    async with serving(tmp_path / "data") as gateway:
        run = (await gateway.http.post(f"{V1}/ingest", params={"agent": "zot"}, content=leaking)).json()
        log = b"".join(await log_of(gateway, run["run_id"]))
    assert b"text_complete" in log
    assert secret.encode() not in log
