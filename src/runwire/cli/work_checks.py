"""What `doctor` looks at where runs are carried out: what confines them, what they need, which models they can call."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from runwire.cli.checks import Finding, ok, warn
from runwire.config import Config

_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


async def check_sandbox(config: Config) -> list[Finding]:
    """Whether commands of agents can be confined here."""
    from runwire.workspace.sandbox.choosing import choose

    sandbox = await choose()
    if sandbox.confines:
        return [ok(f"commands of agents are confined by {sandbox.layer}")]
    if config.allow_unconfined:
        return [warn("no sandbox works here, and commands run without one", "install bubblewrap")]
    return [
        warn("no sandbox works here, so commands of agents are refused", "install bubblewrap, or set allow_unconfined")
    ]


def check_programs() -> Iterator[Finding]:
    """The programs that tools and workspaces need."""
    git = shutil.which("git")
    if git is None:
        yield warn("git is not installed", "install it: clones, worktrees and runs of kind git need it")
    else:
        yield ok(f"git at {git}")
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if beside.is_file() else shutil.which("rg")
    if found is None:
        yield warn("ripgrep is not installed", "install runwire anew: glob and grep need it")
    else:
        yield ok(f"ripgrep at {found}")


def check_models(config: Config) -> Iterator[Finding]:
    """Which providers have a key here."""
    keyed = [name for name, variable in _KEYS.items() if os.environ.get(variable)]
    known = sorted({*keyed, *config.models})
    if known:
        yield ok(f"models of {', '.join(known)}, and scripts")
    else:
        yield ok(f"scripts instead of models; {' or '.join(_KEYS.values())}, or a table [models.NAME], reach real ones")


async def check_agents(config: Config) -> list[Finding]:
    """Which agents of others are here."""
    from runwire.clock import SystemClock
    from runwire.wiring.registering import registry_of

    _, *others = await registry_of(config, environ=os.environ, clock=SystemClock()).look()
    here = [f"{one.known.name} {one.version or ''}".strip() for one in others if one.installed]
    found = ok(f"agents {', '.join(here)}") if here else ok("no agents but our own; `runwire agents` tells of others")
    missing = (one for one in others if one.known.autospawn and not one.installed)
    return [
        found,
        *(warn(f"{one.known.name} is to start with the gateway and is not here", one.to_do) for one in missing),
    ]
