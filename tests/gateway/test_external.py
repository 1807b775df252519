"""What outside callers may append, and what they may not."""

from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from tests.gateway.serving import V1, Served, caller, error_of, serving
from tests.spec import spec

EVENTS = f"{V1}/runs/run_1/events"


@pytest.fixture
async def run(gateway: Served) -> Served:
    await gateway.run()
    return gateway


@pytest.mark.parametrize("path", [EVENTS, f"{V1}/tasks/task_1/runs/run_1/events"])
async def test_the_answer_is_the_stored_event(run: Served, path: str) -> None:
    response = await run.http.post(path, json={"type": "external.ci", "data": {"passed": True, "ratio": 0.50}})
    assert response.status_code == 201
    stored = await run.stored("run_1")
    assert response.content == stored[2]
    assert msgspec.json.decode(stored[2])["data"] == {"passed": True, "ratio": 0.5}


async def test_several_events_are_stored_side_by_side(run: Served) -> None:
    events = [{"type": f"external.e{number}", "data": {"n": number}} for number in range(5)]
    response = await run.http.post(EVENTS, json={"events": events})
    assert response.status_code == 201
    stored = await run.stored("run_1")
    assert response.content == b'{"object":"list","data":[%b]}' % b",".join(stored[2:])


async def test_data_is_kept_as_it_was_written(run: Served) -> None:
    body = b'{"type":"external.x","data":{"big":12345678901234567890123,"exp":1e3,"text":"\\u00e9"}}'
    response = await run.http.post(EVENTS, content=body)
    assert response.status_code == 201
    assert b'"data":{"big":12345678901234567890123,"exp":1e3,"text":"\\u00e9"}' in response.content


@spec("EXT-1", "ERR-4")
@pytest.mark.parametrize(
    "event_type", ["run.finished", "approval.resolved", "agent.state_changed", "x", "External.x", ""]
)
async def test_any_other_type_is_refused_and_leaves_nothing_behind(run: Served, event_type: str) -> None:
    before = await run.stored("run_1")
    bodies = [
        {"type": event_type, "data": {}},
        {"events": [{"type": "external.ok", "data": {}}, {"type": event_type, "data": {}}]},
    ]
    for body in bodies:
        response = await run.http.post(EVENTS, json=body)
        assert response.status_code == 403
        assert error_of(response)["code"] == "type_not_allowed"
    assert await run.stored("run_1") == before


@spec("EXT-2", "ACC-6", "ERR-4")
async def test_more_than_a_quarter_of_a_mebibyte_is_refused(run: Served) -> None:
    before = await run.stored("run_1")
    frame = len(b'{"type":"external.x","data":{"t":""}}')
    fits = b'{"type":"external.x","data":{"t":"%b"}}' % (b"x" * (256 * 1024 - frame))
    too_large = await run.http.post(EVENTS, content=fits + b" ")
    assert too_large.status_code == 413
    assert error_of(too_large)["code"] == "body_too_large"
    assert await run.stored("run_1") == before
    assert (await run.http.post(EVENTS, content=fits)).status_code == 201


@spec("EXT-2")
async def test_a_body_is_counted_even_when_nobody_says_how_long_it_is(run: Served) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(30):
            yield b"x" * 10_000

    response = await run.http.post(EVENTS, content=pieces())
    assert response.status_code == 413
    assert error_of(response)["code"] == "body_too_large"


@spec("ERR-2", "ERR-4")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "external.x", "data": {}, "sequence": 3}, "sequence"),
        ({"events": [{"type": "external.x", "dat": {}}]}, "events[0].dat"),
    ],
)
async def test_an_unknown_field_is_named(run: Served, body: dict[str, object], field: str) -> None:
    before = await run.stored("run_1")
    response = await run.http.post(EVENTS, json=body)
    assert response.status_code == 422
    error = error_of(response)
    assert (error["code"], error["details"]) == ("unknown_field", {"field": field})
    assert await run.stored("run_1") == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"data":{}}',
        b'{"type":1}',
        b'{"type":"external.x","data":null}',
        b'{"type":"external.x","data":[]}',
        b'{"type":"external.BAD","data":{}}',
        b'{"type":"external.","data":{}}',
        b'{"type":"external.x","events":[]}',
        b'{"events":[]}',
        b'{"type":"external.x","data":{"a":\xff}}',
        b'{"type":"external.x","data":{"a":"\xff"}}',
        b'{"type":"external.x","data":{"a":"\\ud800"}}',
        b'{"type":"external.x","data":{"a":' + b"[" * 50_000 + b"}}",
        b'{"type":"external.x","data":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
        b'{"type":"external.x","data":{}}{}',
    ],
)
@spec("ERR-4")
async def test_a_body_that_is_no_event_is_refused_and_leaves_nothing_behind(run: Served, body: bytes) -> None:
    before = await run.stored("run_1")
    response = await run.http.post(EVENTS, content=body)
    assert response.status_code == 422
    assert error_of(response)["code"] == "invalid_body"
    assert await run.stored("run_1") == before


@spec("EXT-3")
async def test_an_external_event_changes_nothing_about_a_run(run: Served) -> None:
    before = (await run.http.get(f"{V1}/runs/run_1")).json()
    await run.http.post(EVENTS, json={"type": "external.run.finished", "data": {"final_status": "failed"}})
    after = (await run.http.get(f"{V1}/runs/run_1")).json()
    moved = {"head_sequence", "head_hash", "updated_at"}
    assert {key: value for key, value in after.items() if key not in moved} == {
        key: value for key, value in before.items() if key not in moved
    }
    assert after["head_sequence"] == before["head_sequence"] + 1


async def test_a_finished_run_takes_no_more(run: Served) -> None:
    await run.finish("run_1")
    response = await run.http.post(EVENTS, json={"type": "external.x", "data": {}})
    assert response.status_code == 409
    assert error_of(response)["code"] == "run_finished"


@spec("ERR-3")
async def test_an_unknown_run_takes_nothing(run: Served) -> None:
    response = await run.http.post(f"{V1}/runs/run_2/events", json={"type": "external.x", "data": {}})
    assert response.status_code == 404
    assert error_of(response)["code"] == "run_not_found"


@spec("RED-1", "RED-7")
async def test_a_secret_is_taken_out_before_anybody_sees_it(run: Served) -> None:
    secret = (await run.services.tokens.create("ci", ["write"])).secret
    async with caller(run.port, secret) as http:
        response = await http.post(EVENTS, json={"type": "external.x", "data": {"said": f"my token is {secret}"}})
        assert response.status_code == 201
        assert secret not in response.text
        assert response.json()["data"]["redacted_paths"] == ["/said"]
        refused = await http.get(f"{V1}/runs/{secret}")
        assert refused.status_code == 404
        assert secret not in refused.text
        error_of(refused)


@spec("RED-1", "ERR-4")
async def test_a_type_that_holds_a_secret_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", token="sesame_open_wide_7") as gateway:
        await gateway.run()
        before = await gateway.stored("run_1")
        event = {"type": "external.say.sesame_open_wide_7", "data": {}}
        for body in (event, {"events": [{"type": "external.ok"}, event]}):
            response = await gateway.http.post(EVENTS, json=body)
            assert response.status_code == 422
            error = error_of(response)
            assert (error["code"], error["message"]) == (
                "invalid_body",
                "the body cannot be read: the type holds a secret",
            )
            assert "sesame" not in response.text
        assert await gateway.stored("run_1") == before
