"""Scenarios about streams: frames, the end, the signs of life, and the feed of all runs."""

import time

import msgspec

from runwire.client.conformance.asking import Answer
from runwire.client.conformance.scenario import Broken, NotApplicable, Scenario, Subject, decoded, require, same

_HEARTBEAT_S = 10.0
# The network and a busy machine may be late by so much.
_LATE_S = 2.0
_HEADERS = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}
_PAGES_MAX = 2000


def _blocks(answer: Answer) -> list[list[bytes]]:
    """The lines of each complete frame."""
    require(answer.status == 200, "SSE-1", f"a stream is answered with {answer.status} instead of 200")
    kind = answer.headers.get("content-type", "")
    require(kind.startswith("text/event-stream"), "SSE-1", f"the content type of a stream is {kind}")
    return [block.split(b"\n") for block in answer.body.split(b"\n\n")[:-1] if block]


def _fields(lines: list[bytes]) -> dict[bytes, bytes]:
    pairs = (line.partition(b": ")[::2] for line in lines if not line.startswith(b":"))
    return dict(pairs)


def _events(answer: Answer, first: int, expected: list[bytes]) -> None:
    """See that a stream of a run holds these events and then says that it has caught up."""
    found: list[bytes] = []
    synced = False
    for lines in _blocks(answer):
        fields = _fields(lines)
        if fields.get(b"event") == b"synced":
            require(not synced, "SSE-3", "synced is sent twice")
            require(len(found) == len(expected), "SSE-3", f"synced comes after {len(found)} of {len(expected)} events")
            require(b"id" not in fields, "SSE-3", "synced carries an id")
            head = b'{"sequence":%d}' % (first + len(expected) - 1)
            require(fields.get(b"data") == head, "SSE-3", f"synced says {fields.get(b'data')!r} instead of {head!r}")
            synced = True
        elif b"data" in fields and fields.get(b"event") != b"heartbeat":
            require(b"event" not in fields, "SSE-1", f"an event has the field event: {fields.get(b'event')!r}")
            place = b"%d" % (first + len(found))
            require(
                fields.get(b"id") == place, "SSE-1", f"an event has the id {fields.get(b'id')!r} instead of {place!r}"
            )
            found.append(fields[b"data"])
    same(found, expected, "SSE-1", "the stream")
    require(synced, "SSE-3", "the stream ended without synced")


async def _frames(subject: Subject) -> None:
    answer = await subject.asker.stream(subject.events, until=lambda _: False)
    blocks = _blocks(answer)
    starts = bool(blocks) and blocks[0][0].startswith(b"retry: ") and blocks[0][0][7:].isdigit()
    require(starts, "SSE-2", "the stream does not begin with retry")
    _events(answer, 0, subject.log)
    require(answer.ended, "SSE-5", "the run is over and all is sent, but the stream does not end")


async def _headers(subject: Subject) -> None:
    answer = await subject.asker.stream(subject.events, until=lambda _: True)
    for name, value in _HEADERS.items():
        told = answer.headers.get(name)
        require(told == value, "SSE-7", f"{name} is {told!r} instead of {value!r}")


