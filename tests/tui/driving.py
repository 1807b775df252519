"""The full-screen view on a gateway, with keys pressed and the screen read as a person would."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from textual.pilot import Pilot

from runwire.client.answers import EventPage
from runwire.client.client import Client
from runwire.client.patience import Backoff, Patience
from runwire.tui.app import Top
from runwire.tui.link import Link
from runwire.tui.run_view import RunView
from runwire.tui.timeline import Timeline
from tests.gateway.serving import Served
from tests.patience import PATIENCE_S


class CountingClient(Client):
    """A client that remembers how much it has read."""

    def __init__(self, url: str, token: str | None, patience: Patience) -> None:
        super().__init__(url, token, patience=patience)
        self.reads: list[int] = []

    async def read(
        self, run_id: str, *, after: int = -1, types: str | None = None, limit: int | None = None
    ) -> EventPage:
        """One page; how many events it had is remembered."""
        page = await super().read(run_id, after=after, types=types, limit=limit)
        self.reads.append(len(page.data))
        return page


@dataclass(slots=True)
class Seen:
    """Somebody in front of `top`."""

    top: Top
    pilot: Pilot[None]
    client: CountingClient
    link: Link = field(default_factory=Link)

    def text(self) -> str:
        """What is on the screen now, line by line."""
        # Textual has no public way to read the screen as text.
        strips = self.top.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        """Press some keys."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type a text."""
        names = {" ": "space", "*": "asterisk", ".": "full_stop", ":": "colon", "-": "minus", ",": "comma"}
        await self.pilot.press(*(names.get(letter, letter) for letter in text))

    async def until(self, condition: Callable[[], bool], what: str = "it") -> None:
        """Wait until something holds."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not condition():
                    await self.pilot.pause(0.02)
        except TimeoutError:
            raise AssertionError(f"{what} did not come about; the screen shows:\n{self.text()}") from None

    async def shows(self, *words: str) -> str:
        """Wait until all of these are on the screen."""
        await self.until(lambda: all(word in self.text() for word in words), f"{words}")
        return self.text()

    async def hides(self, word: str) -> None:
        """Wait until something is no longer on the screen."""
        await self.until(lambda: word not in self.text(), f"the end of {word!r}")

    async def open(self, *words: str) -> Timeline:
        """Open the run at the cursor and wait for its events."""
        await self.press("enter")
        await self.until(lambda: isinstance(self.top.screen, RunView) and self.top.screen.timeline.count > 0, "a run")
        await self.shows(*words)
        return self.view.timeline

    @property
    def view(self) -> RunView:
        """The run that is open."""
        view = next(screen for screen in reversed(self.top.screen_stack) if isinstance(screen, RunView))
        assert isinstance(view, RunView)
        return view


@asynccontextmanager
async def looking(url: str, token: str, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Seen]:
    """The view of a gateway on a screen of that size."""
    link = Link()
    patience = Patience(dropped=link.dropped, backoff=Backoff(first_s=0.02, most_s=0.1))
    async with CountingClient(url, token, patience) as client:
        top = Top(client, link)
        async with top.run_test(size=size, notifications=True) as pilot:
            yield Seen(top, pilot, client, link)


def looking_at(served: Served, size: tuple[int, int] = (80, 24)) -> AbstractAsyncContextManager[Seen]:
    """The view of a gateway that a test has started."""
    return looking(f"http://127.0.0.1:{served.port}", served.token, size)
