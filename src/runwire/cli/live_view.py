"""A run on a terminal while it happens: what is over scrolls away, what goes on is drawn below it."""

from collections.abc import Callable, Iterable

from rich.segment import Segment
from rich.style import Style

from runwire.cli import markdown
from runwire.cli.screen import Row, Screen
from runwire.client.render.blocks import Approval, Block, Edit, End, Prose, Thinking, Todo, Tool, User, told_elsewhere
from runwire.client.render.cells import cells, clip
from runwire.client.render.drawing import Drawing
from runwire.client.render.harmless import plain, plain_text
from runwire.client.render.money import dollars
from runwire.client.render.text import CALM, FULL, Detail, Line, duration, lines_of, many, spinner

_STYLES = {
    "prose": "none",
    "thinking": "dim italic",
    "user": "bold cyan",
    "title": "none",
    "dim": "dim",
    "running": "cyan",
    "ok": "green",
    "bad": "red",
    "warn": "yellow",
    "info": "dim",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
    "output": "dim",
    "question": "bold yellow",
    "done": "dim strike",
    "doing": "yellow",
    "due": "none",
    "opaque": "dim",
}
_LOOKS = {name: Style.parse(look) for name, look in _STYLES.items()}
_BAR = 10
_TODOS = 8
# So much of a growing text is drawn anew each time, and so much of it may wait until it is known how it is meant.
_SEEN_CHARS = 16_000
_UNSETTLED_CHARS = 64_000
_HEAD = Detail(diff=0)
_APART = (Prose, User, End)


