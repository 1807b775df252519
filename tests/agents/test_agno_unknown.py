"""Agno: what nothing understands is kept."""

import json

import pytest

from runwire.host import Failed
from tests.agents.agno_streams import (
    DONE,
    STARTED,
    Object,
    event,
    lines,
    sse,
    types,
)
from tests.agents.transcripts import breaches_of, items_of, kept

# What nothing understands.


@pytest.mark.parametrize(
    "raw",
    [
        b"null",
        b"[]",
        b"7",
        b'{"event":"Unheard"}',
        b'{"event":7}',
        b'{"event":"RunContent","run_id":7}',
        b"{",
        b"\xff",
        b"{}",
    ],
)
def test_what_nothing_understands_is_kept(raw: bytes) -> None:
    for data in (raw + b"\n", b"event: Other\ndata: " + raw + b"\n\n", b"event: RunContent\ndata: " + raw + b"\n\n"):
        items, _ = items_of("agno", [sse(STARTED) + data if data.startswith(b"event") else data])
        if raw != b"{}" or not data.startswith(b"event: RunContent"):
            assert "agent.unparsed" in types(items)
        assert breaches_of("agno", [data]) == []


def test_an_event_is_what_its_data_says() -> None:
    raw = b"event: RunCompleted\ndata: " + json.dumps(event("RunContent", content="x")).encode() + b"\n\n"
    items, outcome = items_of("agno", [raw])
    assert "assistant.text_complete" in types(items)
    assert isinstance(outcome, Failed)


# What is not known.


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (event("BrandNew"), "no event is called 'BrandNew'"),
        ({"run_id": "r", "status": "BRAND_NEW"}, "no status of a run is called 'BRAND_NEW'"),
        ({"event": "replay", "run_id": "r", "status": "BRAND_NEW"}, "no status of a run is called 'BRAND_NEW'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(one: Object, why: str) -> None:
    items, _ = items_of("agno", [lines(STARTED, one, DONE)])
    assert kept(items) == [why]
