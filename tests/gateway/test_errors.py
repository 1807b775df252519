"""One shape of failure, and POSTs that are safe to repeat."""

import asyncio
import logging
from pathlib import Path

import pytest
from starlette.responses import Response

from runwire.errors import StoreFull
from runwire.gateway.app import Gateway
from runwire.gateway.call import Call
from runwire.gateway.operation import Operation, Reply
from runwire.gateway.server import serve
from runwire.gateway.services import Services
from runwire.journal.records import RunBirth
from tests.gateway.serving import QUEUED, V1, Served, caller, error_of, serving
from tests.spec import spec

EVENTS = f"{V1}/runs/run_1/events"


@spec("ERR-1")
@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", f"{V1}/nothing", 404, "not_found"),
        ("GET", f"{V1}/runs/", 404, "not_found"),
        ("GET", f"{V1}/runs/a/b/c/d", 404, "not_found"),
        ("GET", f"{V1}/schemas/events/v1/nope.json", 404, "not_found"),
        ("PUT", f"{V1}/runs", 405, "method_not_allowed"),
        ("DELETE", EVENTS, 405, "method_not_allowed"),
        ("OPTIONS", f"{V1}/runs", 405, "method_not_allowed"),
        ("GET", f"{V1}/runs/%ff%00%0a", 404, "run_not_found"),
        ("GET", f"{V1}/runs/%2e%2e", 404, "run_not_found"),
    ],
)
async def test_every_failure_has_the_one_shape(gateway: Served, method: str, path: str, status: int, code: str) -> None:
    response = await gateway.http.request(method, path)
    assert response.status_code == status
    assert error_of(response)["code"] == code
    if status == 405:
        assert "GET" in response.headers["allow"]


async def test_every_answer_names_its_request(gateway: Served) -> None:
    answers = [await gateway.http.get(path) for path in ("/healthz", f"{V1}/runs", f"{V1}/nothing")]
    named = {answer.headers["x-request-id"] for answer in answers}
    assert len(named) == 3
    assert all(name.startswith("req_") for name in named)


@spec("ERR-1", "RED-7")
async def test_a_failure_that_nobody_foresaw_tells_nothing_of_its_cause(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
        raise ZeroDivisionError("the innards")

    route = Operation(method="GET", path="/fails", about="", scope=None, answer=fails, replies=(Reply(""),))
    async with serving(tmp_path / "data") as gateway:
        started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            app = Gateway(gateway.services, [route])
            group.create_task(serve(app, gateway.services, started=started.set_result, stop=stop))
            async with caller(await started, None) as http:
                response = await http.get("/fails")
            stop.set()
    assert response.status_code == 500
    error = error_of(response)
    assert error["code"] == "internal_error"
    assert "innards" not in response.text
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info is not None


@spec("SEQ-4", "ERR-4")
async def test_what_the_store_refuses_is_told_as_it_is(gateway: Served) -> None:
    await gateway.run()
    journal = gateway.services.journal

    def full(_: object) -> None:
        raise StoreFull

    with pytest.raises(StoreFull):
        await journal.write(full)
    before = await gateway.stored("run_1")
    assert (await gateway.http.post(EVENTS, json={"type": "external.x", "data": {}})).status_code == 201
    assert len(await gateway.stored("run_1")) == len(before) + 1


@spec("EXT-4")
async def test_a_repeated_request_is_answered_as_the_first_and_done_once(gateway: Served) -> None:
    await gateway.run()
    key = {"idempotency-key": "k-1"}
    body = {"type": "external.x", "data": {"n": 1}}
    first = await gateway.http.post(EVENTS, json=body, headers=key)
    again = await gateway.http.post(EVENTS, json=body, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(await gateway.stored("run_1")) == 3


@spec("EXT-4")
async def test_repeats_at_the_same_moment_are_done_once(gateway: Served) -> None:
    await gateway.run()
    body = {"type": "external.x", "data": {}}
    answers = await asyncio.gather(
        *(gateway.http.post(EVENTS, json=body, headers={"idempotency-key": "same"}) for _ in range(10))
    )
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert sum("idempotency-replayed" in answer.headers for answer in answers) == 9
    assert len(await gateway.stored("run_1")) == 3


@spec("EXT-4")
async def test_a_key_stands_for_one_request(gateway: Served) -> None:
    await gateway.run()
    await gateway.services.journal.create_run(RunBirth("run_2"), [QUEUED])
    key = {"idempotency-key": "k-1"}
    assert (await gateway.http.post(EVENTS, json={"type": "external.x"}, headers=key)).status_code == 201
    other = await gateway.http.post(EVENTS, json={"type": "external.y"}, headers=key)
    assert other.status_code == 409
    assert error_of(other)["code"] == "idempotency_conflict"
    elsewhere = await gateway.http.post(f"{V1}/runs/run_2/events", json={"type": "external.y"}, headers=key)
    assert elsewhere.status_code == 201
    made = await gateway.services.tokens.create("other", ["write"])
    async with caller(gateway.port, made.secret) as somebody:
        theirs = await somebody.post(EVENTS, json={"type": "external.z"}, headers=key)
        assert theirs.status_code == 201


@spec("EXT-4")
async def test_a_request_that_was_refused_may_be_mended_under_its_key(gateway: Served) -> None:
    key = {"idempotency-key": "k-1"}
    body = {"type": "external.x"}
    assert (await gateway.http.post(EVENTS, json=body, headers=key)).status_code == 404
    await gateway.run()
    assert (await gateway.http.post(EVENTS, json=body, headers=key)).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "a\tb"])
async def test_a_key_that_is_none_is_refused(gateway: Served, key: str) -> None:
    await gateway.run()
    response = await gateway.http.post(EVENTS, json={"type": "external.x"}, headers={"idempotency-key": key})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_request"


@spec("EXT-4", "RED-7")
async def test_a_repeated_request_for_a_token_makes_no_second_one_and_shows_no_secret(gateway: Served) -> None:
    key = {"idempotency-key": "k-1"}
    body = {"name": "ci", "scopes": ["read"]}
    first = (await gateway.http.post(f"{V1}/tokens", json=body, headers=key)).json()
    again = await gateway.http.post(f"{V1}/tokens", json=body, headers=key)
    assert again.status_code == 201
    assert again.json()["token_id"] == first["token_id"]
    assert first["token"] not in again.text
    named = [token["name"] for token in (await gateway.http.get(f"{V1}/tokens")).json()["data"]]
    assert named.count("ci") == 1


async def test_too_many_parameters_are_refused(gateway: Served) -> None:
    response = await gateway.http.get(f"{V1}/runs?" + "&".join(f"p{number}=1" for number in range(100)))
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_request"


async def test_parameters_that_nobody_asks_for_are_passed_over(gateway: Served) -> None:
    assert (await gateway.http.get(f"{V1}/runs", params={"_": "123", "utm": "x"})).status_code == 200