class LiveView:
    """Draws one run. `paint` says it all; taking events in only notes them, so that a flood of them costs little."""

    def __init__(self, screen: Screen, *, now_ns: Callable[[], int]) -> None:
        """Draw on `screen`; `now_ns` is the present moment in the time of the events."""
        self.drawing = Drawing()
        self.held: set[int] = set()
        """Edits that wait for their diff, by index."""
        self.keys = ""
        """What can be typed now, while somebody is asked."""
        self._screen = screen
        self._now_ns = now_ns
        self._next = 0
        self._said = 0
        self._last: type[Block] | None = None
        self._later: list[Row] = []

    def take(self, envelope: bytes) -> Block | None:
        """Take in an event; the block that it made or changed."""
        block = self.drawing.take(envelope)
        if isinstance(block, Edit) and block.index < self._next and not block.open:
            self._later += self._rows(block, _HEAD)
        return block

    def explain(self, question: Approval) -> None:
        """Print all there is to know about a question, so that it can be scrolled through."""
        self._later += [[], *self._rows(question, FULL)]
        if question.effects:
            self._later.append(_row([(f"  it {', '.join(question.effects)}", "dim")]))
        if question.expires_at:
            self._later.append(_row([(f"  the question ends at {plain(question.expires_at[:19])}Z", "dim")]))
        for key, what in _KEYS:
            self._later.append(_row([(f"  {key}  {what}", "dim")]))

    def remark(self, text: str) -> None:
        """Print something that is no part of the run."""
        self._later += [_row([(clip(line, self._screen.width), "dim")]) for line in plain_text(text).split("\n")]

    def paint(self) -> None:
        """Bring the screen up to date."""
        self._screen.paint(self._stays(), self._goes_on())

    def close(self) -> None:
        """Print what there is, over or not, and leave the terminal as it was."""
        stays = self._stays()
        for block in self.drawing.blocks[self._next :]:
            if not told_elsewhere(block) and not isinstance(block, Todo):
                stays += self._apart(block) + self._rest(block)
            self._said = 0
        self._next = len(self.drawing.blocks)
        self._screen.paint(stays, ())
        self._screen.clear()

    def hide(self) -> None:
        """Leave the terminal to somebody else until the next `paint`."""
        self._screen.clear()

    def _stays(self) -> list[Row]:
        """What is over since the last time."""
        rows, blocks = self._later, self.drawing.blocks
        self._later = []
        while self._next < len(blocks) and self._is_over(blocks[self._next]):
            block = blocks[self._next]
            self._next += 1
            if not told_elsewhere(block) and not isinstance(block, Todo):
                rows += self._apart(block) + self._rest(block)
            self._said = 0
        if self._next < len(blocks):
            rows += self._settled(blocks[self._next])
        return rows

    def _is_over(self, block: Block) -> bool:
        if isinstance(block, Edit):
            return block.index not in self.held and (not block.open or block.waits or self.drawing.end is not None)
        return isinstance(block, Todo) or not block.open

    def _settled(self, block: Block) -> list[Row]:
        """The part of a growing text that stays as it is, so that however much is said, little is drawn anew."""
        if not isinstance(block, Prose) or isinstance(block, Thinking):
            return []
        text = block.text[self._said :]
        end = markdown.settled(text) or (text.rfind("\n") + 1 if len(text) > _UNSETTLED_CHARS else 0)
        if not end:
            return []
        rows = self._apart(block) + markdown.rows_of(text[:end], self._screen.console, self._screen.width)
        self._said += end
        return rows

    def _rest(self, block: Block) -> list[Row]:
        todo = self.drawing.todo
        if isinstance(block, End) and todo is not None and todo.items:
            return [*self._rows(todo, CALM), [], *self._rows(block, CALM)]
        return self._rows(block, CALM)

    def _rows(self, block: Block, detail: Detail) -> list[Row]:
        width = self._screen.width
        if isinstance(block, Prose) and not isinstance(block, Thinking):
            rows: list[Row] = list(markdown.rows_of(block.text[self._said :], self._screen.console, width))
            return [*rows, _row([("… broken off", "warn")])] if block.broken else rows
        return [_styled(line) for line in lines_of(block, width, now_ns=self._now_ns(), detail=detail)]

    def _growing(self, block: Block) -> list[Row]:
        """What is not over; of a long text only the end, which is all there is room for."""
        if not isinstance(block, Prose) or isinstance(block, Thinking):
            return self._rows(block, CALM)
        said = self._said if block.index == self._next else 0
        text = block.text[said:][-_SEEN_CHARS:]
        return list(markdown.rows_of(text, self._screen.console, self._screen.width))

    def _apart(self, block: Block) -> list[Row]:
        """An empty line where what is said meets what is done."""
        last, self._last = self._last, type(block)
        return [[]] if last is not None and (isinstance(block, _APART) or issubclass(last, _APART)) else []

    def _goes_on(self) -> list[Row]:
        """What is not over: as much of its end as fits, the list of what is to be done, and where the run stands."""
        body: list[Row] = []
        last = self._last
        for block in self.drawing.blocks[self._next :]:
            if not told_elsewhere(block) and not isinstance(block, Todo):
                body += self._apart(block) + self._growing(block)
        self._last = last
        foot = self._foot()
        room = max(self._screen.height - len(foot) - 1, 1)
        return [*body[-room:], *foot]

    def _foot(self) -> list[Row]:
        foot: list[Row] = [_row([(clip(self.keys, self._screen.width), "question")])] if self.keys else []
        todo = self.drawing.todo
        if todo is not None and todo.items and self._screen.height > _TODOS + len(foot) + 4:
            rows = self._rows(todo, CALM)
            # What is done already makes room for what is not.
            done = sum(status == "completed" for _, status in todo.items)
            start = min(max(done - 1, 0), max(len(rows) - _TODOS, 0))
            foot += [[], *rows[start : start + _TODOS]]
            if len(rows) > _TODOS:
                foot.append(_row([(f"  {done} of {len(rows)} done", "dim")]))
        return [*foot, [], self._standing()]

    def _standing(self) -> Row:
        """What the agent does, and what it has used."""
        run, now_ns = self.drawing.run, self._now_ns()
        since_ns = run.started_ns or run.queued_ns or now_ns
        facts = [duration(now_ns - since_ns)]
        if run.turns:
            facts.append(many(run.turns, "turn"))
        if run.input_tokens + run.output_tokens:
            facts.append(many(run.input_tokens + run.output_tokens, "token"))
        facts.append(_money(run.cost_micros_usd, run.budget_micros_usd, run.budget_remaining_micros_usd))
        tail = " · ".join(facts)
        mark = ("? ", "question") if self.drawing.pending else (f"{spinner(now_ns)} ", "running")
        room = self._screen.width - 4
        doing = clip(self._doing(), max(room - cells(tail), room // 3))
        return _row([mark, (doing, "title"), (f"  {clip(tail, room - cells(doing))}", "dim")])

    def _doing(self) -> str:
        """What the agent does, in a word where the lines above say more."""
        names = [block.name for block in self.drawing.blocks[self._next :] if isinstance(block, Tool) and block.open]
        if names and not self.drawing.pending:
            return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        return plain(self.drawing.pane.doing) or "waiting"


_KEYS = (
    ("y", "let it happen, this once"),
    ("n", "do not let it happen; the run goes on"),
    ("e", "change what it does in your editor, then let that happen"),
    ("a", "let it happen now and always, here and by this agent"),
    ("s", "do not let it happen, and stop the run"),
    ("?", "this"),
)
KEYS_LINE = "  y yes · n no · e edit · a always · s stop the run · ? more"


def _styled(line: Line) -> Row:
    return _row(line)


def _row(parts: Iterable[tuple[str, str]]) -> Row:
    return [Segment(text, _LOOKS[style]) for text, style in parts]


def _money(cost: int, budget: int | None, remaining: int | None) -> str:
    if not budget:
        return dollars(cost)
    spent = cost if remaining is None else budget - remaining
    full = min(max(round(_BAR * spent / budget), 0), _BAR)
    return f"{dollars(spent)} of {dollars(budget)} {'▰' * full}{'▱' * (_BAR - full)}"