async def _resumed(subject: Subject) -> None:
    for after in sorted({0, subject.head // 2, subject.head - 1}):
        answer = await subject.asker.stream(subject.events, None, {"last-event-id": str(after)}, until=lambda _: False)
        try:
            _events(answer, after + 1, subject.log[after + 1 :])
        except Broken as broken:
            raise Broken(broken.rule, f"resumed after {after}: {broken.message}") from broken


async def _over(subject: Subject) -> None:
    headers = {"last-event-id": str(subject.head)}
    answer = await subject.asker.stream(subject.events, None, headers, until=lambda _: True)
    require(answer.status == 204, "SSE-6", f"who has everything is answered with {answer.status} instead of 204")


async def _heartbeat(subject: Subject) -> None:
    waited_s, size, began_s = _HEARTBEAT_S + _LATE_S, 0, time.monotonic()
    at_s = began_s

    def enough(body: bytes) -> bool:
        nonlocal size, at_s
        now_s = time.monotonic()
        silent_s, at_s, size = now_s - at_s, now_s, len(body)
        require(silent_s <= waited_s, "SSE-4", f"an idle stream is silent for {silent_s:.1f} s")
        return b"event: heartbeat" in body and body.endswith(b"\n\n")

    answer = await subject.asker.stream("/events/stream", until=enough, within_s=waited_s + _LATE_S)
    beats = [lines for lines in _blocks(answer) if b"event: heartbeat" in lines]
    if not beats and any(b"data" in _fields(lines) and b"id" in _fields(lines) for lines in _blocks(answer)[2:]):
        raise NotApplicable("the server is never idle")
    require(bool(beats), "SSE-4", f"an idle stream sends no heartbeat within {waited_s:g} s")
    require(_fields(beats[0]) == {b"event": b"heartbeat", b"data": b"{}"}, "SSE-4", f"a heartbeat is {beats[0]!r}")


async def _feed_list(subject: Subject) -> None:
    place: dict[str, str] = {"from": "start"} if subject.feed_cursor is None else {"cursor": subject.feed_cursor}
    found: list[bytes] = []
    for _ in range(_PAGES_MAX):
        page = decoded(await subject.asker.get("/events", {"run_id": subject.run_id, "limit": 4, **place}), "FEED-5")
        for name in ("data", "next_cursor"):
            require(name in page, "FEED-5", f"a page of the feed has no {name}")
        found += [bytes(one) for one in msgspec.json.decode(page["data"], type=list[msgspec.Raw])]
        if len(found) >= len(subject.log) or bytes(page.get("has_more", b"true")) != b"true":
            break
        place = {"cursor": msgspec.json.decode(page["next_cursor"], type=str)}
    same(found, subject.log, "FEED-5", "pages of the feed joined by next_cursor")


async def _feed_stream(subject: Subject) -> None:
    if subject.feed_cursor is None:
        raise NotApplicable("only a run that came while we looked has a known place in the feed")
    ids: list[str] = []
    for cursor, skipped in ((subject.feed_cursor, 0), (None, 3)):
        answer = await subject.asker.stream(
            "/events/stream",
            {"run_id": subject.run_id},
            {"last-event-id": cursor or ids[skipped - 1]},
            until=lambda body: b"event: synced" in body and body.endswith(b"\n\n"),
        )
        frames = [_fields(lines) for lines in _blocks(answer)]
        events = [fields for fields in frames if b"data" in fields and b"event" not in fields]
        where = "the feed" if cursor is not None else f"the feed resumed after {skipped} events"
        same([fields[b"data"] for fields in events], subject.log[skipped:], "FEED-1", where)
        require(all(b"id" in fields for fields in events), "FEED-2", "an event of the feed has no cursor")
        ids = ids or [fields[b"id"].decode("ascii", "replace") for fields in events]
        synced = [fields for fields in frames if fields.get(b"event") == b"synced"]
        told = [b'{"cursor":"%b"}' % fields.get(b"id", b"") for fields in synced]
        kept = bool(synced) and synced[0].get(b"data") == told[0]
        require(kept, "FEED-2", "synced does not carry the cursor as its id and in its data")


SCENARIOS = (
    Scenario(
        "stream-frames",
        ("SSE-1", "SSE-2", "SSE-3", "SSE-5"),
        "A stream begins with `retry`, sends each event as `id` and `data`, says `synced`, and ends with the run.",
        _frames,
    ),
    Scenario("stream-headers", ("SSE-7",), "A stream may be neither stored nor held back on its way.", _headers),
    Scenario("stream-resumed", ("SSE-1", "SSE-3", "CUR-2"), "A stream goes on right after `Last-Event-ID`.", _resumed),
    Scenario("stream-over", ("SSE-6",), "Who has everything of a run that is over is answered with 204.", _over),
    Scenario("stream-heartbeat", ("SSE-4",), "An idle stream says that it lives, every 10 seconds.", _heartbeat),
    Scenario("feed-list", ("FEED-5",), "The pages of the feed lead on without a hole.", _feed_list),
    Scenario(
        "feed-stream",
        ("FEED-1", "FEED-2"),
        "The feed sends bare envelopes with opaque cursors and resumes at them.",
        _feed_stream,
    ),
)
