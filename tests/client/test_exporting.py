"""Exports are complete or an error, also when the answer breaks off."""

import pytest

from runwire.client.client import Client
from runwire.client.patience import Backoff, Patience
from runwire.errors import GatewayError, GatewayUnreachable
from tests.client.logs import RUN, envelope
from tests.client.scripted import Step, answer, scripted, stream

HASTE = Patience(backoff=Backoff(first_s=0.001), give_up_s=0.05)
LINES = HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"


def _run(head: int) -> Step:
    body = b'{"run_id":"%b","status":"running","head_sequence":%d,"head_hash":"sha256:00"}' % (RUN.encode(), head)
    return answer(200, body)


def _line(sequence: int) -> bytes:
    return envelope(sequence) + b"\n"


async def _export(url: str) -> list[bytes]:
    async with Client(url, None, patience=HASTE) as client:
        return [line async for line in client.export(RUN)]


async def test_an_export_that_breaks_off_goes_on_after_the_last_whole_line() -> None:
    async with scripted(
        _run(3),
        stream(_line(0), _line(1) + _line(2)[:30], end="cut", head=LINES),
        stream(_line(2), _line(3), head=LINES),
    ) as server:
        assert await _export(server.url) == [envelope(sequence) for sequence in range(4)]
    assert "after_sequence=1" in server.asked[2].target


async def test_an_export_that_ends_in_order_but_before_the_head_goes_on() -> None:
    async with scripted(_run(2), stream(_line(0), head=LINES), stream(_line(1), _line(2), head=LINES)) as server:
        assert await _export(server.url) == [envelope(sequence) for sequence in range(3)]


async def test_an_export_that_stays_incomplete_is_an_error() -> None:
    async with scripted(_run(2), stream(_line(0), end="cut", head=LINES)) as server:
        with pytest.raises(GatewayUnreachable):
            await _export(server.url)


async def test_a_run_that_is_not_there_is_the_gateways_error() -> None:
    problem = b'{"error":{"code":"run_not_found","message":"there is no run","hint":"","request_id":"","details":{}}}'
    async with scripted(answer(404, problem)) as server:
        with pytest.raises(GatewayError, match="there is no run"):
            await _export(server.url)
