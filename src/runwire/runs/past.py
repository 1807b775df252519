"""What has happened in a run, and in those it was resumed from, as values. It reads; it never guesses at what was pruned."""

from collections.abc import AsyncGenerator, Iterable, Sequence

from runwire.host import Past
from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, event_id_of, occurred_at_of, sequence_of, type_of
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.run import RunQueued, RunResumedFromEvent
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import MalformedPayload, Opaque, Payload
from runwire.protocol.stream import COMPACTABLE

_READ_BYTES = 1024 * 1024
_CHAIN_MAX = 1_000


async def stored_events(journal: Journal, run_id: str, *, after: int = -1) -> AsyncGenerator[bytes]:
    """Every stored envelope of a run past `after`, to where it ends now."""
    while (batch := await journal.reader.read(run_id, after, _READ_BYTES)) is not None:
        for envelope in envelopes(batch.frames):
            yield envelope
        after = batch.last


async def read_run(journal: Journal, run_id: str, *, through: int | None = None) -> list[Past]:
    """A run's own events up to `through`, without the pieces of streams."""
    found: list[Past] = []
    async for envelope in stored_events(journal, run_id):
        sequence = sequence_of(envelope)
        if through is not None and sequence > through:
            break
        payload = told(envelope)
        if payload is not None:
            occurred_ns = nanoseconds(occurred_at_of(envelope))
            found.append(Past(run_id, sequence, event_id_of(envelope), occurred_ns, payload))
    return found


async def read_chain(journal: Journal, run_id: str) -> list[Past]:
    """A run's events, and before them those of the runs it was resumed from, each as far as it still counts."""
    chain = [await read_run(journal, run_id)]
    while len(chain) < _CHAIN_MAX and (before := resumed_from(chain[-1])) is not None:
        chain.append(await read_run(journal, before.from_run_id, through=before.from_sequence))
    return [event for run in reversed(chain) for event in run]


def resumed_from(past: Sequence[Past]) -> RunResumedFromEvent | None:
    """What the run takes up, told by its first event."""
    first = past[0].payload if past else None
    return first if isinstance(first, RunResumedFromEvent) else None


def birth_of(past: Iterable[Past], run_id: str) -> RunQueued | None:
    """How a run was queued; None when that has been pruned."""
    return next((one.payload for one in past if one.run_id == run_id and isinstance(one.payload, RunQueued)), None)


def next_turn(past: Iterable[Past]) -> int:
    """The index that the next turn has."""
    turn = 0
    for one in past:
        match one.payload:
            case TurnCompleted(turn_index=index):
                turn = max(turn, index + 1)
            case TurnStarted(turn_index=index) | TurnFailed(turn_index=index):
                turn = max(turn, index)
            case _:
                pass
    return turn


def waited_ns(past: Iterable[Past]) -> int:
    """How long a run has waited for decisions: that time is not its own."""
    waiting: set[str] = set()
    since = total = 0
    for one in past:
        match one.payload:
            case ApprovalRequested(approval_id=approval):
                since = since if waiting else one.occurred_ns
                waiting.add(approval)
            case ApprovalResolved(approval_id=approval) | ApprovalTimedOut(approval_id=approval):
                if waiting == {approval}:
                    total += one.occurred_ns - since
                waiting.discard(approval)
            case _:
                pass
    return total


def told(envelope: bytes) -> Payload | Opaque | None:
    """What a stored event says; None for a piece of a stream."""
    event_type = type_of(envelope)
    if event_type in COMPACTABLE:
        return None
    data = data_of(envelope)
    try:
        return decode_payload(event_type, data)
    except MalformedPayload:
        # A later release may have stored a shape that this one cannot read.
        return Opaque.of(event_type, data)
