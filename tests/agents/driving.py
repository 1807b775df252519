"""What tests of drivers share: an agent's program in real walls, and a host in memory."""

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from runwire.agents.launching import Launcher, Reach, Watch, Watching
from runwire.agents.profile import Profile
from runwire.agents.stdio import StdioExecutor
from runwire.agents.visiting import Patience
from runwire.clock import SystemClock
from runwire.host import Ended, RunHost
from runwire.journal.redaction.secrets import SecretSet
from runwire.protocol.lifecycle import Breach, check
from runwire.testing.host import FakeHost, Respond, agree, run_facts
from runwire.workspace.sandbox.choosing import choose


class Unwatched:
    """Looks at no files."""

    async def look(self, tool_call_id: str | None = None) -> None:
        """Nothing to tell."""


@asynccontextmanager
async def unwatched(_: RunHost) -> AsyncGenerator[Watching]:
    """Watch nothing."""
    yield Unwatched()


async def executor_of(
    profile: Profile, *, watch: Watch = unwatched, patience: Patience | None = None, hidden: Sequence[Path] = ()
) -> StdioExecutor:
    """A driver of an agent, in the walls of this machine."""
    reach = Reach(
        sandbox=await choose(),
        inherited=os.environ,
        secrets=SecretSet(),
        hidden=hidden,
        home=Path.home(),
    )
    launcher = Launcher(reach=reach, watch=watch)
    return StdioExecutor(profile=profile, launcher=launcher, clock=SystemClock(), patience=patience or Patience())


def host_of(workspace: Path, prompt: str, respond: Respond = agree, **facts: object) -> FakeHost:
    """A run of a prompt in a workspace."""
    settled = structs.replace(run_facts(prompt=prompt, model=None, workspace=workspace), **facts)
    return FakeHost(facts=settled, respond=respond, clock=SystemClock())


def with_program(profile: Profile, program: Path, *rest: str) -> Profile:
    """The same agent, played by a Python program of ours."""
    return replace(profile, command=(sys.executable, str(program), *rest), arguments=lambda _: ())


def breaches(host: FakeHost, ended: Ended) -> Sequence[Breach]:
    """What is wrong with the log of a run that ended: nothing."""
    host.end(ended)
    return list(check(host.envelopes()))


@asynccontextmanager
async def nothing_left(marker: str) -> AsyncGenerator[None]:
    """Whatever runs meanwhile, no process whose command line has the marker is there afterwards."""
    yield
    left = [line for line in _commands() if marker in line]
    assert left == []


def _commands() -> Sequence[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
    return found
