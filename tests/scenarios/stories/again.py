"""Runs that go on from others."""

from runwire.protocol.events.artifact import ArtifactCreated
from runwire.protocol.events.run import RunCheckpointSaved
from runwire.protocol.events.turn import TurnStarted
from tests.scenarios.stage import Theatre, call, sh, turn


async def resumed(theatre: Theatre) -> None:
    """A run that failed for want of a script goes on from its last checkpoint."""
    async with theatre.open() as stage:
        log = await stage.play(turn("First.", sh("echo once >> count.txt")))
        stage.script([turn("First.", sh("echo once >> count.txt")), turn("And now the end.")])
        later = await stage.on_run(log.run_id, "resume")
        await stage.end(later["run_id"])
    theatre.facts["count"] = (theatre.workspace / "count.txt").read_text()


async def resumed_from_an_earlier_place(theatre: Theatre) -> None:
    """A run that goes on from its first checkpoint, by id, and again by sequence."""
    turns = [turn("One.", sh("echo 1")), turn("Two.", sh("echo 2")), turn("Three.")]
    async with theatre.open() as stage:
        log = await stage.play(*turns)
        first = log.all(RunCheckpointSaved)[0].checkpoint_id
        again = await stage.on_run(log.run_id, "resume", {"checkpoint_id": first})
        await stage.end(again["run_id"])
        once_more = await stage.on_run(log.run_id, "resume", {"from_sequence": log.sequence(RunCheckpointSaved)})
        await stage.end(once_more["run_id"])


async def continued(theatre: Theatre) -> None:
    """Something more is said after the end; the agent looks at what it made before."""
    async with theatre.open() as stage:
        log = await stage.play(turn("", sh("seq 1 5")), turn("Counted."))
        made = log.all(ArtifactCreated)[0].artifact_id
        stage.script([turn(), turn(), turn("", call("artifact_read", artifact_id=made)), turn("One to five.")])
        later = await stage.on_run(log.run_id, "continue", {"prompt": "What did it print?"})
        await stage.end(later["run_id"])


async def retried(theatre: Theatre) -> None:
    """The same again from nothing."""
    async with theatre.open() as stage:
        log = await stage.play(turn("Said twice."))
        later = await stage.on_run(log.run_id, "retry")
        await stage.end(later["run_id"])


async def branched(theatre: Theatre) -> None:
    """A live run is branched: both go their own way."""
    async with theatre.open() as stage:
        run_id = await stage.start(
            turn("", sh("echo trunk")), turn("The end.", delay_ms=1500), experimental=["run.branched"]
        )
        await stage.until(run_id, TurnStarted, lambda one: one.turn_index == 1)
        branch = await stage.on_run(run_id, "resume", {"branch": True})
        await stage.end(run_id)
        await stage.end(branch["run_id"])
