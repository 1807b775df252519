"""A worker in a process of its own, for tests that need two of them, or one that is killed.

`python -m tests.runs.worker_entry DATA WORK`: works until its standard input closes. WORK is `count`, which notes each run in
DATA/counted, or `hang`, which begins a tool call in its first stay, says so on standard output, and never ends it.
"""

import asyncio
import os
import sys
from pathlib import Path

from runwire.host import Ended, Finished, RunHost
from runwire.protocol.events.turn import TurnStarted
from tests.runs.house import Work, ask, open_house


def counting(data: Path) -> Work:
    """Note that a run was worked on, once for each time."""

    async def count(host: RunHost) -> Ended:
        file = os.open(data / "counted", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{host.facts.run_id}\n".encode())
        os.close(file)
        return Finished()

    return count


async def hang(host: RunHost) -> Ended:
    """Begin something and never come back from it."""
    host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
    await host.permit(ask())
    print("begun", flush=True)
    await asyncio.Event().wait()
    return Finished()


async def main(data: Path, work: str) -> None:
    """Work until standard input ends."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), lambda: None if os.read(sys.stdin.fileno(), 1) else stop.set())
    async with open_house(data) as house:
        worker = house.worker(counting(data) if work == "count" else hang, slots=4)
        print("ready", flush=True)
        await worker.work(stop)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
