"""Every run at a glance, those that need somebody first. Pure."""

from collections.abc import Collection

from runwire.client.answers import Pane
from runwire.client.render.harmless import one_line
from runwire.client.render.money import dollars
from runwire.client.render.text import many
from runwire.clock import parse_rfc3339
from runwire.tui.rows import Piece, fitted
from runwire.tui.telling import ago

_RANKS = {"blocked": 0, "error": 2, "working": 3, "idle": 4, "done": 5}
_STALLED = 1
_UNKNOWN = 6
_LOOKS = {"blocked": "warn", "stalled": "warn", "error": "bad", "working": "running", "done": "ok"}
_NS = 1_000_000_000

# Mark and state, agent, age, cost, and a space behind each.
_STATE, _AGENT, _AGE, _COST = 9, 8, 4, 8
_FIXED = 2 + _STATE + 1 + _AGENT + 1 + _AGE + 1 + _COST + 2


class Board:
    """Panes in the order in which they are shown."""

    def __init__(self) -> None:
        self.panes: dict[str, Pane] = {}
        self.titles: dict[str, str] = {}
        """What tasks are called, as far as somebody has looked."""
        self.shown: list[str] = []
        """The runs that the filter lets through, in order."""
        self.sought = ""
        self._sorted = True

    def take(self, pane: Pane) -> None:
        """A pane is like this now."""
        self.panes[pane.run_id] = pane
        self._sorted = False

    def keep(self, run_ids: Collection[str]) -> None:
        """Forget every other run."""
        self.panes = {run_id: pane for run_id, pane in self.panes.items() if run_id in run_ids}
        self._sorted = False

    def seek(self, text: str) -> None:
        """Show only the runs in which every word occurs."""
        self.sought = text.lower()
        self._sorted = False

    def sort(self) -> None:
        """Put them in order, if anything has changed."""
        if not self._sorted:
            words = self.sought.split()
            chosen = [pane for pane in self.panes.values() if all(word in self._text(pane) for word in words)]
            # Of those alike, what changed last comes first; that does not move while nothing happens to a run.
            chosen.sort(key=lambda pane: (pane.since or "", pane.run_id), reverse=True)
            chosen.sort(key=_rank)
            self.shown = [pane.run_id for pane in chosen]
            self._sorted = True

    def entitle(self, task_id: str, title: str) -> None:
        """A task is called this."""
        self.titles[task_id] = one_line(title, 200)
        self._sorted = not self.sought and self._sorted

    def title(self, run_id: str) -> str:
        """What a run is about, on one safe line; its own id where nobody said."""
        pane = self.panes.get(run_id)
        return self.titles.get(pane.task_id or "" if pane else "") or one_line(run_id)

    def counts(self) -> str:
        """How many there are of which kind."""
        panes = self.panes.values()
        need = sum(pane.attention for pane in panes)
        work = sum(pane.state == "working" and not pane.attention for pane in panes)
        return f"{need} need you · {work} working · {many(len(panes), 'run')}"

    def pieces(self, run_id: str, width: int, now_ns: int) -> list[Piece]:
        """A pane as a row."""
        pane = self.panes[run_id]
        state = state_of(pane)
        left = max(10, width - _FIXED)
        task = min(48, left * 45 // 100)
        return [
            ("! " if pane.attention else "  ", "bad"),
            (f"{fitted(one_line(state, _STATE), _STATE)} ", _LOOKS.get(state, "dim")),
            (f"{fitted(one_line(pane.agent, 40), _AGENT)} ", ""),
            (f"{fitted(self.title(run_id), task)} ", "bold" if pane.attention else ""),
            (f"{fitted(doing(pane), left - task)} ", "dim" if state == "done" else ""),
            (f"{age(pane, now_ns):>{_AGE}} ", "dim"),
            (f"{dollars(pane.cost_micros_usd):>{_COST}}", "dim"),
        ]

    @staticmethod
    def heading(width: int) -> str:
        """The names of the columns."""
        left = max(10, width - _FIXED)
        task = min(48, left * 45 // 100)
        names = [fitted("STATE", _STATE), fitted("AGENT", _AGENT), fitted("TASK", task), fitted("NOW", left - task)]
        return f"  {' '.join(names)} {'AGE':>{_AGE}} {'COST':>{_COST}}"

    def _text(self, pane: Pane) -> str:
        return f"{pane.run_id} {pane.agent} {state_of(pane)} {pane.doing} {self.title(pane.run_id)}".lower()


def state_of(pane: Pane) -> str:
    """The state in a word; silence for too long is one of its own."""
    return "stalled" if pane.stalled else pane.state


def doing(pane: Pane) -> str:
    """What it does, or why it needs somebody, on one safe line."""
    said = pane.reason if pane.attention and pane.reason else pane.doing or pane.reason
    return one_line(said or pane.last_event_type, 200)


def age(pane: Pane, now_ns: int) -> str:
    """How long it has been in its state."""
    try:
        since = parse_rfc3339(pane.since or pane.last_event_at)
    except ValueError:
        return ""
    return ago((now_ns - since) / _NS)


def _rank(pane: Pane) -> int:
    if pane.stalled and pane.state != "blocked":
        return _STALLED
    return _RANKS.get(pane.state, _UNKNOWN)
