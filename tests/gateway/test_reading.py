"""Reading a run as a list or as a file: cursors, limits, filters and exact bytes."""

import msgspec
import pytest

from runwire.protocol.envelope import sequence_of, type_of
from tests.gateway.serving import NDJSON, SSE, V1, Served, error_of, messages, note, parse_frames
from tests.spec import spec

PATHS = (f"{V1}/runs/run_1/events", f"{V1}/tasks/task_1/runs/run_1/events")


async def sequences(gateway: Served, query: str, headers: dict[str, str] | None = None) -> list[int]:
    response = await gateway.http.get(f"{PATHS[0]}?{query}", headers=headers)
    assert response.status_code == 200, response.text
    return [event["sequence"] for event in response.json()["data"]]


@spec("CUR-1")
@pytest.mark.parametrize(
    ("query", "first"), [("", 0), ("after_sequence=-1", 0), ("after_sequence=0", 1), ("after_sequence=3", 4)]
)
async def test_a_cursor_is_the_last_sequence_that_the_reader_has(gateway: Served, query: str, first: int) -> None:
    await gateway.run()
    await gateway.say("run_1", "a", "b", "c")
    assert await sequences(gateway, query) == list(range(first, 5))


@spec("CUR-2")
async def test_what_a_browser_sends_beats_what_its_url_says(gateway: Served) -> None:
    await gateway.run()
    assert await sequences(gateway, "after_sequence=-1", {"last-event-id": "0"}) == [1]
    for stale in ("99", "-2", "nonsense", ""):
        assert await sequences(gateway, f"after_sequence={stale}", {"last-event-id": "0"}) == [1]


@spec("CUR-3", "ERR-1")
@pytest.mark.parametrize("cursor", ["-2", "x", "1.0", "", "+1", " 1", "٣", "-" + "9" * 40, "0x1", "-01"])
@pytest.mark.parametrize("headers", [{}, SSE, NDJSON])
async def test_a_cursor_that_is_no_sequence_is_refused(gateway: Served, cursor: str, headers: dict[str, str]) -> None:
    await gateway.run()
    response = await gateway.http.get(PATHS[0], params={"after_sequence": cursor}, headers=headers)
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_cursor"


@spec("CUR-3")
async def test_a_last_event_id_that_is_no_sequence_is_refused(gateway: Served) -> None:
    await gateway.run()
    response = await gateway.http.get(PATHS[0], headers={"last-event-id": "abc"})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_cursor"


@spec("CUR-4")
@pytest.mark.parametrize("cursor", ["2", "9" * 18, "1" + "0" * 18, str(2**63), "9" * 40, "9" * 5000])
@pytest.mark.parametrize("headers", [{}, SSE, NDJSON])
async def test_a_cursor_beyond_the_head_is_told_the_head(gateway: Served, cursor: str, headers: dict[str, str]) -> None:
    await gateway.run()
    response = await gateway.http.get(PATHS[0], params={"after_sequence": cursor}, headers=headers)
    assert response.status_code == 400
    error = error_of(response)
    assert error["code"] == "cursor_ahead"
    assert error["details"] == {"head": 1}


@spec("CUR-1")
async def test_zeros_before_a_cursor_mean_nothing(gateway: Served) -> None:
    await gateway.run()
    assert await sequences(gateway, "after_sequence=" + "0" * 5000) == [1]


@spec("CUR-5")
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("run.*", [0, 1, 5]),
        ("external.a.b", [3]),
        ("external.*", [2, 3, 4]),
        ("*.b", [3]),
        ("run.started,external.note", [1, 2]),
        ("*", [0, 1, 2, 3, 4, 5]),
        ("tool.*", []),
    ],
)
async def test_a_filter_lets_through_what_it_names(gateway: Served, wanted: str, found: list[int]) -> None:
    await gateway.run()
    others = [note("x"), note("x", "external.a.b"), note("x", "external.a.c")]
    await gateway.services.journal.append_all("run_1", others)
    await gateway.finish("run_1")
    assert await sequences(gateway, f"type={wanted}") == found
    lines = (await gateway.http.get(PATHS[0], params={"type": wanted}, headers=NDJSON)).content.splitlines()
    assert [sequence_of(line) for line in lines] == found
    stream = await gateway.http.get(PATHS[0], params={"type": wanted}, headers=SSE)
    frames = parse_frames(stream.content) if found else []
    assert [int(frame.id or -1) for frame in frames if frame.event == "message"] == found
    assert stream.status_code == (200 if found else 204)


