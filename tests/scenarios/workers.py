"""Workers in processes of their own, to be closed or killed."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from tests.cli.program import surroundings
from tests.patience import PATIENCE_S


@asynccontextmanager
async def worker(data: Path, *, slots: int = 1) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker that is at work; what is left of it at the end is killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "runwire", "--data", str(data), "--json", "worker", "--slots", str(slots)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=surroundings({"RUNWIRE_CLOSE_GRACE_S": "0.2"}),
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            line = await process.stdout.readline()
        assert msgspec.json.decode(line)["pid"] == process.pid
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def kill(process: asyncio.subprocess.Process) -> None:
    """End a worker without warning."""
    process.send_signal(signal.SIGKILL)
    await process.wait()


async def close(process: asyncio.subprocess.Process) -> int:
    """End a worker in order and return its status."""
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE_S):
        return await process.wait()
