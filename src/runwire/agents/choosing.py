"""An agent that speaks more than one dialect: the first frame that tells them apart says which it is."""

from collections.abc import Callable, Sequence

import msgspec

from runwire.agents.dialect import Dialect, Outcome, Seen, StreamEnd, Telling
from runwire.agents.telling import Teller

Make = Callable[[Telling], Dialect]
Tells = Callable[[dict[str, object]], bool]
"""Looks at a frame that is an object and says whether it is of the dialect."""

_OBJECT = msgspec.json.Decoder(dict[str, object])


class Choosing:
    """Stands for a dialect until the stream shows which one it is. Not for speaking: who speaks knows what to."""

    def __init__(self, telling: Telling, choices: Sequence[tuple[Tells, Make]], otherwise: Make) -> None:
        """Choose the first whose test a frame passes; frames that pass none are read by `otherwise`."""
        self._telling = telling
        self._choices = choices
        self._chosen: Dialect = otherwise(telling)
        self._is_settled = False

    @property
    def teller(self) -> Teller:
        """The teller of the dialect that was chosen."""
        return self._chosen.teller

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:
        """Take one frame."""
        if not self._is_settled:
            self._look(data)
        return self._chosen.feed(data, at_ns, name)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        return self._chosen.end(end, at_ns)

    def _look(self, data: bytes) -> None:
        try:
            frame = _OBJECT.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        self._is_settled = True
        make = next((make for tells, make in self._choices if tells(frame)), None)
        if make is not None:
            told = self._chosen.teller.take()
            self._chosen = make(self._telling)
            # What came before any frame that could be read was junk, and is told as that.
            self._chosen.teller.say_again(told)


def is_rpc(frame: dict[str, object]) -> bool:
    """Whether a frame is one of JSON-RPC, with or without the member that says so."""
    return "jsonrpc" in frame or "method" in frame or ("id" in frame and ("result" in frame or "error" in frame))
