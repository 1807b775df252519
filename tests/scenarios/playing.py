"""Every story by name, each played once a session however many tests look at it."""

import asyncio
import inspect
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import uvloop

from tests.scenarios.log import Log
from tests.scenarios.stage import Theatre
from tests.scenarios.stories import again, commands, deciding, edits, money, network, on_request, turns, workers

Story = Callable[[Theatre], Awaitable[None]]


def _stories(module: ModuleType) -> dict[str, Story]:
    return {
        name: told
        for name, told in vars(module).items()
        if inspect.iscoroutinefunction(told) and told.__module__ == module.__name__ and not name.startswith("_")
    }


SCENARIOS: Mapping[str, Story] = MappingProxyType(
    {
        name: story
        for module in (turns, deciding, commands, money, edits, again, on_request, network, workers)
        for name, story in _stories(module).items()
    }
)


@dataclass(frozen=True, slots=True)
class Played:
    """What a story has left behind."""

    folder: Path
    logs: Sequence[Log]
    facts: Mapping[str, Any]

    @property
    def log(self) -> Log:
        """The log of its only run."""
        (log,) = self.logs
        return log


def play(story: Story) -> Played:
    """Play a story in a folder of its own, to its end."""
    with tempfile.TemporaryDirectory(prefix="runwire-story-", dir=Path(tempfile.gettempdir()).resolve()) as folder:
        theatre = Theatre(Path(folder))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(story(theatre))  # type: ignore[arg-type]  # every story is a coroutine function
        return Played(theatre.folder, theatre.logs, theatre.facts)


@dataclass(slots=True)
class Repertoire:
    """Plays what it is asked for, and remembers it."""

    played: dict[str, Played | Exception] = field(default_factory=dict)

    def __call__(self, name: str) -> Played:
        if name not in self.played:
            try:
                self.played[name] = play(SCENARIOS[name])
            except Exception as failure:  # noqa: BLE001 - it is raised for everybody who asks
                self.played[name] = failure
        found = self.played[name]
        if isinstance(found, Exception):
            raise found
        return found
