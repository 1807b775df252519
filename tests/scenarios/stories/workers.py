"""Workers that go away, and logs that are cut."""

from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.run import RunCheckpointSaved
from runwire.protocol.events.shell import ShellOutputChunk
from tests.scenarios.stage import Theatre, sh, turn
from tests.scenarios.workers import close, kill, worker


async def killed(theatre: Theatre) -> None:
    """A worker is killed while a command runs; another goes on."""
    async with theatre.open(workers=0) as stage:
        run_id = await stage.start(
            turn("", sh("echo begun >> count.txt; echo begun; sleep 60")), turn("It was cut short.")
        )
        async with worker(theatre.data) as first:
            await stage.until(run_id, ShellOutputChunk)
            await kill(first)
        async with worker(theatre.data):
            await stage.end(run_id)
    theatre.facts["count"] = (theatre.workspace / "count.txt").read_text()


async def closed(theatre: Theatre) -> None:
    """A worker is told to end while a command runs; another goes on, and nothing was lost."""
    async with theatre.open(workers=0) as stage:
        run_id = await stage.start(turn("", sh("echo begun; sleep 60")), turn("It was cut short."))
        async with worker(theatre.data) as first:
            await stage.until(run_id, ShellOutputChunk)
            theatre.facts["status"] = await close(first)
        await stage.until(run_id, AgentStateChanged)
        async with worker(theatre.data):
            await stage.end(run_id)


async def pruned(theatre: Theatre) -> None:
    """The beginning of a long log is removed."""
    async with theatre.open() as stage:
        log = await stage.play(turn("A long story.", sh("seq 1 500")), turn("That was it."))
        through = log.sequence(RunCheckpointSaved)
        await stage.post("/prune", {"run_id": log.run_id, "through_sequence": through})