@pytest.mark.parametrize("wanted", ["", "UPPER", "run.*,,x", "a b", "run.*;drop", "x" * 3000])
async def test_a_filter_that_makes_no_sense_is_refused(gateway: Served, wanted: str) -> None:
    await gateway.run()
    response = await gateway.http.get(PATHS[0], params={"type": wanted})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_filter"


@spec("CUR-6", "SEQ-6")
async def test_both_paths_and_every_form_give_the_stored_bytes(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *[f"Zürich {number} €" for number in range(50)])
    await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    for path in PATHS:
        page = msgspec.json.decode((await gateway.http.get(path)).content, type=dict[str, msgspec.Raw])
        assert [bytes(raw) for raw in msgspec.json.decode(page["data"], type=list[msgspec.Raw])] == stored
        assert (await gateway.http.get(path, headers=NDJSON)).content == b"".join(line + b"\n" for line in stored)
        assert messages(parse_frames((await gateway.http.get(path, headers=SSE)).content)) == stored


@spec("CUR-6", "ERR-3")
async def test_a_run_is_not_found_in_another_task(gateway: Served) -> None:
    await gateway.run()
    for path in ("/tasks/task_2/runs/run_1", "/tasks/task_2/runs/run_1/events", "/runs/run_2", "/runs/run_2/events"):
        response = await gateway.http.get(V1 + path)
        assert response.status_code == 404
        assert error_of(response)["code"] == "run_not_found"


@spec("BULK-1", "BULK-3")
async def test_a_list_is_just_this(gateway: Served) -> None:
    await gateway.run()
    stored = await gateway.stored("run_1")
    body = (await gateway.http.get(PATHS[0])).content
    assert body == b'{"object":"list","data":[%b],"has_more":false,"next_after_sequence":1}' % b",".join(stored)


@spec("BULK-1")
async def test_an_empty_list_says_where_it_stands(gateway: Served) -> None:
    await gateway.run()
    body = (await gateway.http.get(PATHS[0], params={"after_sequence": 1})).content
    assert body == b'{"object":"list","data":[],"has_more":false,"next_after_sequence":1}'


@spec("BULK-1", "BULK-2")
@pytest.mark.parametrize("size", [1, 3, 7, 5000])
async def test_pages_join_to_the_whole_without_a_seam(gateway: Served, size: int) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(18)))
    found, after, more = [], -1, True
    while more:
        page = (await gateway.http.get(PATHS[0], params={"limit": size, "after_sequence": after})).json()
        found += [event["sequence"] for event in page["data"]]
        assert len(page["data"]) <= size
        more, after = page["has_more"], page["next_after_sequence"]
    assert found == list(range(20))
    assert after == 19


@spec("BULK-1", "CUR-5")
async def test_a_filtered_page_says_more_only_when_there_is_more_to_see(gateway: Served) -> None:
    await gateway.run(
        note("a", "external.a"), note("b", "external.b"), note("a", "external.a"), note("b", "external.b")
    )
    first = (await gateway.http.get(PATHS[0], params={"limit": 1, "type": "external.a"})).json()
    assert [event["sequence"] for event in first["data"]] == [0]
    assert first["has_more"] is True
    after = first["next_after_sequence"]
    second = (
        await gateway.http.get(PATHS[0], params={"limit": 1, "type": "external.a", "after_sequence": after})
    ).json()
    assert [event["sequence"] for event in second["data"]] == [2]
    assert second["has_more"] is False


