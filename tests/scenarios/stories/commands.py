"""Commands, how they end, and runs that are ended from outside."""

import subprocess
from pathlib import Path

from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.events.turn import TurnStarted
from tests.scenarios.stage import Theatre, sh, turn


def _running(command: str) -> list[str]:
    """The processes of a command that are there."""
    return subprocess.run(["pgrep", "-f", f"^{command}$"], capture_output=True, text=True, check=False).stdout.split()


def _make_repository(folder: Path) -> None:
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


async def fails(theatre: Theatre) -> None:
    """A command that ends badly; the agent is told and goes on."""
    async with theatre.open() as stage:
        await stage.play(turn("", sh("echo trouble >&2; exit 3")), turn("It failed with 3."))


async def takes_too_long(theatre: Theatre) -> None:
    """A command that does not end by itself."""
    async with theatre.open() as stage:
        await stage.play(turn("", sh("echo begun; sleep 60", timeout_s=1)), turn("It took too long."))


async def floods(theatre: Theatre) -> None:
    """A command that prints without end."""
    async with theatre.open(output_limit_bytes=2_000) as stage:
        await stage.play(turn("", sh("yes flood")), turn("Too much."))


async def cancelled_command(theatre: Theatre) -> None:
    """A run that is cancelled while its command runs, with a child that would live on."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("", sh("(setsid sleep 61.0417 &) ; echo begun; sleep 61.0417")))
        await stage.until(run_id, ShellOutputChunk)
        await stage.on_run(run_id, "cancel", {"reason": "changed my mind"}, status=200)
        await stage.end(run_id)
    theatre.facts["left behind"] = _running("sleep 61.0417")


async def cancelled_turn(theatre: Theatre) -> None:
    """A run that is cancelled while its model thinks."""
    async with theatre.open() as stage:
        run_id = await stage.start(turn("Never said.", delay_ms=60_000))
        await stage.until(run_id, TurnStarted)
        await stage.on_run(run_id, "cancel", {}, status=200)
        await stage.end(run_id)


async def cancelled_in_the_queue(theatre: Theatre) -> None:
    """A run that is cancelled before anybody has taken it up."""
    async with theatre.open(workers=0) as stage:
        run_id = await stage.start(turn("Never said."))
        await stage.on_run(run_id, "cancel", {}, status=200)
        await stage.end(run_id)


async def shell_kind(theatre: Theatre) -> None:
    """A task that is one command."""
    async with theatre.open() as stage:
        made = await stage.task(kind="shell", input={"command": "echo straight"})
        await stage.end(made["latest_run"]["run_id"])


async def failing_shell_kind(theatre: Theatre) -> None:
    """A task that is one command, which fails."""
    async with theatre.open() as stage:
        made = await stage.task(kind="shell", input={"command": "exit 4"})
        await stage.end(made["latest_run"]["run_id"])


async def git_kind(theatre: Theatre) -> None:
    """A task that is one git command."""
    _make_repository(theatre.workspace)
    async with theatre.open() as stage:
        made = await stage.task(kind="git", input={"args": ["status", "--short"]})
        await stage.end(made["latest_run"]["run_id"])


async def file_kind(theatre: Theatre) -> None:
    """Tasks that are one change of a file each."""
    theatre.file("old.txt", "away\n")
    async with theatre.open() as stage:
        for given in (
            {"operation": "write", "path": "new.txt", "content": "new\n"},
            {"operation": "edit", "path": "new.txt", "old_text": "new", "new_text": "newer"},
            {"operation": "delete", "path": "old.txt"},
        ):
            made = await stage.task(kind="file", input=given)
            await stage.end(made["latest_run"]["run_id"])
    theatre.facts["files"] = {path.name: path.read_text() for path in theatre.workspace.iterdir()}
