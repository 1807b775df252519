"""Verification: a log is proven from its stored bytes alone, or its first breach is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol import chain
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.events.run import RunStarted
from runwire.protocol.lifecycle import Breach
from runwire.protocol.payload import Opaque
from runwire.protocol.verify import Verifier, verify
from tests.protocol.logs import FINISHED, QUEUED, STARTED, WHOLE_RUN, head, log, prune, stored
from tests.spec import spec

EVENTS = log(WHOLE_RUN)
HEAD = head(EVENTS)
PROTECTED = {6, 7, 11}


def first(events: list[bytes], *, expected_head: bytes | None = None) -> tuple[int, str] | None:
    breach = next(verify(events, head=expected_head), None)
    return None if breach is None else (breach.sequence, breach.rule)


@spec("CHAIN-1")
def test_a_whole_log_is_proven_up_to_its_head() -> None:
    assert list(verify(EVENTS, head=HEAD)) == []
    verifier = Verifier()
    assert [breach for event in EVENTS for breach in verifier.feed(event)] == []
    assert verifier.close() == []
    assert (verifier.count, verifier.last_sequence, verifier.head) == (12, 11, HEAD)


@spec("CHAIN-3")
@given(data=st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(EVENTS) - 1))
    place = data.draw(st.integers(0, len(EVENTS[at]) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != EVENTS[at][place]))
    changed = EVENTS[at][:place] + bytes([other]) + EVENTS[at][place + 1 :]
    assert first([*EVENTS[:at], changed, *EVENTS[at + 1 :]], expected_head=HEAD) is not None


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (b'"sequence":1,', b'"sequence": 1,', "ENV-2"),
        (b'"worker-3"', b'"worker\xff3"', "ENV-2"),
        (b'{"schema_version":"1","event_id"', b'{"event_id":"x","schema_version":"1","event_ix"', "ENV-1"),
        (b',"type":"run.started","data":{', b',"data":{', "ENV-1"),
        (b'"task_id":"task_01JXMZH2P6N0T1C3R4W5H6M7Y8"', b'"task_id":null', "ENV-3"),
        (b'"schema_version":"1"', b'"schema_version":"2"', "ENV-4"),
        (b"Z", b"z", "ENV-6"),
        (b".000000000Z", b".000Z", "ENV-6"),
        (b'"data":{"worker_id":"worker-3","lease_until":null}', b'"data":null', "ENV-7"),
        (b'"event_id":"evt_', b'"event_id":"evt ', "ENV-9"),
        (b"run.started", b"run", "TYP-1"),
        (b'"worker-3"', b"3", "TYP-2"),
    ],
)
@spec("ENV-1", "ENV-2", "ENV-3", "ENV-4", "ENV-6", "ENV-7", "ENV-9", "TYP-1", "TYP-2", "CHAIN-3")
def test_a_broken_envelope_is_named_by_its_rule(old: bytes, new: bytes, rule: str) -> None:
    broken = stored(1, STARTED)
    if old == b"Z":
        broken = broken.replace(b'000Z"', b'000z"', 1)
    else:
        assert old in broken
        broken = broken.replace(old, new, 1)
    assert first([stored(0, QUEUED), broken, stored(2, FINISHED)]) == (1, rule)


@spec("ENV-1")
def test_known_fields_in_another_order_are_refused() -> None:
    swapped = stored(1, STARTED).replace(b'"event_id":"evt_00000000000000000000000001",', b"", 1)
    swapped = swapped.replace(b',"sequence"', b',"event_id":"evt_00000000000000000000000001","sequence"', 1)
    assert first([stored(0, QUEUED), swapped, stored(2, FINISHED)]) == (1, "ENV-1")


@spec("ENV-10", "TYP-3")
def test_fields_and_types_from_the_future_are_proven_like_all_others() -> None:
    later = stored(1, STARTED).replace(b',"data":', b',"trace_id":"abc","weight":1.5,"data":')
    wider = stored(2, Opaque.of("run.started", b'{"worker_id":"w","lease_until":null,"gpu":{"count":8}}'))
    events = [
        stored(0, QUEUED),
        later,
        wider,
        stored(3, Opaque.of("quantum.entangled", b'{"x":1}')),
        stored(4, FINISHED),
    ]
    assert list(verify(events, head=head(events))) == []


@spec("CHAIN-1", "GAP-4")
@given(data=st.data())
def test_what_is_left_of_a_pruned_log_still_leads_to_its_head(data: st.DataObject) -> None:
    through = data.draw(st.integers(0, 10).filter(lambda last: last not in PROTECTED))
    doomed = [sequence for sequence in range(through + 1) if sequence not in PROTECTED]
    gone = data.draw(st.just(set(doomed)) | st.sets(st.sampled_from(doomed), min_size=1))
    # Only deltas may vanish from the middle; anything else that goes takes all that came before it along.
    gone = gone if gone <= {3, 4} else set(doomed)
    pruned = prune(EVENTS, gone)
    assert list(verify(pruned, head=HEAD)) == []
    tampered = [event.replace(b'"turns":1', b'"turns":2') for event in pruned]
    assert first(tampered, expected_head=HEAD) == (11, "CHAIN-1")


@spec("GAP-4")
def test_what_stands_before_a_hole_must_lead_to_the_anchor_there() -> None:
    link = head(EVENTS[:3])
    pruned = prune(EVENTS, {3, 4})
    anchored = [
        event.replace(b'"anchors":[', b'"anchors":[{"sequence":2,"hash":"%b"},' % chain.show(link).encode())
        for event in pruned
    ]
    assert list(verify(anchored, head=HEAD)) == []
    tampered = [event.replace(b'"lease_until":null', b'"lease_until":"x"') for event in anchored]
    assert first(tampered, expected_head=HEAD) == (2, "CHAIN-1")


@spec("CHAIN-5")
def test_without_anchors_the_chain_goes_on_as_if_the_hole_were_not_there() -> None:
    marker = GapEventsPruned(first_pruned_sequence=0, last_pruned_sequence=4, pruned_at="t", reason="operator")
    events = [stored(4, marker), *EVENTS[5:]]
    assert list(verify(events, head=head(events))) == []


@spec("CHAIN-1")
def test_another_head_is_a_breach_at_the_end() -> None:
    other = chain.link(HEAD, b"more")
    message = f"the chain ends in {chain.show(HEAD)}, not in {chain.show(other)}"
    assert list(verify(EVENTS, head=other)) == [Breach(11, "CHAIN-1", message)]


def test_a_live_log_is_proven_as_far_as_it_goes() -> None:
    assert list(verify(EVENTS[:6], head=head(EVENTS[:6]), live=True)) == []
    assert first(EVENTS[:6]) == (5, "LIF-1")


def test_lines_that_are_no_envelopes_are_breaches_not_crashes() -> None:
    for line in (b"", b"null", b"[]", b"{}", b"\x00", b"nonsense", b"\xff\xfe", b'{"schema_version":1}'):
        assert first([line]) in [(0, "ENV-1"), (0, "ENV-2")]


def test_a_late_correction_of_a_field_cannot_hide_behind_the_first() -> None:
    twice = stored(1, RunStarted(worker_id="a"))[:-1] + b',"data":{"worker_id":"b"}}'
    assert first([stored(0, QUEUED), twice, stored(2, FINISHED)]) == (1, "ENV-1")
