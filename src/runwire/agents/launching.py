"""Starting an agent: its program found, its environment chosen name by name, its walls built."""

import os
import secrets
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from runwire.agents.dialect import Price, Telling
from runwire.agents.profile import Profile, Wish
from runwire.host import RunFacts, RunHost
from runwire.journal.redaction.secrets import SecretSet
from runwire.workspace.conversing import Talk, converse
from runwire.workspace.environment import MARK, child_environment
from runwire.workspace.limits import Groups
from runwire.workspace.sandbox.layer import Confinement, Sandbox, confined
from runwire.workspace.spawning import Command


class NotInstalled(Exception):
    """The agent's program is not on this machine."""


class Watching(Protocol):
    """Sees what an agent does to the files of its workspace."""

    async def look(self, tool_call_id: str | None = None) -> object:
        """Tell what has changed since the last look."""
        ...


Watch = Callable[[RunHost], AbstractAsyncContextManager[Watching]]
"""Watches the workspace of a run for as long as it is entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is the same for every agent of this process."""

    sandbox: Sandbox
    inherited: Mapping[str, str]
    secrets: SecretSet
    hidden: Sequence[Path]
    home: Path
    groups: Groups | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """An agent that runs."""

    talk: Talk
    watch: Watching
    telling: Telling


class Launcher:
    """Starts agents for runs."""

    def __init__(self, *, reach: Reach, watch: Watch, price: Price | None = None) -> None:
        """Start agents within this reach; `watch` sees to their edits, `price` knows what models cost."""
        self._reach = reach
        self._watch = watch
        self._price = price

    @asynccontextmanager
    async def launch(self, profile: Profile, host: RunHost) -> AsyncGenerator[Started]:
        """Start an agent in its run's workspace; when the block ends, nobody of it is left."""
        facts, reach = host.facts, self._reach
        sandbox = confined(reach.sandbox, allow_unconfined=facts.allow_unconfined)
        workspace = facts.workspace.resolve()
        wish = Wish(facts.model or profile.model, str(workspace))
        environ = {**profile.variables(wish), **environment_of(profile, facts, reach)}
        session: dict[str, str] = {}
        if profile.token_env is not None:
            # Nobody else who finds the way to its input can speak for us.
            session["token"] = environ[profile.token_env] = environ.get(profile.token_env) or secrets.token_hex(16)
            reach.secrets.register(f"agents.{profile.name}.token", session["token"])
        program = find_program(profile, environ.get("PATH"))
        state = state_folders(profile, environ, reach.home)
        command = Command(
            argv=(program, *profile.command[1:], *profile.arguments(wish)),
            confinement=Confinement(
                workspace=workspace,
                cwd=workspace,
                writable=state,
                readable=[*around(program), *(Path(word) for word in profile.command[1:] if os.path.isabs(word))],
                network=profile.network,
                # Its own keys are its own to read; those of others stay hidden.
                hidden=[path for path in reach.hidden if not any(_meets(path, folder) for folder in state)],
            ),
            environ=environ,
        )
        telling = Telling(
            agent=facts.agent,
            driven=True,
            experimental=facts.experimental,
            cwd=str(workspace),
            env_keys=sorted(environ.keys() - {MARK}),
            sandbox_layer=sandbox.layer,
            budget_micros_usd=facts.budget_micros_usd,
            spent_before_micros_usd=facts.spent_before_micros_usd,
            price=self._price,
            session=session,
        )
        async with (
            self._watch(host) as watch,
            converse(command, sandbox=sandbox, groups=reach.groups) as talk,
        ):
            yield Started(talk, watch, telling)


def find_program(profile: Profile, path: str | None) -> str:
    """Where the agent's program is, else NotInstalled."""
    found = shutil.which(profile.command[0], path=path)
    if found is None:
        raise NotInstalled(f"{profile.command[0]} is not on this machine")
    return os.path.abspath(found)


def environment_of(profile: Profile, facts: RunFacts, reach: Reach) -> dict[str, str]:
    """All that the agent may know of our environment: a few harmless variables, its own, and what the task gives it."""
    own = {
        name: value
        for name, value in reach.inherited.items()
        if any(fnmatchcase(name, pattern) for pattern in profile.environment)
    }
    usual = child_environment(reach.inherited, {}, known=reach.secrets.values)
    return {**usual, **own, **profile.set_env, **facts.env}


def state_folders(profile: Profile, environ: Mapping[str, str], home: Path) -> list[Path]:
    """The folders that the agent keeps its own things in, made where they are missing."""
    named = (_expanded(text, environ, environ.get("HOME") or str(home)) for text in profile.state)
    folders = [Path(text) for text in named if text is not None and os.path.isabs(text)]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return list(dict.fromkeys(folder.resolve() for folder in folders))


def _expanded(text: str, environ: Mapping[str, str], home: str) -> str | None:
    """A folder's name with `~` and a leading `$VARIABLE` put in; None when the variable is not set."""
    if text.startswith("~"):
        return home + text[1:]
    if not text.startswith("$"):
        return text
    name, slash, rest = text[1:].partition("/")
    value = environ.get(name)
    return None if not value else f"{value}{slash}{rest}"


def around(program: str) -> list[Path]:
    """What a program was installed with."""
    real = Path(os.path.realpath(program))
    folder = real.parent
    return [folder.parent if folder.name == "bin" and folder.parent != Path("/") else folder, real, Path(program)]


def _meets(path: Path, folder: Path) -> bool:
    real = Path(os.path.realpath(path))
    return real == folder or real.is_relative_to(folder) or folder.is_relative_to(real)
