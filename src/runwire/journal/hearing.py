"""Hearing: what other processes do to the store reaches this one's readers as if it had been done here."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from runwire.journal.bell.local import LocalBell
from runwire.journal.bell.process import ProcessBell
from runwire.journal.bell.watch import Watch

# What processes ring each other for, beside the topics that others invent.
_COMMITS = "commits"
_FORGET = "forget:"

Look = Callable[[], "asyncio.Future[bool]"]
"""Learn what others have committed; the result says whether the store had changed at all."""


class Hearing:
    """Rings other processes and hears them. A ring that got lost is made good by a look at the store, within a second."""

    def __init__(self, *, path: Path, bell: LocalBell, look: Look, forget: Callable[[str], None]) -> None:
        """Meet the others beside the database at `path`; `look` and `forget` are what they ask of this process."""
        self._bell = bell
        self._look = look
        self._forget = forget
        self._peers = ProcessBell(folder=path.with_name("bells"), heard=self._rung)
        self._watch = Watch(path=path, changed=self._changed)
        self._looking: asyncio.Future[bool] | None = None
        self._due: asyncio.Future[bool] | None = None
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin."""
        self._peers.open()
        self._watch.start()

    def close(self) -> None:
        """Hear nothing more."""
        self._watch.close()
        self._peers.close()

    def ring(self, topic: str) -> None:
        """Ring for a topic in the other processes."""
        self._peers.ring(topic)

    def committed(self) -> None:
        """Tell the others that there is something new."""
        self._peers.ring(_COMMITS)

    def forgotten(self, run_id: str) -> None:
        """Tell the others that a run's past has changed in the store."""
        self._peers.ring(_FORGET + run_id)

    def catch_up(self) -> "asyncio.Future[bool]":
        """See everything that was committed before this call. One look is under way at most, and one more due."""
        if self._looking is None:
            self._looking = self._look()
            self._looking.add_done_callback(self._looked)
            return self._looking
        # What has been committed since that look began may have escaped it.
        if self._due is None:
            self._due = self._loop.create_future()
        return self._due

    def _looked(self, looked: "asyncio.Future[bool]") -> None:
        self._looking = None
        # A store that cannot be read now is looked at again when it has changed; appends tell what is wrong with it.
        if not looked.cancelled():
            looked.exception()
        due, self._due = self._due, None
        if due is not None:
            self.catch_up().add_done_callback(lambda done: _copy(done, due))

    def _rung(self, topic: str) -> None:
        if topic == _COMMITS:
            self.catch_up()
        elif topic.startswith(_FORGET):
            self._forget(topic.removeprefix(_FORGET))
        else:
            self._bell.signal(topic)

    def _changed(self) -> None:
        self._peers.look()
        self.catch_up().add_done_callback(self._found)

    def _found(self, looked: "asyncio.Future[bool]") -> None:
        # Nobody knows what the change was about, so everybody looks.
        if not looked.cancelled() and looked.exception() is None and looked.result():
            self._bell.ring_all()


def _copy(done: "asyncio.Future[bool]", to: "asyncio.Future[bool]") -> None:
    if to.done() or done.cancelled():
        return
    failure = done.exception()
    if failure is None:
        to.set_result(done.result())
    else:
        to.set_exception(failure)
        to.exception()
