"""A gateway that is killed without warning while producers append and readers read, again and again."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from runwire.journal.records import RunBirth
from runwire.protocol import chain
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_log
from tests.patience import PATIENCE_S

PRODUCERS = 8
RUNS = ("run_one", "run_two")


@dataclass(slots=True)
class Evidence:
    """What the outside world has been told: it must be true for ever."""

    acknowledged: dict[str, set[bytes]] = field(default_factory=lambda: {run: set() for run in RUNS})
    seen: dict[str, set[bytes]] = field(default_factory=lambda: {run: set() for run in RUNS})
    growing: asyncio.Event = field(default_factory=asyncio.Event)
    """Rings with every acknowledgement of a new start."""


@asynccontextmanager
async def gateway(data: Path) -> AsyncIterator[tuple[httpx2.AsyncClient, asyncio.subprocess.Process]]:
    """A real gateway in a process of its own, and a client that talks to it."""
    (data / "gateway.json").unlink(missing_ok=True)
    environ = {**os.environ, "RUNWIRE_DATA": str(data), "RUNWIRE_PORT": "0"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "runwire", "up", env=environ, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not (data / "gateway.json").exists():
                await asyncio.sleep(0.02)
        url = json.loads((data / "gateway.json").read_text())["url"]
        headers = {"authorization": f"Bearer {(data / 'token').read_text().strip()}"}
        async with httpx2.AsyncClient(base_url=f"{url}/hecate/v1", headers=headers, timeout=30) as client:
            yield client, process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def seed(data: Path) -> None:
    """Two live runs, brought in as files."""
    data.mkdir(parents=True, exist_ok=True)
    async with opened(data / "elsewhere.db") as journal:
        for run in RUNS:
            await journal.create_run(RunBirth(run), [note(run)])
        logs = [await whole_log(journal, run) for run in RUNS]
    async with gateway(data) as (client, _):
        for log in logs:
            answer = await client.post("/import", content=b"\n".join(log) + b"\n")
            answer.raise_for_status()


async def strike(data: Path, evidence: Evidence, after_s: float) -> None:
    """Start the gateway, load it, and kill it in the middle of everything."""
    evidence.growing.clear()
    async with gateway(data) as (client, process), asyncio.TaskGroup() as group:
        for number in range(PRODUCERS):
            group.create_task(_produce(client, RUNS[number % 2], evidence))
        for run in RUNS:
            group.create_task(_watch(client, run, evidence))
        # The moment is counted from when it takes events, or a busy machine would be killed before it began.
        await evidence.growing.wait()
        await asyncio.sleep(after_s)
        process.send_signal(signal.SIGKILL)


async def _produce(client: httpx2.AsyncClient, run: str, evidence: Evidence) -> None:
    with suppress(httpx2.TransportError):
        while True:
            body = {"type": "external.load", "data": {"text": "x" * random.randint(1, 400)}}
            answer = await client.post(f"/runs/{run}/events", json=body)
            answer.raise_for_status()
            evidence.acknowledged[run].add(answer.content)
            evidence.growing.set()


async def _watch(client: httpx2.AsyncClient, run: str, evidence: Evidence) -> None:
    with suppress(httpx2.TransportError):
        async with client.stream("GET", f"/runs/{run}/events", headers={"accept": "text/event-stream"}) as answer:
            rest = b""
            async for piece in answer.aiter_bytes():
                *lines, rest = (rest + piece).split(b"\n")
                evidence.seen[run].update(line[6:] for line in lines if line.startswith(b'data: {"schema_version"'))


async def examine(data: Path, evidence: Evidence) -> int:
    """Hold the restarted gateway against the evidence; return how many events there are."""
    total = 0
    async with gateway(data) as (client, _):
        for run in RUNS:
            answer = await client.get(f"/runs/{run}/events", headers={"accept": "application/x-ndjson"})
            log = answer.content.split(b"\n")[:-1]
            stored = set(log)
            assert evidence.acknowledged[run] <= stored, "acknowledged and lost"
            assert evidence.seen[run] <= stored, "served and lost"
            head = (await client.get(f"/runs/{run}")).json()["head_hash"]
            assert list(verify(log, head=chain.read(head), live=True)) == []
            total += len(log)
    return total


async def kill_again_and_again(data: Path, times: int) -> int:
    """Kill the gateway so many times at random moments; return how many events have survived it all."""
    evidence = Evidence()
    await seed(data)
    for _ in range(times):
        await strike(data, evidence, random.uniform(0.05, 0.6))
    return await examine(data, evidence)
