"""Whatever is sent, the answer is one that is documented, and a refusal has the one shape."""

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gateway.processes import TOKEN, Up, up
from tests.gateway.serving import V1
from tests.spec import spec

EVENTS = f"{V1}/runs/run_1/events"
AUTHORIZED = {"authorization": f"Bearer {TOKEN}"}
KNOWN = {200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 413, 416, 422, 431}

paths = st.one_of(
    st.text(max_size=60).map(lambda text: "/" + quote(text, safe="/%")),
    st.sampled_from([EVENTS, f"{V1}/events", f"{V1}/runs", f"{V1}/artifacts", f"{V1}/tokens", "/healthz", "/metrics"]),
    st.text(min_size=1, max_size=40).map(lambda text: f"{V1}/runs/{quote(text, safe='')}/events"),
)
names = st.sampled_from(
    ["after_sequence", "limit", "type", "cursor", "from", "since", "run_id", "agent", "kind", "status", "x"]
)
queries = st.dictionaries(names, st.text(max_size=40), max_size=4)
# What a header may hold on the wire; the rest cannot be sent.
values = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=60)
headers = st.dictionaries(
    st.sampled_from(
        ["accept", "last-event-id", "range", "if-range", "if-none-match", "origin", "idempotency-key", "content-type"]
    ),
    values,
    max_size=4,
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("fuzz") / "data") as running:
        log = b"".join(
            b'{"schema_version":"1","event_id":"evt_%d","run_id":"run_1","sequence":%d,'
            b'"occurred_at":"2026-01-01T00:00:00.00000000%dZ","type":"external.x","data":{}}\n'
            % (number, number, number)
            for number in range(3)
        )
        assert ask(running, "POST", f"{V1}/import", AUTHORIZED, log)[0] == 201
        yield running


def ask(gateway: Up, method: str, target: str, headers: dict[str, str], body: bytes | None = None) -> tuple[int, bytes]:
    """One request; of a live stream, only its beginning is read."""
    where = urlsplit(gateway.url)
    link = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
    try:
        link.putrequest(method, target)
        for name, value in headers.items():
            link.putheader(name, value.encode("latin-1").strip())
        if body is not None:
            link.putheader("content-length", str(len(body)))
        link.endheaders(body)
        answer = link.getresponse()
        live = answer.headers.get("content-type", "").startswith("text/event-stream")
        return answer.status, answer.read(1) if live else answer.read()
    finally:
        link.close()


def check(status: int, body: bytes, method: str) -> None:
    assert status in KNOWN
    if status >= 400 and method != "HEAD":
        error = json.loads(body)["error"]
        assert set(error) == {"code", "message", "hint", "request_id", "details"}


@spec("ERR-1")
@settings(max_examples=150)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH"]), path=paths, query=queries, sent=headers
)
def test_any_question_is_answered(
    gateway: Up, method: str, path: str, query: dict[str, str], sent: dict[str, str]
) -> None:
    target = path + "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    check(*ask(gateway, method, target, AUTHORIZED | sent), method)


@spec("CUR-3", "CUR-4")
@settings(max_examples=100)
@given(cursor=st.one_of(st.text(max_size=30), st.integers(-5, 5).map(str), st.integers().map(str)))
def test_a_cursor_is_understood_or_refused(gateway: Up, cursor: str) -> None:
    status, body = ask(gateway, "GET", f"{EVENTS}?after_sequence={quote(cursor, safe='')}", AUTHORIZED)
    check(status, body, "GET")
    fits = cursor == "-1" or (cursor.isascii() and cursor.isdecimal())
    if fits and int(cursor) <= 2:
        assert status == 200
    else:
        assert json.loads(body)["error"]["code"] in {"invalid_cursor", "cursor_ahead"}


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
bodies = st.one_of(
    st.binary(max_size=200),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {}, optional={"type": st.just("external.x") | st.text(max_size=20), "data": json_values, "events": json_values}
    ).map(lambda value: json.dumps(value).encode()),
)


@spec("ERR-1", "EXT-1")
@settings(max_examples=150)
@given(body=bodies, path=st.sampled_from([EVENTS, f"{V1}/tokens", f"{V1}/prune", f"{V1}/import"]))
def test_any_body_is_taken_or_refused(gateway: Up, body: bytes, path: str) -> None:
    status, answer = ask(gateway, "POST", path, AUTHORIZED, body)
    check(status, answer, "POST")
    assert status in {200, 201, 403, 404, 409, 422}


@spec("ERR-1")
@settings(max_examples=100)
@given(noise=st.binary(min_size=1, max_size=300))
def test_noise_on_the_line_is_refused_and_harms_nobody(gateway: Up, noise: bytes) -> None:
    where = urlsplit(gateway.url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=10) as link:
        link.sendall(noise)
        link.shutdown(socket.SHUT_WR)
        answer = b""
        while part := link.recv(65536):
            answer += part
    if answer:
        head, _, body = answer.partition(b"\r\n\r\n")
        check(int(head.split(b" ")[1]), body, "")
    assert ask(gateway, "GET", "/healthz", {})[0] == 200


def test_it_has_survived_all_that(gateway: Up) -> None:
    assert gateway.process.poll() is None
    assert ask(gateway, "GET", "/readyz", AUTHORIZED)[0] == 200
