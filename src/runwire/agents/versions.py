"""Which version a program is: it is asked, confined and for a few seconds at most, and asked again only once it has changed."""

import asyncio
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.workspace.environment import child_environment
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.layer import Confinement, Sandbox, confined
from runwire.workspace.spawning import Command

ASKING_S = 5.0
_AGAIN_NS = 60 * 1_000_000_000
"""How long a program that told nothing is left in peace."""
_ANSWER_BYTES = 64 * 1024
_VERSION = re.compile(r"\d+(?:\.\d+)+[0-9A-Za-z.+-]*", re.ASCII)
_VERSION_MAX = 64

Choose = Callable[[], Awaitable[Sandbox]]
Stamp = tuple[tuple[str, int], ...]
"""The files that a version depends on, with the moments of their last change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a program sees while it tells its version."""

    choose: Choose
    """Finds the sandbox that works here."""
    environ: Mapping[str, str]
    hidden: Sequence[Path] = ()
    allow_unconfined: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    stamp: Stamp
    version: str | None
    at_ns: int


class Versions:
    """Remembers what programs have told."""

    def __init__(self, *, surroundings: Surroundings, clock: Clock, asking_s: float = ASKING_S) -> None:
        """Ask programs in these surroundings, each for so long."""
        self._surroundings = surroundings
        self._clock = clock
        self._asking_s = asking_s
        self._told: dict[Sequence[str], _Told] = {}
        self._asking: dict[Sequence[str], asyncio.Lock] = {}
        self._sandbox: Sandbox | None = None

    async def of(self, argv: Sequence[str], set_env: Mapping[str, str] | None = None) -> str | None:
        """The version that this command tells, with these variables set; None when it tells none in time."""
        argv = tuple(argv)
        # Whoever comes while it is being asked waits for the same answer.
        async with self._asking.setdefault(argv, asyncio.Lock()):
            stamp = await asyncio.to_thread(_stamp, argv)
            told = self._told.get(argv)
            if told is None or told.stamp != stamp or self._is_due(told):
                told = _Told(stamp, await self._ask(argv, set_env or {}), self._clock.now_ns())
                self._told[argv] = told
            return told.version

    def _is_due(self, told: _Told) -> bool:
        return told.version is None and self._clock.now_ns() - told.at_ns >= _AGAIN_NS

    async def _ask(self, argv: Sequence[str], set_env: Mapping[str, str]) -> str | None:
        # Not at the top: a gateway starts without what drives agents.
        from runwire.agents.launching import around

        printed: dict[str, list[str]] = {"stdout": [], "stderr": []}

        async def hear(piece: Piece) -> None:
            printed[piece.stream].append(piece.text)

        around_us = self._surroundings
        with tempfile.TemporaryDirectory(prefix="runwire-") as folder:
            place = _real(folder)
            name = str(place)
            command = Command(
                argv=argv,
                confinement=Confinement(
                    workspace=place,
                    cwd=place,
                    readable=[path for word in argv if os.path.isabs(word) for path in around(word)],
                    hidden=around_us.hidden,
                ),
                # A home of its own: what it would keep at home is no business of a question.
                environ=child_environment(around_us.environ, {**set_env, "HOME": name}, known=(), home=name),
            )
            caps = Caps(timeout_s=self._asking_s, output_limit_bytes=_ANSWER_BYTES)
            try:
                sandbox = confined(await self._chosen(), allow_unconfined=around_us.allow_unconfined)
                await run_process(command, sandbox=sandbox, on_output=hear, caps=caps)
            except RunwireError:
                return None
        return version_in("".join(printed["stdout"])) or version_in("".join(printed["stderr"]))

    async def _chosen(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = await self._surroundings.choose()
        return self._sandbox


def version_in(text: str) -> str | None:
    """The first thing in a text that looks like a version."""
    found = _VERSION.search(text)
    return None if found is None else found[0][:_VERSION_MAX]


def _real(folder: str) -> Path:
    return Path(folder).resolve()


def _stamp(argv: Sequence[str]) -> Stamp:
    files = [os.path.realpath(word) for word in argv if os.path.isabs(word)]
    return tuple((file, _changed_ns(file)) for file in files)


def _changed_ns(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0
