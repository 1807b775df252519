"""The gateway without a socket: answers are streamed, bodies too, and a hang-up is told."""

import asyncio
from collections.abc import AsyncGenerator

import httpx2
import pytest

from runwire.client.embedded import App, EmbeddedTransport, Message, Receive, Send


def _client(app: App) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=EmbeddedTransport(app), base_url="http://127.0.0.1")


async def _begin(send: Send, status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"x-made-by", b"app")]})


async def _piece(send: Send, body: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def test_an_answer_is_seen_while_it_is_still_being_made() -> None:
    seen = asyncio.Event()

    async def app(_: Message, receive: Receive, send: Send) -> None:
        await receive()
        await _begin(send)
        await _piece(send, b"first", more=True)
        # A transport that waits for the whole answer would wait for ever.
        await seen.wait()
        await _piece(send, b"second", more=False)

    async with _client(app) as client, client.stream("GET", "/") as response:
        pieces = response.aiter_raw()
        assert await anext(pieces) == b"first"
        seen.set()
        assert [piece async for piece in pieces] == [b"second"]
        assert response.headers["x-made-by"] == "app"


async def test_an_app_that_writes_faster_than_it_is_read_has_to_wait() -> None:
    written = 0

    async def app(_: Message, _receive: Receive, send: Send) -> None:
        nonlocal written
        await _begin(send)
        while True:
            await _piece(send, b"x", more=True)
            written += 1

    async with _client(app) as client, client.stream("GET", "/") as response:
        pieces = response.aiter_raw()
        for _ in range(10):
            await anext(pieces)
        for _ in range(100):
            await asyncio.sleep(0)
        assert 10 <= written <= 13


async def test_a_body_reaches_the_app_piece_by_piece() -> None:
    received: list[bytes] = []
    may_go_on = asyncio.Event()

    async def body() -> AsyncGenerator[bytes]:
        yield b"one"
        await may_go_on.wait()
        yield b"two"

    async def app(_: Message, receive: Receive, send: Send) -> None:
        more = True
        while more:
            message = await receive()
            more = message["more_body"]
            received.append(message["body"])
            may_go_on.set()
        await _begin(send, 201)
        await _piece(send, b"done", more=False)

    async with _client(app) as client:
        response = await client.post("/", content=body())
    assert (response.status_code, response.content) == (201, b"done")
    assert b"".join(received) == b"onetwo"
    assert received[0] == b"one"


async def test_an_app_is_told_when_its_reader_has_gone() -> None:
    told = asyncio.Event()

    async def app(_: Message, receive: Receive, send: Send) -> None:
        await receive()
        await _begin(send)
        await _piece(send, b"first", more=True)
        if (await receive())["type"] == "http.disconnect":
            told.set()
        with pytest.raises(OSError, match="hung up"):
            await _piece(send, b"second", more=True)

    async with _client(app) as client:
        async with client.stream("GET", "/") as response:
            await anext(response.aiter_raw())
        assert told.is_set()


async def test_an_app_that_will_not_hear_of_it_is_ended() -> None:
    ended = asyncio.Event()

    async def app(_: Message, _receive: Receive, send: Send) -> None:
        await _begin(send)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with _client(app) as client, client.stream("GET", "/"):
        pass
    assert ended.is_set()


async def test_an_app_that_fails_before_its_answer_is_a_transport_error() -> None:
    async def app(_: Message, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("broken")

    async with _client(app) as client:
        with pytest.raises(httpx2.TransportError, match="broken"):
            await client.get("/")


async def test_an_app_that_fails_within_its_answer_does_not_look_as_if_it_had_ended() -> None:
    async def app(_: Message, _receive: Receive, send: Send) -> None:
        await _begin(send)
        await _piece(send, b"half", more=True)

    async with _client(app) as client:
        with pytest.raises(httpx2.TransportError, match="broke off"):
            await client.get("/")


async def test_the_app_sees_the_request_as_it_was_made() -> None:
    scopes: list[Message] = []

    async def app(scope: Message, _receive: Receive, send: Send) -> None:
        scopes.append(scope)
        await _begin(send)
        await _piece(send, b"", more=False)

    async with _client(app) as client:
        await client.get("/runs/a%2Fb?type=run.*", headers={"Last-Event-ID": "4"})
    (scope,) = scopes
    assert scope["path"] == "/runs/a/b"
    assert scope["raw_path"] == b"/runs/a%2Fb"
    assert scope["query_string"] == b"type=run.*"
    assert (b"last-event-id", b"4") in scope["headers"]
    assert (b"host", b"127.0.0.1") in scope["headers"]
