"""What is known of runs without their events being read: the ends of those that are written here, and the stories of others.

A story that was told once is gone on with, which costs less than to begin again.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

from runwire.journal.records import Head
from runwire.journal.story import Story

_RUNS_MAX = 4_096


class _Told(NamedTuple):
    through: int
    story: Story
    updated_ns: int


class Known:
    """The head of a run that is written here, and how far others have been told. Safe to use from any thread."""

    def __init__(self, head: Callable[[str], Head | None]) -> None:
        """Know the heads that the writer knows; no story has been told yet."""
        self.head = head
        self._kept: OrderedDict[tuple[str, int], _Told] = OrderedDict()
        self._lock = Lock()

    def go_on(self, head: Head, told: int) -> int:
        """Give the head what is known of its story past `told`; return through which event that is."""
        with self._lock:
            kept = self._kept.get(_name(head))
        # One who reads an older snapshot must not be shown what comes after it.
        if kept is None or not told < kept.through <= head.sequence:
            return told
        head.story, head.updated_ns = kept.story, kept.updated_ns
        return kept.through

    def keep(self, head: Head, told: int) -> None:
        """Remember the story of a head, which has been told through this event."""
        with self._lock:
            self._kept[_name(head)] = _Told(told, head.story, head.updated_ns)
            self._kept.move_to_end(_name(head))
            if len(self._kept) > _RUNS_MAX:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """Begin again with every run: the past of one has changed."""
        with self._lock:
            self._kept.clear()


def _name(head: Head) -> tuple[str, int]:
    """A run that was removed and has come back is another one."""
    return head.birth.run_id, head.created_ns
