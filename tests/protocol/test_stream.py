"""Streams: which payloads are pieces, how pieces join, and what ends a stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.events.assistant import AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.experimental import (
    AssistantThinkingComplete,
    AssistantThinkingDelta,
    AssistantToolInputDelta,
)
from runwire.protocol.events.run import RunCancelled, RunFailed
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCancelled
from runwire.protocol.events.turn import TurnFailed
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import (
    COMPACTABLE,
    OUTPUT,
    TEXT,
    THINKING,
    TOOL_INPUT,
    Delta,
    StreamKey,
    ends_block,
    is_delta,
    merge,
    stream_key,
    text_of,
    with_text,
)
from tests.protocol.logs import FINISHED, QUEUED, complete, delta, invoked, tool_completed, turn_completed

CHUNK = ShellOutputChunk(tool_call_id="call_a", stream="stdout", data="abc", byte_offset=100)
PIECES: list[Delta] = [
    delta("abc"),
    AssistantThinkingDelta(turn_index=0, block_index=1, delta="abc"),
    AssistantToolInputDelta(turn_index=0, tool_call_id="call_a", delta="abc"),
    CHUNK,
]

STREAMS: list[StreamKey] = [
    (TEXT, 0, 0),
    (TEXT, 0, 1),
    (TEXT, 1, 0),
    (THINKING, 0, 0),
    (TOOL_INPUT, 0, "call_a"),
    (TOOL_INPUT, 1, "call_b"),
    (OUTPUT, "call_a", "stdout"),
    (OUTPUT, "call_a", "stderr"),
    (OUTPUT, "call_b", "stdout"),
]


def test_the_pieces_of_streams_are_what_may_be_compacted() -> None:
    assert {piece.type for piece in PIECES} == COMPACTABLE
    assert all(is_delta(piece) for piece in PIECES)
    assert not is_delta(QUEUED)
    assert not is_delta(Opaque.of("assistant.text_delta_of_the_future", b"{}"))


@pytest.mark.parametrize("piece", PIECES, ids=[piece.type for piece in PIECES])
@given(cuts=st.lists(st.text(), min_size=1, max_size=6))
def test_pieces_join_into_their_text_in_order(piece: Delta, cuts: list[str]) -> None:
    whole = with_text(piece, cuts[0])
    for cut in cuts[1:]:
        whole = merge(whole, with_text(piece, cut))
    assert text_of(whole) == "".join(cuts)
    assert whole == with_text(piece, "".join(cuts))
    assert stream_key(whole) == stream_key(piece)


def test_output_keeps_the_offset_of_its_first_piece() -> None:
    later = ShellOutputChunk(tool_call_id="call_a", stream="stdout", data="def", byte_offset=103)
    assert merge(CHUNK, later) == ShellOutputChunk(
        tool_call_id="call_a", stream="stdout", data="abcdef", byte_offset=100
    )
    assert with_text(CHUNK, "c", skipped_bytes=2) == ShellOutputChunk(
        tool_call_id="call_a", stream="stdout", data="c", byte_offset=102
    )


def test_pieces_of_different_streams_do_not_join() -> None:
    with pytest.raises(ValueError, match="different streams"):
        merge(delta("a"), delta("b", block=1))
    with pytest.raises(ValueError, match="different streams"):
        merge(CHUNK, ShellOutputChunk(tool_call_id="call_a", stream="stderr", data="", byte_offset=0))
    with pytest.raises(ValueError, match="different streams"):
        merge(delta("a"), AssistantThinkingDelta(turn_index=0, block_index=0, delta="b"))


ENDINGS: list[tuple[Payload, list[StreamKey]]] = [
    (complete("", turn=0, block=1), [(TEXT, 0, 1)]),
    (AssistantThinkingComplete(turn_index=0, block_index=0, text=""), [(THINKING, 0, 0)]),
    (
        AssistantToolCallProposed(turn_index=0, tool_call_id="call_a", tool_name="t", input={}),
        [(TOOL_INPUT, 0, "call_a")],
    ),
    (invoked("call_b"), [(TOOL_INPUT, 1, "call_b")]),
    (
        ShellExited(tool_call_id="call_b", exit_code=0, stdout_bytes=0, stderr_bytes=0),
        [(TOOL_INPUT, 1, "call_b"), (OUTPUT, "call_b", "stdout")],
    ),
    (
        tool_completed("call_a"),
        [(TOOL_INPUT, 0, "call_a"), (OUTPUT, "call_a", "stdout"), (OUTPUT, "call_a", "stderr")],
    ),
    (
        ToolCancelled(tool_call_id="call_b", tool_name="t", kind="shell", duration_ms=1, by="operator"),
        [(TOOL_INPUT, 1, "call_b"), (OUTPUT, "call_b", "stdout")],
    ),
    (turn_completed(0), [(TEXT, 0, 0), (TEXT, 0, 1), (THINKING, 0, 0), (TOOL_INPUT, 0, "call_a")]),
    (
        TurnFailed(turn_index=1, code="model_timeout", message="", will_retry=True),
        [(TEXT, 1, 0), (TOOL_INPUT, 1, "call_b")],
    ),
    (FINISHED, STREAMS),
    (RunFailed(code="c", message="m", turns=0), STREAMS),
    (RunCancelled(by="operator"), STREAMS),
    (QUEUED, []),
    (AssistantTextDelta(turn_index=0, block_index=2, delta=""), []),
]


@pytest.mark.parametrize(("payload", "ended"), ENDINGS, ids=[payload.type for payload, _ in ENDINGS])
def test_an_event_ends_its_own_streams_and_no_others(payload: Payload, ended: list[StreamKey]) -> None:
    assert ends_block(payload, STREAMS) == ended
    assert ends_block(payload, ()) == []
