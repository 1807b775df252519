"""One run: its events as a timeline or as a story, followed while it lives, replayed once it is over."""

from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import Worker

from runwire.client.answers import Run
from runwire.client.items import Event
from runwire.client.render.harmless import one_line
from runwire.client.render.money import dollars
from runwire.errors import GatewayError
from runwire.protocol.envelope import sequence_of, type_of
from runwire.tui.board import doing
from runwire.tui.keys import DECIDE, SETTLE, STEER, Keyed, KeyLine
from runwire.tui.log import Log, Sought
from runwire.tui.pager import Pager, text_lines
from runwire.tui.player import Player
from runwire.tui.rows import Rows
from runwire.tui.scrubber import Place, scrubber
from runwire.tui.story import Story
from runwire.tui.telling import patches_of
from runwire.tui.timeline import Timeline

if TYPE_CHECKING:
    from runwire.tui.app import Top

# What comes in a burst is shown together.
_GATHER_S = 0.05
_HUNDREDTH = 100


class RunView(Keyed):
    """Everything about one run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "story", "Story"),
        Binding("space", "play", "Play", show=False),
        Binding("left", "jump(-1)", "Back", show=False),
        Binding("right", "jump(1)", "Forth", show=False),
        Binding("home", "ends(0)", "Beginning", show=False, priority=True),
        Binding("end", "ends(1)", "End", show=False, priority=True),
        Binding("minus", "speed(-1)", "Slower", show=False),
        Binding("plus,equals_sign", "speed(1)", "Faster", show=False),
        Binding("escape", "back", "Back", key_display="esc"),
        Binding("q", "app.quit", "Quit", show=False),
    ]

    def __init__(self, top: "Top", run: Run) -> None:
        """Show this run from its end."""
        super().__init__()
        self.run_id = run.run_id
        self._top = top
        self._run = run
        self.record = Log(top.client, run.run_id)
        self.timeline = Timeline(self.record, troubled=self._failed)
        self.story = Story(top.client, run.run_id, id="story")
        self.player = Player(self.timeline, self.show)
        self._sought: Sought | None = None
        self._scanned: int | None = None
        self._due: Timer | None = None
        self._replay: Worker[None] | None = None
        self._alive = not run.finished

    def compose(self) -> ComposeResult:
        """What run it is, its events, where one stands in it, and the keys."""
        yield Static(id="run", classes="bar")
        yield Static(id="now")
        yield self.timeline
        yield self.story
        yield Input(placeholder="words, and type:tool.shell.*,run.*", id="filter", compact=True)
        yield Static(id="scrubber")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Open the log where it ends, and follow it."""
        self.query_one("#filter").display = False
        self.story.display = False
        self.timeline.focus()
        self.run_worker(self._open(), group="open")

    async def _open(self) -> None:
        try:
            await self.record.open()
        except GatewayError as error:
            self._failed(error)
            return
        self.timeline.show()
        self.show()
        self.run_worker(self.timeline.keep_reading(), group="reading")
        self.run_worker(self.story.keep_telling(self._failed), group="telling")
        self.run_worker(self._follow(), group="following")

    async def _follow(self) -> None:
        """Take in what comes until the run is over; the client takes a broken stream up by itself."""
        try:
            async with aclosing(self._top.client.events(self.run_id, after=self.record.head)) as items:
                async for item in items:
                    self._top.link.heard()
                    if isinstance(item, Event) and not self.record.add(item.sequence, item.envelope, self._sought):
                        # Retention was faster than the stream.
                        await self.record.open()
                    self._soon()
            self._alive = False
            self._run = await self._top.client.run(self.run_id)
        except GatewayError as error:
            self._failed(error)
        self._soon()

    def pane_changed(self) -> None:
        """The gateway tells that the run has grown, be it over or not: patches are settled late, too."""
        pane = self._top.board.panes.get(self.run_id)
        if pane is not None and not self._alive and pane.head_sequence > self.record.head:
            self.record.grow(pane.head_sequence)
        self._soon()

    def _soon(self) -> None:
        if self._due is None and self.is_running:
            self._due = self.set_timer(_GATHER_S, self._grown)

    def _grown(self) -> None:
        self._due = None
        self.timeline.show()
        self._retell()
        self.show()

    def show(self) -> None:
        """Bring everything but the events themselves up to date."""
        if not (self.is_mounted and self.is_running):
            return
        self.query_one("#run", Static).update(self._title())
        self.query_one("#now", Static).update(self._now())
        timeline = self.timeline
        place = Place(
            row=timeline.cursor,
            rows=len(self.record),
            envelope=timeline.envelope,
            began=self._run.created_at,
            alive=self._alive,
            following=timeline.following,
            playing=self.player.playing,
            speed=self.player.speed,
        )
        self.query_one("#scrubber", Static).update(scrubber(place, self.size.width))
        self._offer()

    def _offer(self) -> None:
        pane, envelope = self._top.board.panes.get(self.run_id), self.timeline.envelope
        asks = pane is not None and pane.state == "blocked"
        patch = envelope is not None and bool(patches_of(envelope))
        first = [*(DECIDE if asks else ()), *(SETTLE if patch else ())]
        replay = () if self._alive else (("space", "Play"),)
        views = [("t", "Timeline")] if self.story.display else [("enter", "JSON"), ("t", "Story")]
        looking = [*views, ("/", "Filter"), *replay, ("f", "Diff")]
        steering = [*(STEER if self._alive else ()), ("esc", "Back")]
        rest = [*(() if patch else SETTLE), ("- +", "Speed"), *(() if asks else DECIDE)]
        self.query_one(KeyLine).offer([*first, *looking, *steering, *rest], self.size.width)

    def _title(self) -> Text:
        pane = self._top.board.panes.get(self.run_id)
        status, cost = (self._run.status, self._run.cost_micros_usd)
        if pane is not None:
            status, cost = pane.status, pane.cost_micros_usd
        line = Text(no_wrap=True, overflow="ellipsis")
        look = {"completed": "green", "failed": "red", "cancelled": "yellow", "awaiting_approval": "yellow"}
        line.append(f"{one_line(status)} ", style=f"bold {look.get(status, 'cyan')}")
        line.append(f"{one_line(self._run.agent)} {dollars(cost)}  ")
        line.append(self._top.board.title(self.run_id), style="bold")
        line.append(f"  {one_line(self.run_id)}", style="dim")
        return line

    def _now(self) -> Text:
        pane = self._top.board.panes.get(self.run_id)
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._top.link.trouble:
            line.append(self._top.link.trouble, style="bold yellow")
        elif pane is not None and pane.state == "blocked":
            line.append(f"a approves, d denies: {doing(pane)}", style="bold yellow")
        elif self._sought is not None:
            far = (
                "" if self._scanned is None else f", read {100 * (self._scanned + 1) // max(1, self.record.head + 1)} %"
            )
            words = " ".join(filter(None, [self._sought.text, self._sought.types and f"type:{self._sought.types}"]))
            line.append(
                f"filter: {one_line(words)}  {len(self.record)} of {self.record.head + 1} events{far}", style="yellow"
            )
        elif pane is not None:
            line.append(doing(pane), style="dim")
        return line

    # Moving

    @on(Rows.Moved)
    def _moved(self) -> None:
        self._retell()
        self.show()

    def action_jump(self, by: int) -> None:
        """Go a hundredth of the run back or forth."""
        self._scrub(self.timeline.cursor + by * max(1, self.timeline.count // _HUNDREDTH))

    def action_ends(self, last: int) -> None:
        """Go to the beginning or to the end."""
        if isinstance(self.focused, Input):
            (self.focused.action_end if last else self.focused.action_home)()
            return
        self._scrub(self.timeline.count - 1 if last else 0)

    def _scrub(self, row: int) -> None:
        self.player.playing = False
        self.timeline.go(row)
        self.timeline.rewound = self.timeline.cursor < self.timeline.count - 1
        self.timeline.refresh()
        self.show()

    def action_play(self) -> None:
        """Replay from here, or stop."""
        if self.player.playing:
            self.player.playing = False
            return
        if self.timeline.cursor >= self.timeline.count - 1:
            self.timeline.go(0)
        self._replay = self.run_worker(self.player.play(), group="replay", exclusive=True)

    def action_speed(self, steps: int) -> None:
        """Replay slower or faster."""
        self.player.faster(steps)

    # Looking

    def action_story(self) -> None:
        """From the timeline to the story, and back."""
        told = not self.story.display
        self.story.display, self.timeline.display = told, not told
        (self.story if told else self.timeline).focus()
        self._retell()
        self.show()

    def _retell(self) -> None:
        if self.story.display and len(self.record):
            self.story.aim(self.record.sequence(min(self.timeline.cursor, len(self.record) - 1)))

    @on(Rows.Chosen)
    def _raw(self) -> None:
        """The stored bytes of the event at the cursor, set out for reading."""
        envelope = self.timeline.envelope
        if envelope is not None and self.timeline.display:
            title = f"{sequence_of(envelope)}  {type_of(envelope)}"
            text = msgspec.json.format(envelope, indent=2).decode("utf-8", "replace")
            self.app.push_screen(Pager(title, text_lines(text)))

    def action_deed(self, name: str) -> None:
        """Do something to this run, or to the patch at the cursor."""
        envelope = self.timeline.envelope
        self._top.do(name, self.run_id, () if envelope is None else patches_of(envelope))

    def action_filter(self) -> None:
        """Type a filter."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    @on(Input.Submitted, "#filter")
    def _filtered(self, event: Input.Submitted) -> None:
        self.query_one("#filter").display = False
        (self.story if self.story.display else self.timeline).focus()
        try:
            sought = Sought.of(event.value)
        except ValueError as wrong:
            self.app.notify(one_line(str(wrong)), severity="error", markup=False)
            return
        self._sought = sought
        self.timeline.rewound = False
        if sought is None:
            self._all_again()
        else:
            self.run_worker(self._seek(sought), group="filter", exclusive=True)

    def _all_again(self) -> None:
        stood = self.record.sequence(self.timeline.cursor) if len(self.record) else self.record.head
        self.workers.cancel_group(self, "filter")
        self._sought = self._scanned = None
        self.record.forget_filter()
        self.timeline.following = stood >= self.record.head
        self.timeline.show()
        self.timeline.place(self.record.row(stood))
        self.show()

    async def _seek(self, sought: Sought) -> None:
        self.timeline.following = False

        def progress(after: int) -> None:
            self._scanned = after
            self.timeline.show()
            self.show()

        try:
            await self.record.seek(sought, progress)
        except GatewayError as error:
            self._failed(error)
        self._scanned = None
        self.timeline.go(0)
        self.show()

    def action_back(self) -> None:
        """Out of the filter, then out of the run."""
        field = self.query_one("#filter", Input)
        if field.display:
            field.display = False
            self.timeline.focus()
        elif self._sought is not None:
            self._all_again()
        else:
            self.dismiss()

    def _failed(self, error: GatewayError) -> None:
        self.app.notify(one_line(error.message), severity="error", markup=False)
