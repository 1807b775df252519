"""A process that decides about patches, and may be killed at exactly one place of it."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from runwire.errors import RunwireError
from runwire.runs.patches import Patches
from runwire.workspace.locking import Locks
from tests.runs.house import open_house


async def decide(data: Path, verb: str, artifact_ids: list[str], place: str, nth: int) -> None:
    """Apply or revert; die without a word where `place` is reached for the nth time."""
    left = nth

    def probe(reached: str) -> None:
        nonlocal left
        left -= reached == place
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_house(data) as house:
        ground = replace(house.ground, probe=probe)
        patches = Patches(ground=ground, locks=Locks(data / "locks"), undo=data / "undo")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        try:
            if verb == "apply":
                await patches.apply(artifact_ids, by="ana")
            else:
                await patches.revert_all(artifact_ids, by="ana", reason="no")
        except RunwireError as refused:
            print(refused.code, flush=True)
        else:
            print("done", flush=True)


if __name__ == "__main__":
    data, verb, ids, place, nth = sys.argv[1:]
    asyncio.run(decide(Path(data), verb, ids.split(","), place, int(nth)))
