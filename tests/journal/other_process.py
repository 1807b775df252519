"""Another process on the same store, which does as it is told, line by line: `python -m tests.journal.other_process PATH`."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from tests.journal.conftest import opened
from tests.journal.reading import note

ROOT = Path(__file__).parents[2]


class OtherProcess:
    """The other end of it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def tell(self, *words: str) -> str:
        """Have it do something; return what it says when that is done."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(words).encode() + b"\n")
        said = (await stdout.readline()).decode().strip()
        assert said, "the other process has died"
        return said


@asynccontextmanager
async def other_process(path: Path) -> AsyncGenerator[OtherProcess]:
    """Start one and end it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.journal.other_process", str(path)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    other = OtherProcess(process)
    try:
        assert await other.tell("hello") == "ok"
        yield other
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await process.wait()
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def do(journal: Journal, words: list[str]) -> str:
    """Carry one order out."""
    match words:
        case ["born", run_id]:
            await journal.create_run(RunBirth(run_id), [note()])
        case ["append", run_id]:
            await journal.append(run_id, note())
            return str(time.monotonic())
        case ["many", run_id, count]:
            for _ in range(int(count)):
                await journal.append(run_id, note("x" * 1000))
        case ["signal", topic]:
            journal.signal(topic)
            return str(time.monotonic())
        case ["write", run_id]:
            await journal.write(lambda db: db.execute("UPDATE runs SET agent = 'other' WHERE run_id = ?", (run_id,)))
        case ["head", run_id]:
            return str((await journal.reader.run(run_id)).head_sequence)
        case ["seal"]:
            await journal.keeper.seal_all()
        case ["forget", run_id]:
            await journal.forget(run_id)
    return "ok"


async def main(path: Path) -> None:
    """Do as told until the input ends."""
    async with opened(path, settle_s=3600) as journal:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(await do(journal, line.split()), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
