"""Who may call: tokens, scopes, names and origins."""

import asyncio
import re
from pathlib import Path

import pytest

from runwire.gateway.routes import ROUTES
from runwire.journal.tokens import Scope
from tests.gateway.serving import SSE, V1, Served, Subscription, caller, error_of, serving
from tests.patience import PATIENCE_S
from tests.spec import spec

OPEN = {"/healthz", f"{V1}/healthz"}
STATIC = {"/", "/assets/{name}"}
ROUTED = [(operation.method, operation.path) for operation in ROUTES]


def filled(path: str) -> str:
    known = {"run_id": "run_1", "task_id": "task_1", "name": "envelope.json"}
    return re.sub(r"\{(\w+)\}", lambda named: known.get(named[1], "nobody"), path)


@spec("ACC-1")
@pytest.mark.parametrize("authorization", [None, "Bearer", "Bearer wrong", "Basic {}", "{}", "Bearer {}x"])
async def test_nobody_without_a_token_gets_past_the_door(gateway: Served, authorization: str | None) -> None:
    await gateway.run()
    headers = {} if authorization is None else {"authorization": authorization.format(gateway.token)}
    async with caller(gateway.port, None) as stranger:
        for method, path in ROUTED:
            response = await stranger.request(method, filled(path), headers=headers)
            if path in OPEN:
                assert response.status_code == 200
                continue
            if path in STATIC:
                assert response.status_code in {200, 404, 503}, path
                continue
            assert response.status_code == 401, path
            assert error_of(response)["code"] == "unauthorized"
            assert response.headers["www-authenticate"].startswith("Bearer")
        unknown = await stranger.get("/nothing/here", headers=headers)
        assert unknown.status_code == 401


@spec("ACC-1")
async def test_a_token_is_good_in_any_case_of_its_scheme_and_until_it_is_revoked(gateway: Served) -> None:
    made = await gateway.services.tokens.create("ci", ["read"])
    async with caller(gateway.port, None) as http:
        headers = {"authorization": f"bearer {made.secret}"}
        assert (await http.get(f"{V1}/runs", headers=headers)).status_code == 200
        assert (await gateway.http.delete(f"{V1}/tokens/{made.token.token_id}")).status_code == 204
        assert (await http.get(f"{V1}/runs", headers=headers)).status_code == 401


@spec("ACC-1")
async def test_the_token_of_the_environment_may_do_everything(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", token="a-token-of-my-own") as gateway:
        async with caller(gateway.port, "a-token-of-my-own") as http:
            assert (await http.get(f"{V1}/tokens")).status_code == 200
        async with caller(gateway.port, gateway.token) as http:
            assert (await http.get(f"{V1}/tokens")).status_code == 200


@spec("ACC-2")
@pytest.mark.parametrize("scope", ["read", "operate", "write", "admin"])
async def test_a_token_is_good_for_its_scope_and_no_more(gateway: Served, scope: Scope) -> None:
    implied = {"read": {"read"}, "operate": {"read", "operate"}, "write": {"read", "write"}}
    allowed = implied.get(scope, {"read", "operate", "write", "admin"})
    made = await gateway.services.tokens.create("some", [scope])
    async with caller(gateway.port, made.secret) as http:
        for operation in ROUTES:
            if operation.scope is None or operation.path.endswith("/stream"):
                continue
            response = await http.request(operation.method, filled(operation.path))
            if operation.scope in allowed:
                assert response.status_code != 403, operation
            else:
                assert response.status_code == 403, operation
                error = error_of(response)
                assert (error["code"], error["details"]) == ("forbidden", {"scope": operation.scope})


@spec("ACC-3")
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:7437", "127.0.0.1.evil.example", "192.168.1.5", "localhost.evil", "", "[::2]",
     "evil@localhost", "localhost/x", "0.0.0.0", "10.0.0.1:80", "localhost:99999999", "localhos\u0131"],
)  # fmt: skip
async def test_a_name_that_is_not_ours_is_refused(gateway: Served, host: str) -> None:
    for path in ("/healthz", f"{V1}/runs"):
        response = await gateway.http.get(path, headers=[(b"host", host.encode())])
        assert response.status_code == 403
        assert error_of(response)["code"] == "host_not_allowed"


@spec("ACC-3")
@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:5", "[::1]", "[::1]:7437", "a.localhost", "localhost."]
)
async def test_local_names_are_ours(gateway: Served, host: str) -> None:
    assert (await gateway.http.get(f"{V1}/runs", headers={"host": host})).status_code == 200


