"""`runwire conformance`: our gateway keeps the protocol, and one that does not is told so by the requirement."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runwire.client.conformance.kit import SCENARIOS, recorded
from runwire.protocol.verify import verify
from tests.cli.meddling import Meddling, Passing, meddled
from tests.cli.program import Shell
from tests.cli.running import Gateway, running
from tests.cli.working import rows

_SPEC = Path(__file__).parents[2] / "spec"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    """A gateway whose heart beats fast, so that nobody waits for it."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    with running(shell, shell.home / "data", "--workers", "0", env={"RUNWIRE_HEARTBEAT_S": "0.3"}) as gateway:
        yield gateway


def _results(gateway: Gateway, url: str, *more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    ended = gateway.shell.runwire("--url", url, "--token", gateway.token, "--json", "conformance", *more)
    return ended.status, {row["scenario"]: row for row in rows(ended)}


def test_our_gateway_keeps_every_requirement(gateway: Gateway) -> None:
    status, results = _results(gateway, gateway.url)
    assert {name: row["message"] for name, row in results.items() if row["outcome"] != "ok"} == {}
    assert status == 0
    assert list(results) == [scenario.name for scenario in SCENARIOS]


def test_a_proxy_that_changes_nothing_is_no_breach(gateway: Gateway) -> None:
    with meddled(gateway.url, Meddling()) as url:
        status, results = _results(gateway, url)
    assert {name: row["message"] for name, row in results.items() if row["outcome"] != "ok"} == {}
    assert status == 0


def _reencode(passing: Passing, body: bytes) -> bytes:
    is_list = passing.path.endswith("/events") and passing.answered.get("content-type") == "application/json"
    if not is_list or passing.status != 200:
        return body
    page = msgspec.json.decode(body)
    return msgspec.json.encode(page)


def _older(passing: Passing) -> None:
    if passing.query.get("after_sequence", "").isdigit() and "last-event-id" not in passing.headers:
        passing.query["after_sequence"] = str(int(passing.query["after_sequence"]) - 1)


def _no_header(passing: Passing) -> None:
    passing.headers.pop("last-event-id", None)


def _no_hint(passing: Passing, body: bytes) -> bytes:
    return re.sub(rb'"hint":"[^"]*",', b"", body) if passing.status >= 400 else body


def _not_over(passing: Passing) -> None:
    if passing.status == 204:
        passing.status = 200


def _no_accel(passing: Passing) -> None:
    passing.answered.pop("x-accel-buffering", None)


def _without(word: bytes, path: str = "") -> Meddling:
    """Lose every frame that has the word in it."""
    return Meddling(
        body=lambda passing, piece: b"" if passing.streams and word in piece and path in passing.path else piece
    )


def _named(passing: Passing, piece: bytes) -> bytes:
    return b"event: message\n" + piece if passing.streams and b"event:" not in piece and b"data:" in piece else piece


def _ahead(passing: Passing, body: bytes) -> bytes:
    return body.replace(b"cursor_ahead", b"cursor_lost") if passing.status == 400 else body


def _trusting(gateway: Gateway) -> Meddling:
    def let_in(passing: Passing) -> None:
        passing.headers["authorization"] = f"Bearer {gateway.token}"

    return Meddling(asked=let_in)


@pytest.mark.parametrize(
    ("meddling", "scenario", "rule"),
    [
        pytest.param(Meddling(body=_reencode), "list-whole", "BULK-3", id="writes-envelopes-anew"),
        pytest.param(Meddling(asked=_older), "cursor-strict", "CUR-1", id="repeats-the-event-at-the-cursor"),
        pytest.param(Meddling(asked=_no_header), "cursor-header", "CUR-2", id="does-not-see-last-event-id"),
        pytest.param(Meddling(body=_ahead), "cursor-ahead", "CUR-4", id="has-another-code"),
        pytest.param(Meddling(body=_no_hint), "error-unknown-run", "ERR-1", id="gives-no-hint"),
        pytest.param(Meddling(body=_named), "stream-frames", "SSE-1", id="names-its-events"),
        pytest.param(_without(b"retry:"), "stream-frames", "SSE-2", id="does-not-say-retry"),
        pytest.param(_without(b"event: synced"), "stream-frames", "SSE-3", id="does-not-say-synced"),
        pytest.param(_without(b"event: heartbeat"), "stream-heartbeat", "SSE-4", id="shows-no-sign-of-life"),
        pytest.param(Meddling(answered=_not_over), "stream-over", "SSE-6", id="never-says-204"),
        pytest.param(Meddling(answered=_no_accel), "stream-headers", "SSE-7", id="lets-proxies-hold-back"),
        pytest.param(_without(b'"n":3', "/events/stream"), "feed-stream", "FEED-1", id="loses-an-event-of-the-feed"),
    ],
)
def test_a_server_that_breaks_a_promise_is_told_which(
    gateway: Gateway, meddling: Meddling, scenario: str, rule: str
) -> None:
    with meddled(gateway.url, meddling) as url:
        status, results = _results(gateway, url)
    found = results[scenario]
    assert (status, found["outcome"], found["rule"]) == (1, "breach", rule), found


def test_a_server_that_lets_strangers_in_is_told_so(gateway: Gateway) -> None:
    with meddled(gateway.url, _trusting(gateway)) as url:
        status, results = _results(gateway, url)
    assert status == 1
    assert results["access-token"]["rule"] == "ACC-1"
    assert {row["scenario"] for row in results.values() if row["outcome"] == "breach"} == {"access-token"}


def test_without_the_right_to_write_a_run_that_is_there_is_asked_about(gateway: Gateway) -> None:
    run_id = gateway.shell.runwire(
        "--url", gateway.url, "--token", gateway.token, "import", str(_SPEC / "fixtures" / "v1" / "completed.jsonl")
    ).out.decode()
    before = gateway.shell.runwire("--url", gateway.url, "--token", gateway.token, "--json", "runs").out
    arguments = ("token", "create", "--name", "reader", "--scope", "read")
    reader = gateway.shell.runwire("--url", gateway.url, "--token", gateway.token, *arguments).out.decode().strip()
    for more in ([], ["--run", run_id.strip()[:-1]]):
        ended = gateway.shell.runwire("--url", gateway.url, "--token", reader, "--json", "conformance", *more)
        outcomes = {row["scenario"]: row["outcome"] for row in rows(ended)}
        assert ended.status == 0, ended.out
        assert outcomes["import-bytes"] == "skipped"
        assert outcomes["stream-frames"] == "ok"
    assert gateway.shell.runwire("--url", gateway.url, "--token", gateway.token, "--json", "runs").out == before


def test_nobody_there_is_status_3(shell: Shell) -> None:
    assert shell.runwire("--url", "http://127.0.0.1:9", "conformance").status == 3


def test_the_run_of_the_kit_keeps_the_rules_and_is_part_of_the_specification() -> None:
    log = recorded(lambda prefix: f"{prefix}_{next(_numbers):026d}", 1_763_244_000_000_000_000)
    assert list(verify(log)) == []
    assert b"".join(line + b"\n" for line in log) == (_SPEC / "conformance" / "run.jsonl").read_bytes()


_numbers = iter(range(1000))


def test_the_specification_lists_every_scenario() -> None:
    page = (_SPEC / "conformance" / "README.md").read_text("utf-8")
    table = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+) \|$", page, re.MULTILINE)
    assert table == [(each.name, ", ".join(each.rules), each.about) for each in SCENARIOS]


def test_every_requirement_that_a_scenario_names_is_one() -> None:
    known = set(re.findall(r"^\| ([A-Z]+-\d+) \|", (_SPEC / "PROTOCOL.md").read_text("utf-8"), re.MULTILINE))
    assert {rule for scenario in SCENARIOS for rule in scenario.rules} - known == set()
