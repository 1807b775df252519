"""Whether it lives, whether it can work, how it fares, and what it writes down."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwire.errors import StoreError
from runwire.gateway.logs import set_up_logs
from runwire.protocol.catalogue import CATALOGUE
from runwire.version import VERSION
from tests.gateway.serving import SSE, V1, Served, caller, error_of, serving
from tests.spec import spec


@pytest.mark.parametrize("path", ["/healthz", f"{V1}/healthz"])
async def test_whoever_asks_is_told_that_it_lives(gateway: Served, path: str) -> None:
    async with caller(gateway.port, None) as stranger:
        assert (await stranger.get(path)).json() == {"status": "ok", "version": VERSION}


@pytest.mark.parametrize("path", ["/readyz", f"{V1}/readyz"])
async def test_it_is_ready_when_the_journal_can_be_written(gateway: Served, path: str) -> None:
    assert (await gateway.http.get(path)).json() == {"status": "ready"}
    gateway.services.closing.set()
    response = await gateway.http.get(path)
    assert response.status_code == 503
    assert error_of(response)["code"] == "shutting_down"


async def test_it_is_not_ready_while_somebody_else_holds_the_database(tmp_path: Path) -> None:
    import apsw

    from runwire.journal.layout import database_of

    async with serving(tmp_path / "data") as gateway:
        other = apsw.Connection(str(database_of(tmp_path / "data")))
        other.execute("BEGIN IMMEDIATE")
        response = await gateway.http.get("/readyz")
        assert response.status_code == 503
        assert error_of(response)["code"] == "unavailable"
        other.execute("ROLLBACK")
        other.close()
        assert (await gateway.http.get("/readyz")).status_code == 200


@pytest.mark.parametrize("path", ["/metrics", f"{V1}/metrics"])
async def test_what_is_counted_can_be_scraped(gateway: Served, path: str) -> None:
    await gateway.run()
    async with gateway.subscribed("/runs/run_1/events") as stream:
        await stream.until("synced")
        await gateway.http.get(f"{V1}/runs/run_1")
        await gateway.http.get(f"{V1}/runs/run_2")
        response = await gateway.http.get(path)
    assert response.headers["content-type"].startswith("text/plain")
    figures = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    assert float(figures["runwire_events_appended_total"]) == 2
    assert float(figures["runwire_commits_total"]) >= 1
    assert float(figures["runwire_commit_seconds_total"]) > 0
    assert float(figures["runwire_append_backlog"]) == 0
    assert float(figures["runwire_unsealed_bytes"]) > 0
    assert float(figures["runwire_stream_subscribers"]) == 1
    assert float(figures["runwire_stream_bytes_total"]) > 500
    counted = 'runwire_http_requests_total{method="GET",route="/hecate/v1/runs/{run_id}",status="%d"}'
    assert (figures[counted % 200], figures[counted % 404]) == ("1.0", "1.0")


@spec("TYP-9")
async def test_every_schema_is_served(gateway: Served) -> None:
    index = (await gateway.http.get(f"{V1}/schemas/events/v1/")).json()["data"]
    assert {"envelope", "event", *CATALOGUE} == {entry["name"] for entry in index}
    for entry in index:
        schema = (await gateway.http.get(entry["url"])).json()
        assert schema["$id"] == entry["url"]
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root, ours = logging.getLogger(), logging.getLogger("runwire")
    before, levels = root.handlers[:], (root.level, ours.level)
    root.handlers.clear()
    yield io.StringIO()
    root.handlers[:] = before
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@spec("RED-7")
async def test_the_log_tells_of_requests_and_never_of_their_content(gateway: Served, log: io.StringIO) -> None:
    set_up_logs(gateway.services.journal.redactor.scrub, stream=log)
    secret = (await gateway.services.tokens.create("ci", ["write"])).secret
    await gateway.run()
    async with caller(gateway.port, secret) as http:
        body = {"type": "external.x", "data": {"said": "a payload"}}
        answer = await http.post(f"{V1}/runs/run_1/events?why=a-query-value", json=body)
        await http.get(f"{V1}/runs/{secret}")
        await http.get(f"{V1}/runs/run_1/events", headers=SSE | {"last-event-id": "99"})
    logging.getLogger("runwire.gateway").error("it said %s", secret)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    first = lines[0]
    assert first["request_id"] == answer.headers["x-request-id"]
    assert (first["method"], first["route"], first["status"]) == ("POST", "/hecate/v1/runs/{run_id}/events", 201)
    assert first["duration_ms"] > 0
    assert first["token_id"].startswith("tok_")
    assert [line["status"] for line in lines[:3]] == [201, 404, 400]
    for private in (secret, "a payload", "a-query-value"):
        assert private not in log.getvalue()


async def test_reading_that_goes_well_is_told_only_to_those_who_look_for_trouble(
    gateway: Served, log: io.StringIO
) -> None:
    set_up_logs(gateway.services.journal.redactor.scrub, stream=log)
    await gateway.http.get(f"{V1}/runs")
    await gateway.http.get(f"{V1}/runs/run_none")
    logging.getLogger("runwire").setLevel(logging.DEBUG)
    await gateway.http.get(f"{V1}/panes")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    told = [(line["level"], line["route"], line["status"]) for line in lines if line["logger"] == "runwire.request"]
    assert told == [("info", "/hecate/v1/runs/{run_id}", 404), ("debug", "/hecate/v1/panes", 200)]


@spec("RED-7")
async def test_a_trace_in_the_log_holds_no_secret(gateway: Served, log: io.StringIO) -> None:
    set_up_logs(gateway.services.journal.redactor.scrub, stream=log)
    secret = (await gateway.services.tokens.create("ci", ["write"])).secret
    try:
        raise StoreError(f"cannot write {secret}")
    except StoreError:
        logging.getLogger("anything").exception("it broke")
    (line,) = [json.loads(line) for line in log.getvalue().splitlines()]
    assert "StoreError" in line["trace"]
    assert secret not in log.getvalue()
