"""The SSE parser: the same frames, however the bytes are cut."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.client.sse import Frame, MalformedStream, SseParser

STREAM = (
    "retry: 1500\n\n"
    'id: 0\ndata: {"text":"one\u2028two\u2029three\u0085four"}\n\n'
    ": a comment\n\n"
    'event: synced\ndata: {"sequence":0}\n\n'
    'id: 1\r\ndata: {"text":"crlf"}\r\n\r\n'
    "event: heartbeat\ndata: {}\n\n"
    'id: 2\nfuture: field\ndata:{"text":"no space"}\n\n'
).encode()

FRAMES = [
    Frame("message", '{"text":"one\u2028two\u2029three\u0085four"}'.encode(), "0"),
    Frame("synced", b'{"sequence":0}', None),
    Frame("message", b'{"text":"crlf"}', "1"),
    Frame("heartbeat", b"{}", None),
    Frame("message", b'{"text":"no space"}', "2"),
]


def _parsed(chunks: list[bytes]) -> tuple[list[Frame], int | None]:
    parser = SseParser()
    return [frame for chunk in chunks for frame in parser.feed(chunk)], parser.retry_ms


@given(st.lists(st.integers(0, len(STREAM))))
def test_frames_do_not_depend_on_where_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(edges)]
    assert _parsed(chunks) == (FRAMES, 1500)


def test_one_byte_at_a_time_gives_the_same_frames() -> None:
    assert _parsed([STREAM[at : at + 1] for at in range(len(STREAM))]) == (FRAMES, 1500)


def test_a_frame_that_never_ended_is_not_dispatched() -> None:
    assert _parsed([b'id: 7\ndata: {"half":true}\n']) == ([], None)


def test_a_byte_order_mark_before_the_first_line_is_ignored() -> None:
    assert _parsed([b"\xef\xbb\xbfid: 3\ndata: x\n\n"]) == ([Frame("message", b"x", "3")], None)


def test_data_on_several_lines_is_joined_by_newlines() -> None:
    assert _parsed([b"data: a\ndata: b\n\n"])[0] == [Frame("message", b"a\nb", None)]


def test_an_id_belongs_to_its_own_frame_only() -> None:
    assert _parsed([b"id: 1\ndata: a\n\ndata: b\n\n"])[0] == [Frame("message", b"a", "1"), Frame("message", b"b", None)]


def test_a_frame_of_many_megabytes_takes_time_in_proportion_to_its_size() -> None:
    data = b"x" * (16 * 1024 * 1024)
    stream = b"id: 1\ndata: " + data + b"\n\n"
    started = time.perf_counter()
    frames, _ = _parsed([stream[at : at + 4096] for at in range(0, len(stream), 4096)])
    assert frames == [Frame("message", data, "1")]
    # Joining at each of the 4096 chunks would copy 32 GiB and take many seconds.
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("line", [b"x" * 100, b"data: " + b"x" * 100 + b"\n"], ids=["one line", "many lines"])
def test_a_frame_past_the_limit_is_refused_before_it_fills_memory(line: bytes) -> None:
    parser = SseParser(limit_bytes=1000)
    for _ in range(1000 // len(line)):
        parser.feed(line)
    with pytest.raises(MalformedStream, match="1000 bytes"):
        parser.feed(line)


def test_comments_and_heartbeats_never_add_up_to_the_limit() -> None:
    parser = SseParser(limit_bytes=1000)
    for _ in range(1000):
        parser.feed(b": still here\n\n")
        parser.feed(b"event: heartbeat\ndata: {}\n\n")
    assert parser.feed(b"data: x\n\n") == [Frame("message", b"x", None)]
