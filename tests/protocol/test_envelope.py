"""The envelope: written by splicing, read without decoding, refused clearly."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from runwire.protocol.envelope import (
    Envelope,
    EnvelopeWriter,
    MalformedEnvelope,
    data_of,
    decode_envelope,
    encode_envelope,
    event_id_of,
    occurred_at_of,
    run_id_of,
    sequence_of,
    type_of,
    write_envelopes,
)
from runwire.protocol.moment import nanoseconds
from tests.spec import spec

AT = "2026-05-03T10:23:45.123000000Z"

IDS = st.text("ABCXYZabcxyz0189_.:-", min_size=1, max_size=40).filter(lambda text: text not in {".", ".."})
DATA = st.dictionaries(st.text(), st.text() | st.integers(-9, 9) | st.lists(st.text(), max_size=2), max_size=4)


def write(*, task_id: str | None = None, session_id: str | None = None, data: bytes = b"{}") -> bytes:
    writer = EnvelopeWriter(run_id="run_a", task_id=task_id, session_id=session_id)
    return writer.write(event_id="evt_a", sequence=42, occurred_at=AT, event_type="run.started", data=data)


@spec("ENV-1", "ENV-2", "ENV-3")
def test_an_envelope_is_compact_and_in_order_and_leaves_out_what_is_absent() -> None:
    assert write() == (
        b'{"schema_version":"1","event_id":"evt_a","run_id":"run_a","sequence":42,'
        b'"occurred_at":"2026-05-03T10:23:45.123000000Z","type":"run.started","data":{}}'
    )
    assert write(task_id="task_a", session_id="chat_a") == (
        b'{"schema_version":"1","event_id":"evt_a","run_id":"run_a","task_id":"task_a","session_id":"chat_a","sequence":42,'
        b'"occurred_at":"2026-05-03T10:23:45.123000000Z","type":"run.started","data":{}}'
    )


def test_envelopes_of_one_moment_are_what_each_would_be_alone() -> None:
    writers = [EnvelopeWriter(run_id="run_a"), EnvelopeWriter(run_id="run_b", task_id="task_b")]
    lines = [
        (f"evt_{number}", writer.middle, number, "run.started", b'{"worker_id":"w"}')
        for number, writer in enumerate(writers)
    ]
    assert write_envelopes(lines, AT) == [
        writer.write(f"evt_{number}", number, AT, "run.started", b'{"worker_id":"w"}')
        for number, writer in enumerate(writers)
    ]


@given(
    ids=st.tuples(IDS, IDS, st.none() | IDS, st.none() | IDS),
    sequence=st.integers(0, 2**63 - 1),
    moment=st.integers(0, 4_000_000_000),
    data=DATA,
)
def test_what_is_spliced_reads_back_decoded_peeked_and_encoded_again(
    ids: tuple[str, str, str | None, str | None], sequence: int, moment: int, data: dict[str, object]
) -> None:
    event_id, run_id, task_id, session_id = ids
    at = f"2026-05-03T10:23:45.{moment % 1_000_000_000:09d}Z"
    raw = msgspec.json.encode(data)
    stored = EnvelopeWriter(run_id=run_id, task_id=task_id, session_id=session_id).write(
        event_id=event_id, sequence=sequence, occurred_at=at, event_type="tool.shell.output_chunk", data=raw
    )
    envelope = decode_envelope(stored)
    assert envelope == Envelope(
        schema_version="1",
        event_id=event_id,
        run_id=run_id,
        task_id=UNSET if task_id is None else task_id,
        session_id=UNSET if session_id is None else session_id,
        sequence=sequence,
        occurred_at=at,
        type="tool.shell.output_chunk",
        data=msgspec.Raw(raw),
    )
    assert encode_envelope(envelope) == stored
    peeked = (event_id_of(stored), run_id_of(stored), sequence_of(stored), occurred_at_of(stored), type_of(stored))
    assert peeked == (event_id, run_id, sequence, at, "tool.shell.output_chunk")
    assert data_of(stored) == raw
    assert json.loads(stored)["data"] == data


def test_peeks_are_not_fooled_by_data_that_looks_like_a_header() -> None:
    stored = write(data=b'{"x":1,"type":"run.failed","sequence":7,"occurred_at":"never","event_id":"evt_b","data":{}}')
    assert (type_of(stored), sequence_of(stored), occurred_at_of(stored)) == ("run.started", 42, AT)
    assert data_of(stored).startswith(b'{"x":1')


@spec("ENV-10")
def test_a_field_from_a_later_version_is_ignored() -> None:
    stored = write().replace(b',"data":', b',"trace_id":"abc","data":')
    assert decode_envelope(stored) == decode_envelope(write())
    assert (type_of(stored), sequence_of(stored), data_of(stored)) == ("run.started", 42, b"{}")


@pytest.mark.parametrize(
    ("stored", "rule"),
    [
        (b"", "ENV-1"),
        (b"[]", "ENV-1"),
        (b"{}", "ENV-1"),
        (b"\xff", "ENV-1"),
        (write()[:-1], "ENV-1"),
        (write().replace(b"42", b"-1"), "ENV-1"),
        (write().replace(b"42", b'"42"'), "ENV-1"),
        (write(task_id="t").replace(b'"t"', b"null"), "ENV-3"),
        (write().replace(b'"1"', b'"2"'), "ENV-4"),
        (write(data=b"null"), "ENV-7"),
        (write(data=b"[]"), "ENV-7"),
    ],
)
@spec("ENV-3", "ENV-4", "ENV-7")
def test_bytes_that_are_no_envelope_are_refused_with_the_rule_they_break(stored: bytes, rule: str) -> None:
    with pytest.raises(MalformedEnvelope) as refused:
        decode_envelope(stored)
    assert refused.value.rule == rule


@spec("ENV-9")
@pytest.mark.parametrize("run_id", ["", 'run_"a', "run_\\", "run a", "run_é", "r" * 129, "run_a\n"])
def test_an_id_that_could_not_stand_in_an_envelope_is_refused(run_id: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        EnvelopeWriter(run_id=run_id)


@spec("ENV-6")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-05-03T10:23:45Z",
        "2026-05-03T10:23:45.123Z",
        "2026-05-03T10:23:45.123000000",
        "2026-05-03T10:23:45.123000000+00:00",
        "2026-05-03 10:23:45.123000000Z",
        "2026-13-03T10:23:45.123000000Z",
        "2026-05-03T10:23:45.123000000Z\n",
    ],
)
def test_a_moment_has_nine_digits_and_z_or_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"moment|month"):
        nanoseconds(text)


def test_a_moment_is_read_to_the_nanosecond() -> None:
    assert nanoseconds("1970-01-02T00:00:01.000000007Z") == 86_401_000_000_007
