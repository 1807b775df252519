"""The envelope around every event: who, in which run, at which place, when, of what type. Its data stays raw bytes."""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from runwire.ids import is_foreign_id
from runwire.protocol.moment import OCCURRED_AT
from runwire.protocol.payload import TYPE_NAME, TYPE_NAME_MAX, Record

SCHEMA_VERSION = "1"


class MalformedEnvelope(ValueError):
    """The bytes are not an envelope; `rule` is the requirement of spec/PROTOCOL.md that they break."""

    def __init__(self, message: str, *, rule: str = "ENV-1") -> None:
        super().__init__(message)
        self.rule = rule


_ID_SCHEMA = {"pattern": "^[A-Za-z0-9_.:-]{1,128}$"}


class Envelope(Record):
    """One event as it is stored and served; the fields are in wire order."""

    # The patterns are for the schema: decoding runs on every event, and `runwire.protocol.verify` holds logs to them.
    schema_version: Annotated[str, Meta(extra_json_schema={"const": SCHEMA_VERSION})]
    event_id: Annotated[
        str, Meta(description="Unique, sortable by creation, stable across replay.", extra_json_schema=_ID_SCHEMA)
    ]
    run_id: Annotated[str, Meta(description="The run that the event belongs to.", extra_json_schema=_ID_SCHEMA)]
    task_id: Annotated[
        str | UnsetType, Meta(description="Present when the run belongs to a task.", extra_json_schema=_ID_SCHEMA)
    ] = UNSET
    session_id: Annotated[
        str | UnsetType, Meta(description="Present when the run belongs to a session.", extra_json_schema=_ID_SCHEMA)
    ] = UNSET
    sequence: Annotated[int, Meta(ge=0, description="The event's place in its run: 0, 1, 2 and so on.")]
    occurred_at: Annotated[
        str,
        Meta(
            description="The server's clock in UTC; order comes from `sequence`.",
            extra_json_schema={"format": "date-time", "pattern": OCCURRED_AT},
        ),
    ]
    type: Annotated[
        str,
        Meta(
            description="Dotted, lowercase, snake_case.",
            extra_json_schema={"pattern": TYPE_NAME, "maxLength": TYPE_NAME_MAX},
        ),
    ]
    data: Annotated[
        msgspec.Raw, Meta(description="What happened, in the shape of `type`.", extra_json_schema={"type": "object"})
    ]


_DECODER = msgspec.json.Decoder(Envelope)
_ENCODER = msgspec.json.Encoder()
_HEAD = '{"schema_version":"1","event_id":"'
_HEAD_END = len(_HEAD)
_BRACE = ord("{")


def decode_envelope(envelope: bytes) -> Envelope:
    """Decode the envelope and leave its data raw; unknown envelope fields are ignored."""
    try:
        decoded = _DECODER.decode(envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise MalformedEnvelope(f"not an envelope: {wrong}", rule=_broken(str(wrong))) from wrong
    if decoded.schema_version != SCHEMA_VERSION:
        raise MalformedEnvelope(
            f'schema_version is {decoded.schema_version!r}; this release reads "{SCHEMA_VERSION}"', rule="ENV-4"
        )
    if memoryview(decoded.data)[0] != _BRACE:
        raise MalformedEnvelope("not an envelope: data is not an object", rule="ENV-7")
    return decoded


def _broken(complaint: str) -> str:
    null_id = "got `null`" in complaint and complaint.endswith(("$.task_id`", "$.session_id`"))
    return "ENV-3" if null_id else "ENV-1"


def encode_envelope(envelope: Envelope) -> bytes:
    """Encode an envelope as compact JSON in wire order; its raw data is copied as it is."""
    return _ENCODER.encode(envelope)


class EnvelopeWriter:
    """Writes the envelopes of one run by splicing what changes between the parts that never do."""

    __slots__ = ("middle",)

    def __init__(self, *, run_id: str, task_id: str | None = None, session_id: str | None = None) -> None:
        """Prepare the constant parts; an id that JSON would have to escape is refused."""
        middle = f'","run_id":"{_plain(run_id)}"'
        if task_id is not None:
            middle += f',"task_id":"{_plain(task_id)}"'
        if session_id is not None:
            middle += f',"session_id":"{_plain(session_id)}"'
        self.middle = middle + ',"sequence":'

    def write(self, event_id: str, sequence: int, occurred_at: str, event_type: str, data: bytes) -> bytes:
        """Return the envelope bytes; the caller vouches that `data` is a compact JSON object and the rest plain ASCII."""
        # The same as below, but for one: agents' streams come by here an event at a time.
        head = f'{_HEAD}{event_id}{self.middle}{sequence},"occurred_at":"{occurred_at}","type":"{event_type}","data":'
        return b"%b%b}" % (head.encode(), data)


def write_envelopes(lines: Iterable[tuple[str, str, int, str, bytes]], occurred_at: str) -> list[bytes]:
    """The envelopes of one moment, for each (event id, its run's `middle`, sequence, type, data). Vouched for as above."""
    between = f',"occurred_at":"{occurred_at}","type":"'
    return [
        b"%b%b}" % (f'{_HEAD}{event_id}{middle}{sequence}{between}{event_type}","data":'.encode(), data)
        for event_id, middle, sequence, event_type, data in lines
    ]


def _plain(identifier: str) -> str:
    if not is_foreign_id(identifier):
        raise ValueError(f"{identifier[:64]!r} is not an id: use 1 to 128 of A-Z a-z 0-9 _ . : -")
    return identifier


# The peeks look for `,"key":` and take the first hit. A quote inside a JSON string is always escaped, so the pattern can
# only match a key, and the stored field order puts every header key before `data`. They start past the parts whose
# length never changes.


def type_of(envelope: bytes) -> str:
    """Read the type of stored envelope bytes without decoding them."""
    start = envelope.index(b',"type":"', 80) + 9
    return envelope[start : envelope.index(b'"', start)].decode()


def sequence_of(envelope: bytes) -> int:
    """Read the sequence of stored envelope bytes without decoding them."""
    start = envelope.index(b',"sequence":', 40) + 12
    return int(envelope[start : envelope.index(b",", start)])


def occurred_at_of(envelope: bytes) -> str:
    """Read the moment of stored envelope bytes without decoding them."""
    start = envelope.index(b',"occurred_at":"', 50) + 16
    return envelope[start : envelope.index(b'"', start)].decode()


def event_id_of(envelope: bytes) -> str:
    """Read the event id of stored envelope bytes without decoding them."""
    return envelope[_HEAD_END : envelope.index(b'"', _HEAD_END)].decode()


def run_id_of(envelope: bytes) -> str:
    """Read the run id of stored envelope bytes without decoding them."""
    start = envelope.index(b',"run_id":"', _HEAD_END) + 11
    return envelope[start : envelope.index(b'"', start)].decode()


def data_of(envelope: bytes) -> bytes:
    """Read the data of stored envelope bytes without decoding them: all that follows `"data":` up to the last brace."""
    return envelope[envelope.index(b',"data":', 80) + 8 : -1]
