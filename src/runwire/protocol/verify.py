"""Proving a log from its stored bytes: form, schema, sequence, lifecycle and hash chain."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from runwire.ids import is_foreign_id
from runwire.protocol import chain
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import Envelope, MalformedEnvelope, decode_envelope
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.lifecycle import Breach, Checker, InOrder
from runwire.protocol.links import Links
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import MalformedPayload

_ID = rb"[A-Za-z0-9_.:-]{1,128}"
_FORM = re.compile(
    rb'\{"schema_version":"1","event_id":"%b","run_id":"%b"(?:,"task_id":"%b")?(?:,"session_id":"%b")?'
    rb',"sequence":\d+,"occurred_at":"[^"\\]*","type":"[^"\\]*"'
    rb'(?:,"(?!data")[a-z_]+":(?:"[^"\\]*"|[-+.\dEe]+|true|false))*,"data":' % (_ID, _ID, _ID, _ID)
)


def verify(log: Iterable[bytes], *, head: bytes | None = None, live: bool = False) -> Iterator[Breach]:
    """Yield every breach of a log, in order; `head` is the chain value that its last event must lead to."""
    verifier = Verifier(live=live)
    for stored in log:
        yield from verifier.feed(stored)
    yield from verifier.close()
    if head is not None and head != verifier.head:
        message = f"the chain ends in {chain.show(verifier.head)}, not in {chain.show(head)}"
        yield Breach(verifier.last_sequence, "CHAIN-1", message)


class Verifier:
    """Proves a log as it streams by."""

    def __init__(self, *, live: bool = False) -> None:
        """Begin at sequence 0; `live` says that the log may go on."""
        self._checker = Checker(live=live)
        self._links = Links()
        self._queue = InOrder()
        self.count = 0
        """How many lines were taken."""
        self.last_sequence = -1
        """The sequence of the last envelope."""

    @property
    def head(self) -> bytes:
        """The chain value after the last envelope, once the log is closed."""
        return self._links.head

    def feed(self, stored: bytes) -> list[Breach]:
        """Take the next envelope's bytes and return the breaches that are now certain, in order."""
        self.count += 1
        found = self._examine(stored)
        certain = not self._checker.unexplained
        if certain:
            found += self._settle()
        return self._queue.put(found, certain=certain)

    def close(self) -> list[Breach]:
        """End the log and return all other breaches, in order."""
        return self._queue.put(self._settle() + self._checker.close(), certain=True)

    def _examine(self, stored: bytes) -> list[Breach]:
        expected = self._checker.expected
        try:
            stored.decode()
            envelope = decode_envelope(stored)
        except UnicodeDecodeError as wrong:
            return [Breach(expected, "ENV-2", f"not UTF-8: {wrong}")]
        except MalformedEnvelope as wrong:
            return [Breach(expected, wrong.rule, str(wrong))]
        found = [Breach(envelope.sequence, rule, message) for rule, message in form_breaches(stored, envelope)]
        found += self._checker.feed(envelope)
        if envelope.sequence >= expected:
            self.last_sequence = envelope.sequence
            self._links.feed(envelope.sequence, stored, _marker(envelope))
        return found

    def _settle(self) -> list[Breach]:
        message = "the chain up to here differs from what a gap marker recorded"
        return [Breach(sequence, "CHAIN-1", message) for sequence in self._links.settle()]


def _marker(envelope: Envelope) -> GapEventsPruned | None:
    if envelope.type != GapEventsPruned.type:
        return None
    try:
        payload = decode_payload(envelope.type, envelope.data)
    except MalformedPayload:
        # The checker reports it; the chain goes on as if nothing were anchored.
        return None
    return payload if isinstance(payload, GapEventsPruned) else None


def form_breaches(stored: bytes, envelope: Envelope) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the bytes of an envelope that could be decoded, as (rule, message)."""
    if msgspec.json.format(stored, indent=-1) != stored:
        yield "ENV-2", "the envelope holds insignificant whitespace"
    form = _FORM.match(stored)
    if form is None or form.end() + memoryview(envelope.data).nbytes + 1 != len(stored):
        yield from _misshapen(stored, envelope)
    try:
        nanoseconds(envelope.occurred_at)
    except ValueError as wrong:
        yield "ENV-6", f"occurred_at: {wrong}"


def _misshapen(stored: bytes, envelope: Envelope) -> Iterator[tuple[str, str]]:
    ids = (envelope.event_id, envelope.run_id, envelope.task_id or "none", envelope.session_id or "none")
    odd = [one for one in ids if not is_foreign_id(one)]
    if odd:
        yield "ENV-9", f"{odd[0][:64]!r} is not an id"
        return
    order = ", ".join(msgspec.json.decode(stored, type=dict[str, msgspec.Raw]))
    yield "ENV-1", f"the fields are not written in the prescribed form and order: {order[:200]}"
