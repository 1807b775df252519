"""Agno: what the server says about the stream itself."""

import json

import pytest

from runwire.agents.dialect import Cancelled, Outcome
from runwire.host import Failed, Finished
from runwire.protocol.payload import Opaque
from tests.agents.agno_streams import (
    DONE,
    event,
    of,
    sse,
    told,
)
from tests.agents.transcripts import items_of

# What the server says about the stream.


def test_events_that_were_left_out_are_noted() -> None:
    items, outcome = told(
        event("RunStarted", event_index=0), event("RunContent", content="x", event_index=5), event("RunCompleted")
    )
    gaps = [json.loads(bytes(one.data)) for one in items if isinstance(one, Opaque)]
    assert gaps == [{"run_id": "run-1", "first": 1, "last": 4}]
    assert outcome == Finished("x")


@pytest.mark.parametrize("index", [-1, 2**53, 2**63])
def test_a_number_that_is_none_is_passed_over(index: int) -> None:
    items, outcome = told(
        event("RunStarted", event_index=0), event("RunContent", content="x", event_index=index), event("RunCompleted")
    )
    assert not of(Opaque, items)
    assert outcome == Finished("x")


def test_a_replay_that_begins_too_late_is_noted() -> None:
    replay = {"event": "replay", "run_id": "run-1", "status": "COMPLETED", "total_events": 2}
    asked = {**replay, "last_event_index_requested": -1}
    items, _ = told(asked, event("RunContent", content="x", event_index=2005), event("RunCompleted", event_index=2006))
    assert [one.type for one in items if isinstance(one, Opaque)] == ["external.agno.events_missing"]


def test_what_is_replayed_is_not_told_again() -> None:
    first = [event("RunStarted", event_index=0), event("RunContent", content="a", event_index=1)]
    rest = [event("RunContent", content="b", event_index=2), event("RunCompleted", content="ab", event_index=3)]
    replay = {"event": "catch_up", "run_id": "run-1", "status": "running", "missed_events": 3}
    items, _ = told(*first, replay, *first, rest[0], {"event": "subscribed", "run_id": "run-1"}, rest[1])
    assert items_of("agno", [sse(*first, *rest)])[0] == items


def test_numbers_that_begin_again_are_no_gap() -> None:
    items, _ = told(
        event("RunStarted", event_index=0),
        DONE,
        event("RunContinued", event_index=0),
        event("RunCompleted", event_index=1),
    )
    assert not of(Opaque, items)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("COMPLETED", Finished()), ("CANCELLED", Cancelled()), ("ERROR", Failed("agno_error", "the run failed"))],
)
def test_what_the_server_says_of_a_run_counts_where_no_event_does(status: str, outcome: Outcome) -> None:
    assert told({"event": "replay", "run_id": "r", "status": status, "total_events": 0})[1] == outcome


def test_a_run_that_cannot_be_taken_up_again_has_failed() -> None:
    assert told({"event": "error", "error": "not found"})[1] == Failed("agno_error", "not found")