@spec("ACC-3")
async def test_a_request_without_a_name_or_with_two_is_refused(gateway: Served) -> None:
    for hosts in ("", "Host: localhost\r\nHost: evil.example\r\n"):
        answer = await gateway.raw(f"GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b'"host_not_allowed"' in answer


@spec("ACC-3", "ACC-4")
async def test_names_and_origins_can_be_allowed(tmp_path: Path) -> None:
    hosts, origins = ("runwire.example",), ("https://console.example",)
    async with serving(tmp_path / "data", allowed_hosts=hosts, allowed_origins=origins) as gateway:
        host = {"host": "RunWire.example:8443"}
        assert (await gateway.http.get(f"{V1}/runs", headers=host)).status_code == 200
        origin = {"origin": "https://console.example"}
        response = await gateway.http.get(f"{V1}/runs", headers=origin)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == "https://console.example"
        assert response.headers["vary"] == "origin"
        refused = await gateway.http.get(f"{V1}/runs/none", headers=origin)
        assert refused.headers["access-control-allow-origin"] == "https://console.example"
        async with caller(gateway.port, None) as page:
            asked = {
                **origin,
                "access-control-request-method": "POST",
                "access-control-request-headers": "authorization",
            }
            preflight = await page.options(f"{V1}/runs/run_1/events", headers=asked)
            assert preflight.status_code == 204
            assert "POST" in preflight.headers["access-control-allow-methods"]
            assert "authorization" in preflight.headers["access-control-allow-headers"]
            assert (await page.get(f"{V1}/runs", headers=origin)).status_code == 401


@spec("ACC-4")
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://", "http://localhost.evil", ""],
)
async def test_a_page_of_another_site_is_refused(gateway: Served, origin: str) -> None:
    for method, path in (("GET", f"{V1}/runs"), ("POST", f"{V1}/runs/run_1/events"), ("OPTIONS", f"{V1}/runs")):
        asked = {"origin": origin, "access-control-request-method": "GET"}
        response = await gateway.http.request(method, path, headers=asked)
        assert response.status_code == 403
        assert error_of(response)["code"] == "origin_not_allowed"
        assert "access-control-allow-origin" not in response.headers


@spec("ACC-4")
async def test_a_page_of_our_own_may_call(gateway: Served) -> None:
    origin = {"origin": f"http://127.0.0.1:{gateway.port}"}
    response = await gateway.http.get(f"{V1}/runs", headers=origin)
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@spec("ACC-1", "ACC-4")
async def test_streams_are_behind_the_same_door(gateway: Served) -> None:
    await gateway.run()
    async with caller(gateway.port, None) as stranger:
        assert (await stranger.get(f"{V1}/runs/run_1/events", headers=SSE)).status_code == 401
        assert (await stranger.get(f"{V1}/events/stream", headers=SSE)).status_code == 401
    foreign = SSE | {"origin": "https://evil.example"}
    assert (await gateway.http.get(f"{V1}/runs/run_1/events", headers=foreign)).status_code == 403


@spec("ACC-1")
async def test_guessing_many_tokens_at_once_finds_none(gateway: Served) -> None:
    async with caller(gateway.port, None) as stranger:
        guesses = [{"authorization": f"Bearer rw_{number}"} for number in range(50)]
        answers = await asyncio.gather(*(stranger.get(f"{V1}/runs", headers=guess) for guess in guesses))
    assert {answer.status_code for answer in answers} == {401}


STREAMS = ("/runs/run_1/events", "/events/stream")


@spec("ACC-1")
@pytest.mark.parametrize("path", STREAMS)
async def test_a_stream_ends_with_the_revocation_of_its_token(gateway: Served, path: str) -> None:
    await gateway.run()
    made = await gateway.services.tokens.create("ci", ["read"])
    async with (
        caller(gateway.port, made.secret) as http,
        http.stream("GET", V1 + path, headers=SSE) as revoked,
        gateway.subscribed(path) as other,
    ):
        stream = Subscription(revoked, revoked.aiter_raw())
        await stream.until("synced")
        await other.until("synced")
        assert (await gateway.http.delete(f"{V1}/tokens/{made.token.token_id}")).status_code == 204
        # Far sooner than any heartbeat, and the end is a clean one.
        async with asyncio.timeout(gateway.services.config.heartbeat_s / 2):
            assert await stream.rest() == []
        await gateway.say("run_1", "for those who may stay")
        assert b"may stay" in (await other.message()).data
    assert (await gateway.http.get(f"{V1}/runs")).status_code == 200


@spec("ACC-1")
@pytest.mark.parametrize("path", STREAMS)
async def test_a_stream_ends_when_its_token_expires(gateway: Served, path: str) -> None:
    await gateway.run()
    made = await gateway.services.tokens.create("ci", ["read"], ttl_s=3)
    async with (
        caller(gateway.port, made.secret) as http,
        http.stream("GET", V1 + path, headers=SSE) as response,
        asyncio.timeout(PATIENCE_S / 2),
    ):
        assert response.status_code == 200
        stream = Subscription(response, response.aiter_raw())
        assert (await stream.rest())[-1].event == "synced"


@spec("ACC-1")
async def test_a_stream_that_is_opened_while_its_token_is_revoked_ends(gateway: Served) -> None:
    made = await gateway.services.tokens.create("ci", ["read"])
    # It was recognised, then revoked, and only now does its stream begin.
    gateway.services.tenures.revoke(made.token.token_id)
    async with (
        caller(gateway.port, made.secret) as http,
        http.stream("GET", f"{V1}/events/stream", headers=SSE) as response,
        asyncio.timeout(PATIENCE_S / 2),
    ):
        await Subscription(response, response.aiter_raw()).rest()
