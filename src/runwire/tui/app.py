"""`runwire top`: the full-screen view. It sees runs through `client` alone, and draws what is on the screen."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import ClassVar

import msgspec
from textual.app import App
from textual.binding import Binding, BindingType
from textual.timer import Timer

from runwire.client.answers import Pane, Task
from runwire.client.client import Client
from runwire.client.render.harmless import one_line
from runwire.clock import Clock, SystemClock
from runwire.errors import GatewayError, RunwireError
from runwire.tui.board import Board
from runwire.tui.deeds import Deeds
from runwire.tui.link import Link
from runwire.tui.panes import Panes
from runwire.tui.run_view import RunView

# Panes that change together are shown together.
_GATHER_S = 0.1
_TITLES = 200


class Top(App[None]):
    """Holds what all screens share."""

    TITLE = "runwire top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]
    CSS = """
    Screen { layout: vertical; }
    .bar { height: 1; text-style: reverse; }
    #heading, #now, #scrubber, .last { height: 1; }
    #filter { height: 1; }
    ModalScreen { align: center middle; }
    .dialog { width: 92%; max-width: 110; height: auto; max-height: 90%; border: round $primary; padding: 0 1; }
    .dialog-title { height: auto; max-height: 3; }
    #about { height: auto; }
    Toast { padding: 0 1; }
    .dialog-keys { height: auto; }
    """

    def __init__(self, client: Client, link: Link, *, clock: Clock | None = None) -> None:
        """Look at the runs of the gateway that `client` calls; `link` hears when it is lost."""
        # The terminal's own sixteen colours: they are there without truecolor, over SSH, and are what its owner chose.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.client = client
        self.link = link
        self.clock = clock or SystemClock()
        self.board = Board()
        self.failure: RunwireError | None = None
        """Why it had to end, if it did not end because somebody left."""
        self._deeds = Deeds(self, client)
        self._panes = Panes(self)
        self._due: Timer | None = None
        self._asked_for: set[str] = set()

    def on_mount(self) -> None:
        """Show the list, and follow the panes."""
        self.link.changed = self._soon
        self.push_screen(self._panes)
        self.run_worker(self._follow(), group="panes")
        self.run_worker(self._titles(), group="titles")

    def open_run(self, run_id: str) -> None:
        """Open the view of one run."""
        self.run_worker(self._open(run_id), group="open", exclusive=True)

    def do(self, name: str, run_id: str, patches: Sequence[str] = ()) -> None:
        """Do something to a run, with whatever has to be asked before; one thing at a time."""
        self.run_worker(self._deeds.do(name, run_id, patches), group="deed", exclusive=True)

    def want_titles(self, run_ids: Sequence[str]) -> None:
        """See that the tasks of these runs, which somebody looks at, have a name."""
        tasks = {pane.task_id for run_id in run_ids if (pane := self.board.panes.get(run_id)) and pane.task_id}
        wanted = tasks - self.board.titles.keys() - self._asked_for
        if wanted:
            self._asked_for |= wanted
            self.run_worker(self._entitle(sorted(wanted)), group="titles")

    async def _follow(self) -> None:
        """Keep the board as the gateway tells it, for ever; the client takes a broken stream up by itself."""
        try:
            async with aclosing(self.client.watch_panes()) as items:
                async for item in items:
                    self.link.heard()
                    if isinstance(item, Pane):
                        self.board.take(item)
                    else:
                        self.board.keep(item.run_ids)
                    self._soon()
        except GatewayError as error:
            self.failure = error
            self.exit()

    def _soon(self) -> None:
        if self._due is None and self.is_running:
            self._due = self.set_timer(_GATHER_S, self._show)

    def _show(self) -> None:
        self._due = None
        stack = self.screen_stack
        # Empty when the last news come while the screens are taken down.
        if stack and stack[-1] is self._panes:
            self._panes.show_board()
        for screen in stack:
            if isinstance(screen, RunView):
                screen.pane_changed()

    async def _open(self, run_id: str) -> None:
        try:
            run = await self.client.run(run_id)
        except RunwireError as error:
            self.notify(one_line(error.message), severity="error", markup=False)
            return
        await self.push_screen(RunView(self, run), self._back)

    def _back(self, _: None) -> None:
        self._panes.show_board()

    async def _entitle(self, task_ids: Sequence[str]) -> None:
        for task_id in task_ids:
            try:
                self.board.entitle(task_id, (await self.client.task(task_id)).title)
            except RunwireError:
                # It stays without a name, until somebody looks again.
                self._asked_for.discard(task_id)
                return
        self._soon()

    async def _titles(self) -> None:
        """Learn the names of the newest tasks at once: one question instead of one for each row."""
        try:
            listed = (await self.client.tasks(limit=_TITLES)).data
        except RunwireError:
            return
        for raw in listed:
            task = msgspec.json.decode(raw, type=Task)
            self.board.entitle(task.task_id, task.title)
        self._soon()
