"""Bytes of an agent's own stream in, what happened out: as items, as envelopes, or as the lines of a glass pane. Pure."""

from collections.abc import Iterator

from runwire.agents.codec.framing import Framer
from runwire.agents.dialect import Cancelled, Dialect, Item, Outcome, StreamEnd
from runwire.agents.glasspane import Pane, shown
from runwire.clock import rfc3339
from runwire.host import Failed, Finished
from runwire.ids import Ids
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.agent import LATE, AgentUnparsed
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunQueued, RunStarted
from runwire.protocol.payload import Opaque, Payload, encode_payload

WATCHER = "ingest"
"""The worker that a run has whose agent we only watch."""


class Normaliser:
    """Makes items of a stream, whatever pieces its bytes come in."""

    def __init__(self, dialect: Dialect) -> None:
        """Read the stream as this dialect."""
        self.dialect = dialect
        self._framer = Framer()

    def feed(self, piece: bytes, at_ns: int) -> list[Item]:
        """Take the next bytes; what they tell, in order."""
        feed = self.dialect.feed
        for frame in self._framer.feed(piece):
            feed(frame.data, at_ns, frame.name)
        return self.dialect.teller.take()

    def end(self, end: StreamEnd, at_ns: int) -> tuple[list[Item], Outcome]:
        """The stream is over: what was left, and how it ended."""
        for frame in self._framer.end():
            self.dialect.feed(frame.data, at_ns, frame.name)
        outcome = self.dialect.end(end, at_ns)
        return self.dialect.teller.take(), outcome

    def watch(self, piece: bytes, at_ns: int, pane: Pane) -> Iterator[str]:
        """Take the next bytes; each frame as a line of the pane."""
        for frame in self._framer.feed(piece):
            yield self._watched(frame.data, at_ns, frame.name, pane)

    def watch_end(self, at_ns: int, pane: Pane) -> Iterator[str]:
        """The stream is over; the frame that was left, if one was."""
        for frame in self._framer.end():
            yield self._watched(frame.data, at_ns, frame.name, pane)

    def _watched(self, data: bytes, at_ns: int, name: str, pane: Pane) -> str:
        seen = self.dialect.feed(data, at_ns, name)
        teller = self.dialect.teller
        pane.malformed += sum(1 for item in teller.take() if _is_unparsed(item))
        is_cancelled = isinstance(teller.outcome, Cancelled)
        state = pane.step(seen.names, is_blocked=bool(teller.questions), is_cancelled=is_cancelled)
        return shown(seen.raw_type, seen.names, state)


class Enveloper:
    """Writes the log of one run that was only watched: numbered, stamped and ended, but stored nowhere."""

    def __init__(self, *, run_id: str, agent: str, ids: Ids) -> None:
        """Write the envelopes of a run."""
        self._writer = EnvelopeWriter(run_id=run_id)
        self._agent = agent
        self._ids = ids
        self._sequence = 0
        self._began_ns = 0

    def begin(self, at_ns: int) -> list[bytes]:
        """The first envelopes."""
        self._began_ns = at_ns
        return self.write(list(birth(self._agent)), at_ns)

    def write(self, items: list[Item], at_ns: int) -> list[bytes]:
        """The envelopes of what happened; what is no event has none."""
        payloads = [item for item in items if isinstance(item, (Payload, Opaque))]
        moment, write, sequence = rfc3339(at_ns), self._writer.write, self._sequence
        event_ids = self._ids.many("evt", len(payloads))
        self._sequence += len(payloads)
        return [
            write(event_id, sequence + at, moment, payload.type, encode_payload(payload))
            for at, (event_id, payload) in enumerate(zip(event_ids, payloads, strict=True))
        ]

    def end(self, outcome: Outcome, dialect: Dialect, at_ns: int) -> list[bytes]:
        """The last envelope."""
        return self.write([terminal(outcome, dialect, max(0, at_ns - self._began_ns) // 1_000_000)], at_ns)


def birth(agent: str, *, model: str | None = None) -> tuple[Payload, Payload]:
    """The first events of a run whose agent we only watch."""
    queued = RunQueued(
        kind="agent_loop", model=model, provider=None, workspace_path=None, workspace_mode=None, agent=agent
    )
    return queued, RunStarted(worker_id=WATCHER)


def terminal(outcome: Outcome, dialect: Dialect, duration_ms: int) -> Payload:
    """The last event of such a run."""
    turns, cost = dialect.teller.turns, dialect.teller.money.cost_micros_usd
    match outcome:
        case Finished():
            return RunFinished(turns=turns, cost_micros_usd=cost, duration_ms=duration_ms)
        case Failed():
            return RunFailed(
                code=outcome.code,
                message=outcome.message,
                retriable=outcome.retriable,
                turns=turns,
                cost_micros_usd=cost,
                duration_ms=duration_ms,
            )
        case Cancelled():
            return RunCancelled(
                by=outcome.by, reason=outcome.reason, turns=turns, cost_micros_usd=cost, duration_ms=duration_ms
            )


def _is_unparsed(item: Item) -> bool:
    return isinstance(item, AgentUnparsed) and not item.error.startswith(LATE)