@spec("BULK-2")
async def test_a_list_holds_five_hundred_unless_told_otherwise(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(700)))
    assert len(await sequences(gateway, "")) == 500
    assert len(await sequences(gateway, "limit=5000")) == 702


@spec("BULK-2")
@pytest.mark.parametrize("limit", ["0", "5001", "-1", "x", "", "1.5", "9" * 30])
async def test_a_limit_out_of_range_is_refused(gateway: Served, limit: str) -> None:
    await gateway.run()
    response = await gateway.http.get(PATHS[0], params={"limit": limit})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_limit"


@spec("BULK-4", "SEQ-6")
async def test_a_file_holds_the_whole_log_however_large_sealed_or_not(gateway: Served) -> None:
    await gateway.run()
    for start in range(0, 3000, 500):
        await gateway.say("run_1", *[f"{number} {'x' * 300}" for number in range(start, start + 500)])
    await gateway.services.journal.keeper.seal_all()
    await gateway.say("run_1", "the end", "y" * 200_000)
    stored = await gateway.stored("run_1")
    response = await gateway.http.get(PATHS[0], headers=NDJSON)
    assert response.headers["content-type"] == "application/x-ndjson"
    assert response.content == b"".join(line + b"\n" for line in stored)
    rest = await gateway.http.get(PATHS[0], headers=NDJSON, params={"after_sequence": 2999})
    assert rest.content == b"".join(line + b"\n" for line in stored[3000:])


@spec("SEQ-6")
async def test_a_log_reads_the_same_after_it_was_sealed(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(1000)))
    before = (await gateway.http.get(PATHS[0], headers=NDJSON)).content
    await gateway.services.journal.keeper.seal_all()
    assert (await gateway.http.get(PATHS[0], headers=NDJSON)).content == before


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", "application/json"),
        ("text/html", "application/json"),
        ("application/json, text/event-stream;q=0.5", "application/json"),
        ("application/json;q=0.1, application/x-ndjson", "application/x-ndjson"),
        ("text/event-stream;q=0, application/json", "application/json"),
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("TEXT/EVENT-STREAM", "text/event-stream; charset=utf-8"),
        ("nonsense;;;q=x,,", "application/json"),
    ],
)
async def test_the_accept_header_decides_the_form(gateway: Served, accept: str, form: str) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    response = await gateway.http.get(PATHS[0], headers={"accept": accept})
    assert response.headers["content-type"] == form


@pytest.mark.parametrize("headers", [{}, SSE, NDJSON])
async def test_head_answers_like_get_without_a_body(gateway: Served, headers: dict[str, str]) -> None:
    await gateway.run()
    response = await gateway.http.head(PATHS[0], headers=headers)
    assert response.status_code == 200
    assert response.content == b""
    wrong = await gateway.http.head(PATHS[0], headers=headers, params={"after_sequence": "9"})
    assert wrong.status_code == 400


@spec("GAP-3")
async def test_a_reader_from_before_a_gap_is_sent_the_marker(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(10)))
    await gateway.services.retention.prune("run_1", 6)
    for headers in ({}, NDJSON):
        for after in (-1, 3):
            response = await gateway.http.get(PATHS[0], params={"after_sequence": after}, headers=headers)
            lines = response.content.splitlines()
            first = lines[0] if headers else msgspec.json.encode(response.json()["data"][0])
            assert (type_of(first), sequence_of(first)) == ("gap.events_pruned", 6)


@spec("GAP-3")
@pytest.mark.parametrize("headers", [{}, SSE, NDJSON])
async def test_a_reader_that_wants_other_types_is_told_of_a_gap_all_the_same(
    gateway: Served, headers: dict[str, str]
) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(10)))
    await gateway.services.retention.prune("run_1", 6)
    await gateway.finish("run_1")
    response = await gateway.http.get(PATHS[0], params={"type": "run.*"}, headers=headers)
    assert b"gap.events_pruned" in response.content
    assert b"external.note" not in response.content
