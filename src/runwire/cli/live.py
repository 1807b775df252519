"""A run live on a terminal: events in, a screen that moves, keys that answer."""

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, redirect_stderr

from runwire.cli.asking_live import LiveAsker
from runwire.cli.keys import in_foreground
from runwire.cli.live_view import LiveView
from runwire.cli.screen import Screen
from runwire.client.client import Client
from runwire.client.items import Event
from runwire.client.render.blocks import Block, Edit
from runwire.client.render.harmless import plain
from runwire.errors import RunwireError

_FRAME_S = 0.1
_DIFF_S = 5.0


class Live:
    """One run on the screen."""

    def __init__(
        self, view: LiveView, tasks: asyncio.TaskGroup, client: Client | None, asker: LiveAsker | None, *, asks: bool
    ) -> None:
        """Show on `view`; a `client` fetches what events only name. With `asks` a question says how it is answered."""
        self._view = view
        self._tasks = tasks
        self._client = client
        self._asker = asker
        self._asks = asks
        self._painted_s = 0.0

    async def follow(self, client: Client, run_id: str) -> None:
        """Show a run from its start to its end."""
        async with aclosing(client.events(run_id)) as items:
            async for item in items:
                if isinstance(item, Event):
                    self.take(item.envelope)

    def take(self, envelope: bytes) -> None:
        """Show one event, soon."""
        self._hear(self._view.take(envelope))
        # While a long log comes in, the clock of the screen starves.
        if asyncio.get_running_loop().time() - self._painted_s > _FRAME_S:
            self.paint()

    def paint(self) -> None:
        """Bring the screen up to date, unless it belongs to an editor, or to the shell that put us into the background."""
        if (self._asker is not None and self._asker.editing) or not in_foreground():
            return
        pending = self._view.drawing.pending
        if self._asker is not None:
            self._asker.keys.on()
            self._asker.look()
        elif self._asks:
            self._view.keys = f"  runwire approve {plain(pending[0].approval_id)}" if pending else ""
        self._view.paint()
        self._painted_s = asyncio.get_running_loop().time()

    async def tick(self) -> None:
        """Paint again and again."""
        while True:
            self.paint()
            await asyncio.sleep(_FRAME_S)

    def _hear(self, block: Block | None) -> None:
        if isinstance(block, Edit) and block.revision == 1 and self._client is not None:
            self._view.held.add(block.index)
            self._tasks.create_task(self._fetch(self._client, block))

    async def _fetch(self, client: Client, block: Edit) -> None:
        """Get the diff of an edit. Without it, the edit is shown all the same."""
        try:
            async with asyncio.timeout(_DIFF_S):
                self._view.drawing.show_diff(block.artifact_ids, await client.diff(block.artifact_ids))
        except (RunwireError, TimeoutError):
            pass
        finally:
            self._view.held.discard(block.index)


@asynccontextmanager
async def on_screen(
    client: Client | None, *, asks: bool, now_ns: Callable[[], int] = time.time_ns
) -> AsyncGenerator[Live]:
    """The screen for one run; in the end it is left as a terminal should be. `asks` lets a person answer by key."""
    view = LiveView(Screen.of_stdout(), now_ns=now_ns)
    async with AsyncExitStack() as stack:
        stack.callback(view.close)
        stack.enter_context(redirect_stderr(_Remarks(view)))
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        asker = LiveAsker(client, view, tasks) if asks and client is not None and sys.stdin.isatty() else None
        live = Live(view, tasks, client, asker, asks=asks)
        ticking = tasks.create_task(live.tick())
        stack.callback(ticking.cancel)
        if asker is not None:
            stack.callback(asker.keys.off)
        stack.enter_context(_stoppable(view, asker))
        yield live


@contextmanager
def _stoppable(view: LiveView, asker: LiveAsker | None) -> Generator[None]:
    """While the body runs, Ctrl-Z leaves a tidy terminal, and coming back finds the drawing again."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        view.hide()
        if asker is not None:
            asker.keys.off()
        # Stops here, and goes on here.
        os.kill(os.getpid(), signal.SIGSTOP)

    loop.add_signal_handler(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTSTP)


class _Remarks(io.TextIOBase):
    """What would be said on stderr and break the drawing is printed above it."""

    def __init__(self, view: LiveView) -> None:
        self._view = view

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Print a remark; every one of ours is whole lines."""
        if text.strip("\n"):
            self._view.remark(text.strip("\n"))
        return len(text)
