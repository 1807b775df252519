"""Runs a real agent once, bare or confined, and keeps what it printed."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from runwire.workspace.environment import child_environment
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.choosing import choose
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.spawning import Command
from tests.patience import PATIENCE_S
from tests.real.recipes import RealAgent

Frame = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How an agent ended, and what it printed until then."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def frames(self) -> Sequence[Frame]:
        """Its output, line by line; lines end with a line feed and with nothing else."""
        return [msgspec.json.decode(line, type=dict[str, object]) for line in self.stdout.split("\n") if line]


async def run_bare(agent: RealAgent, prompt: str, *, workspace: Path) -> Ran:
    """Run the agent's own command, as a person would."""
    process = await asyncio.create_subprocess_exec(
        *agent.once(prompt),
        cwd=workspace,
        env=child_environment(os.environ, agent.environ, known=()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ran(exit_code=process.returncode, stdout=out.decode(), stderr=err.decode(errors="replace"))


async def run_confined(agent: RealAgent, prompt: str, *, workspace: Path) -> Ran:
    """Run it behind the walls that its commands get too: its state may be written, and the network is there."""
    printed = {"stdout": "", "stderr": ""}

    async def keep(piece: Piece) -> None:
        printed[piece.stream] += piece.text

    # Agents keep their state where others must not look: what is this agent's own is not hidden from it.
    hidden = [path for path in hidden_paths(data=workspace.parent / "data", home=agent.home) if path not in agent.state]
    confinement = Confinement(workspace=workspace, cwd=workspace, writable=agent.state, network=True, hidden=hidden)
    environ = child_environment(os.environ, agent.environ, known=())
    command = Command(argv=agent.once(prompt), confinement=confinement, environ=environ)
    report = await run_process(command, sandbox=await choose(), on_output=keep, caps=Caps(timeout_s=PATIENCE_S))
    assert report.sandbox_layer != "none"
    return Ran(exit_code=report.exit_code, **printed)
