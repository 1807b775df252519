"""The keys: one table that the screens bind, the footer shows and the help explains."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from runwire.tui.pager import Pager
from runwire.tui.rows import Piece

DEEDS: list[BindingType] = [
    Binding("a", "deed('approve')", "Approve"),
    Binding("d", "deed('deny')", "Deny"),
    Binding("f", "deed('diff')", "Diff"),
    Binding("p", "deed('apply')", "Apply"),
    Binding("r", "deed('reject')", "Reject"),
    Binding("v", "deed('revert')", "Revert"),
    Binding("s", "deed('say')", "Say"),
    Binding("c", "deed('cancel')", "Cancel"),
    Binding("slash", "filter", "Filter"),
    Binding("question_mark", "help", "Help"),
]

Key = tuple[str, str]
"""A key as it is written on the keyboard, and what it does in a word."""

DECIDE: tuple[Key, ...] = (("a", "Approve"), ("d", "Deny"))
SETTLE: tuple[Key, ...] = (("p", "Apply"), ("r", "Reject"), ("v", "Revert"))
STEER: tuple[Key, ...] = (("s", "Say"), ("c", "Cancel"))
_HELP_KEY: Key = ("?", "Help")

_HELP = """\
Everywhere
  up down pgup pgdn  move; home and end go to the first and the last
  enter              open a run; the raw JSON of an event
  a d                approve or deny what the run asks for, with a comment
  f                  diff: the patch at the cursor, or all that was changed
  p r v              apply, reject, revert a patch: the one at the cursor,
                     or one of a list
  s                  say something to a live run
  c                  cancel a run
  /                  filter; an empty one shows everything again
  ?                  this help
  esc                back
  q                  leave; runs go on

The list of runs
  Those that need somebody come first: that ask, that are silent for too
  long, that failed. Then those at work, those that wait, those that are done.

A run
  t                  from the timeline of events to the story, and back
  left right         back and forth by a hundredth of the run
  home end           its beginning and its end, where a live run is followed
  space              replay from here at the pace of the run, and stop;
                     long silences are shortened
  - +                slower, faster
  /                  words find text; type:tool.shell.*,run.* finds types;
                     both may be given

Dialogs
  enter              do it
  esc                leave it
  ctrl+o             how: for how long an approval holds, whether a denial
                     ends the run
  pgup pgdn          read all of what is asked
"""


def help_screen() -> Pager:
    """What every key does."""
    lines: list[Piece] = [(line, "" if line.startswith(" ") else "bold") for line in _HELP.splitlines()]
    return Pager("Keys", lines)


class KeyLine(Static):
    """The last line of a screen: the keys that matter here, as many as fit, and the one that explains all of them."""

    DEFAULT_CSS = "KeyLine { height: 1; dock: bottom; }"

    def offer(self, keys: Sequence[Key], width: int) -> None:
        """Show these keys, the first ones first."""
        room = width - _cells(_HELP_KEY)
        line = Text(no_wrap=True, overflow="crop")
        for key in keys:
            room -= _cells(key)
            if room < 0:
                break
            _append(line, key)
        _append(line, _HELP_KEY)
        self.update(line)


def _append(line: Text, key: Key) -> None:
    line.append(key[0], style="bold magenta")
    line.append(f" {key[1]}  ")


def _cells(key: Key) -> int:
    return len(key[0]) + len(key[1]) + 3


class Keyed(Screen[None]):
    """A screen with the keys that all of them have."""

    BINDINGS: ClassVar[list[BindingType]] = [*DEEDS]

    def action_help(self) -> None:
        """Explain the keys."""
        self.app.push_screen(help_screen())
