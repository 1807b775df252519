"""A run that an editor is told of, from its first event to its end."""

import asyncio
import sys
import traceback
from collections import Counter
from contextlib import aclosing

from runwire.acp.asking import Asking
from runwire.acp.insisting import insist
from runwire.acp.peer import Peer
from runwire.acp.telling import Telling
from runwire.acp.updates import Update
from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.client.items import Event, Synced
from runwire.client.render.blocks import Edit, User
from runwire.errors import RunwireError

_DIFF_S = 5.0


class Audience:
    """An editor with one session open, and what its person has said there already."""

    def __init__(self, *, client: Client, peer: Peer, session_id: str, root: str) -> None:
        """Tell it of runs that work below `root`."""
        self.client = client
        self.peer = peer
        self.session_id = session_id
        self.root = root
        self.said: Counter[str] = Counter()
        """What was said from here and has not come back as an event; the editor shows it already."""

    async def tell(self, update: Update) -> None:
        """Tell it something, when it has read most of what came before."""
        await self.peer.notify("session/update", {"sessionId": self.session_id, "update": update})


class Following:
    """One run, told as it happens."""

    def __init__(self, audience: Audience, run: Run, *, ours: bool) -> None:
        """Follow `run`; when it is `ours`, the editor has shown its prompt and has seen nothing else of it."""
        self.run = run
        self.telling = Telling(root=audience.root, live=ours)
        self.stopping = False
        self.synced = asyncio.Event()
        """Set when the past has been told."""
        self.over = asyncio.Event()
        """Set when nothing more will be told."""
        self.heard = 0
        """How often somebody was heard, its own prompt included."""
        self.failure: RunwireError | None = None
        """Why it could not be followed to the end."""
        self._audience = audience
        self._prompt_shown = ours
        self._asking = Asking(
            client=audience.client,
            peer=audience.peer,
            session_id=audience.session_id,
            telling=self.telling,
            stopping=lambda: self.stopping,
        )

    @property
    def is_completed(self) -> bool:
        """Whether it has come to its end by itself."""
        return self.telling.drawing.run.status == "completed"

    async def follow(self) -> None:
        """Tell all of it, and ask what it asks."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._follow(tasks)
        except* RunwireError as failures:
            self.failure = _first(failures)
        except* Exception:  # noqa: BLE001 - what goes wrong with one run must not end the others
            traceback.print_exc(file=sys.stderr)
            self.failure = RunwireError("the run could not be followed here", hint="stderr says why; it goes on")
        finally:
            self.synced.set()
            self.over.set()

    async def replay(self, through: int) -> None:
        """Tell what it was, up to a sequence."""
        async with aclosing(self._audience.client.events(self.run.run_id)) as items:
            async for item in items:
                if isinstance(item, Synced) or item.sequence > through:
                    return
                await self._tell(item)

    async def stop(self) -> None:
        """Have it end, however long it takes for that to be heard."""
        if self.stopping or self.over.is_set():
            return
        self.stopping = True
        await insist(
            lambda: self._audience.client.cancel(self.run, reason="cancelled in the editor"),
            f"{self.run.run_id} was not cancelled",
        )

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        async with aclosing(self._audience.client.events(self.run.run_id)) as items:
            async for item in items:
                if isinstance(item, Event):
                    await self._tell(item)
                else:
                    for update in self.telling.catch_up():
                        await self._audience.tell(update)
                    self.synced.set()
                if self.synced.is_set():
                    self._asking.settle(self.telling.drawing.pending, tasks)
        self._asking.settle((), tasks)

    async def _tell(self, event: Event) -> None:
        block = self.telling.draw(event.envelope)
        if isinstance(block, User):
            self.heard += 1
            if self._shown(block):
                return
        if isinstance(block, Edit) and block.diff is None:
            await self._fetch(block)
        for update in self.telling.tell(event.envelope, block):
            await self._audience.tell(update)

    def _shown(self, block: User) -> bool:
        """Whether the person who said it sits at this editor."""
        if self._prompt_shown:
            self._prompt_shown = False
            return True
        if not self._audience.said[block.text]:
            return False
        self._audience.said[block.text] -= 1
        return True

    async def _fetch(self, block: Edit) -> None:
        """Get the change itself. Without it, the edit is told all the same."""
        try:
            async with asyncio.timeout(_DIFF_S):
                diff = await self._audience.client.diff(block.artifact_ids)
        except (RunwireError, TimeoutError):
            return
        self.telling.drawing.show_diff(block.artifact_ids, diff)


def _first(failures: ExceptionGroup[RunwireError]) -> RunwireError:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
