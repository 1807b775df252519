"""The commands against a real gateway."""

import select
import signal
import subprocess
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path

import msgspec
import pytest

from runwire.protocol.events.run import RunFailed
from runwire.protocol.payload import encode_payload
from tests.cli.program import RUNWIRE, Ended, Shell
from tests.cli.running import Gateway, running
from tests.client.logs import envelope, log
from tests.spec import spec

DONE = "run_01JC0000000000000000000001"
LIVE = "run_01JC0000000000000000000002"
FAILED = "run_01JC0000000000000000000003"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    home = tmp_path_factory.mktemp("home")
    shell = Shell(home)
    with running(shell, home / "data") as started:
        failed = [*log(FAILED, 2, over=False)]
        failure = RunFailed(code="model_unreachable", message="no route", turns=0)
        failed.append(envelope(len(failed), RunFailed.type, encode_payload(failure), FAILED))
        for lines in (log(DONE, 5), log(LIVE, 2, over=False), failed):
            ended = shell.runwire("--data", str(home / "data"), "import", "-", feed=_joined(lines))
            assert ended.status == 0, ended.err
        yield started


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _run(gateway: Gateway, *arguments: str, feed: bytes = b"") -> Ended:
    return gateway.shell.runwire("--data", str(gateway.data), *arguments, feed=feed)


def _begun(gateway: Gateway, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*RUNWIRE, "--data", str(gateway.data), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=gateway.shell.environment(),
    )


def _append(gateway: Gateway, run_id: str, text: str) -> None:
    request = urllib.request.Request(
        f"{gateway.url}/hecate/v1/runs/{run_id}/events",
        data=msgspec.json.encode({"type": "external.live", "data": {"text": text}}),
        headers={"authorization": f"Bearer {gateway.token}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        assert response.status == 201


@spec("SEQ-6", "BULK-4")
def test_events_export_and_replay_print_the_stored_bytes(gateway: Gateway, tmp_path: Path) -> None:
    stored = _joined(log(DONE, 5))
    assert _run(gateway, "events", DONE, "--json").out == stored
    assert _run(gateway, "--json", "events", DONE, "--follow").out == stored
    assert _run(gateway, "export", DONE).out == stored
    assert _run(gateway, "replay", DONE, "--speed", "max").out == stored
    file = tmp_path / "run.jsonl"
    assert _run(gateway, "export", DONE, "-o", str(file)).out == b""
    assert file.read_bytes() == stored
    file.unlink()
    assert _run(gateway, "export", DONE, str(file)).out == b""
    assert file.read_bytes() == stored
    assert _run(gateway, "export", DONE, "-").out == stored
    assert _run(gateway, "export", DONE, "-o", "-").out == stored
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_an_export_that_fails_leaves_no_file(gateway: Gateway, tmp_path: Path) -> None:
    ended = _run(gateway, "export", "run_nowhere", "-o", str(tmp_path / "run.jsonl"))
    assert ended.status == 4
    assert list(tmp_path.iterdir()) == []
    ended = _run(gateway, "export", DONE, "-o", str(tmp_path / "no" / "such" / "folder"))
    assert ended.status == 1
    assert ended.err.startswith("error: cannot write ")


def test_events_for_people_are_one_line_each(gateway: Gateway) -> None:
    lines = _run(gateway, "events", DONE).out.decode().splitlines()
    assert [line.split()[0] for line in lines] == [str(sequence) for sequence in range(8)]
    assert [line.split()[2] for line in lines][-1] == "run.finished"
    assert "\u2028" not in "".join(lines)


@spec("CUR-1", "CUR-5")
def test_events_begin_where_they_are_told_and_are_of_the_types_asked_for(gateway: Gateway) -> None:
    stored = log(DONE, 5)
    assert _run(gateway, "--json", "events", DONE, "--after", "4").out == _joined(stored[5:])
    assert _run(gateway, "--json", "events", DONE, "--type", "run.*").out == _joined([*stored[:2], stored[-1]])
    assert _run(gateway, "--json", "events", DONE, "--after", "7").out == b""
    ahead = _run(gateway, "events", DONE, "--after", "99")
    assert (ahead.status, ahead.out) == (2, b"")
    assert "beyond the head" in ahead.err
    assert _run(gateway, "events", DONE, "--type", "What?").status == 2


@pytest.mark.parametrize("command", ["events", "show", "export", "verify", "replay", "watch"])
def test_a_run_that_is_not_there_is_status_4(gateway: Gateway, command: str) -> None:
    ended = _run(gateway, command, "run_nowhere")
    assert (ended.status, ended.out) == (4, b"")
    assert ended.err.startswith("error: there is no run run_nowhere\nhint:  ")


def test_follow_prints_what_comes_as_it_comes_and_ends_on_ctrl_c(gateway: Gateway) -> None:
    with _begun(gateway, "events", LIVE, "--follow", "--after", "3") as following:
        assert following.stdout is not None
        _append(gateway, LIVE, "first")
        assert b'"first"' in following.stdout.readline()
        _append(gateway, LIVE, "second")
        assert b'"second"' in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(10) == 130
        assert following.stderr is not None
        assert following.stderr.read() == b""


def test_watch_all_shows_every_run_from_now_on(gateway: Gateway) -> None:
    with _begun(gateway, "watch", "--all", "--type", "external.live") as watching:
        assert watching.stdout is not None
        # The watcher may not listen yet at the first of them.
        for _ in range(100):
            _append(gateway, LIVE, "seen")
            if select.select([watching.stdout], [], [], 0.1)[0]:
                break
        line = watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(10) == 130
    assert line.decode().split()[0] == LIVE
    assert b"external.live" in line


def test_a_watcher_whose_reader_has_gone_ends_by_itself_and_in_silence(gateway: Gateway) -> None:
    with _begun(gateway, "watch", "--all") as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        watching.stdout.close()
        assert watching.wait(10) == 0
        assert watching.stderr.read() == b""


def test_a_long_log_whose_reader_has_had_enough_ends_in_silence(gateway: Gateway) -> None:
    run_id = "run_01JC0000000000000000000013"
    _run(gateway, "import", "-", feed=_joined(log(run_id, 5000)))
    for command in (["--json", "events", run_id], ["export", run_id], ["watch", run_id]):
        with _begun(gateway, *command) as printing:
            assert printing.stdout is not None
            assert printing.stderr is not None
            assert printing.stdout.readline()
            printing.stdout.close()
            assert (printing.wait(10), printing.stderr.read()) == (0, b"")


def test_watching_runs_ends_with_them_and_tells_how_they_ended(gateway: Gateway) -> None:
    completed = _run(gateway, "--json", "watch", DONE)
    assert (completed.status, completed.out) == (0, _joined(log(DONE, 5)))
    both = _run(gateway, "watch", DONE, FAILED)
    assert both.status == 1
    assert {line.split()[0] for line in both.out.decode().splitlines()} == {DONE, FAILED}


@spec("CHAIN-4")
def test_a_log_is_taken_in_once_and_never_with_other_bytes(gateway: Gateway, tmp_path: Path) -> None:
    run_id = "run_01JC0000000000000000000010"
    lines = log(run_id, 3)
    file = tmp_path / "run.jsonl"
    file.write_bytes(_joined(lines))
    for _ in range(2):
        ended = _run(gateway, "import", str(file))
        assert (ended.status, ended.out.decode()) == (0, f"{run_id}\n")
    changed = _joined([line.replace(b'"n":1', b'"n":7') for line in lines])
    refused = _run(gateway, "import", "-", feed=changed)
    assert (refused.status, refused.out) == (5, b"")
    assert "differs at sequence 3" in refused.err
    assert _run(gateway, "export", run_id).out == _joined(lines)


def test_a_log_that_breaks_a_rule_is_not_taken_in(gateway: Gateway) -> None:
    run_id = "run_01JC0000000000000000000011"
    lines = log(run_id, 3)
    ended = _run(gateway, "import", "-", feed=_joined([*lines[:2], *lines[3:]]))
    assert (ended.status, ended.out) == (1, b"")
    assert ended.err.startswith("error: line ")
    assert _run(gateway, "show", run_id).status == 4
    assert _run(gateway, "import", "./nowhere.jsonl").status == 4


@spec("CHAIN-1", "CHAIN-2")
def test_a_run_and_a_file_of_it_are_proven_against_the_store(gateway: Gateway, tmp_path: Path) -> None:
    proven = _run(gateway, "verify", DONE)
    assert proven.status == 0
    head = msgspec.json.decode(_run(gateway, "show", DONE, "--json").out)["head_hash"]
    assert proven.out.decode() == f"ok: 8 events, {head}\n"
    assert _run(gateway, "verify", DONE, "--head", head).status == 0
    file = tmp_path / "run.jsonl"
    file.write_bytes(_run(gateway, "export", DONE).out)
    assert _run(gateway, "verify", str(file)).status == 0
    # Every rule still holds, but the bytes are not those that the store knows.
    file.write_bytes(file.read_bytes().replace(b'"n":1', b'"n":9'))
    changed = _run(gateway, "verify", str(file))
    assert (changed.status, changed.out) == (1, b"breach at sequence 3: CHAIN-1: the stored event differs\n")


CHANGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "one event and a later one": (lambda it: [line.replace(b'"odd"', b'"even"') for line in it], 2, "CHAIN-1"),
    "whitespace": (lambda it: [*it[:4], it[4].replace(b'"data":', b'"data": '), *it[5:]], 4, "ENV-2"),
    "the type of the end": (lambda it: [*it[:-1], it[-1].replace(b"run.finished", b"run.over")], 7, "LIF-1"),
    "a missing event before a changed one": (
        lambda it: [*it[:2], *(line.replace(b'"n":3', b'"n":4') for line in it[3:])],
        2,
        "SEQ-2",
    ),
    "more than the run holds": (lambda it: [*it, envelope(8, "artifact.later", b"{}", DONE)], 8, "CHAIN-1"),
}


@spec("CHAIN-3")
@pytest.mark.parametrize("what", CHANGES)
def test_the_first_place_where_a_file_differs_from_the_store_is_named(gateway: Gateway, what: str) -> None:
    change, sequence, rule = CHANGES[what]
    ended = _run(gateway, "verify", "-", feed=_joined(change(log(DONE, 5))))
    assert ended.status == 1
    assert ended.out.decode().startswith(f"breach at sequence {sequence}: {rule}: ")
    assert ended.err == ""


def test_a_file_that_ends_before_its_run_holds_as_far_as_it_goes(gateway: Gateway) -> None:
    lines = log(DONE, 5)
    ended = _run(gateway, "verify", "-", feed=_joined(lines[:4]))
    assert (ended.status, ended.out[:14]) == (0, b"ok: 4 events, ")
    assert ended.err == "note:  the file ends at sequence 3, the run goes on to sequence 7\n"
    changed = [*lines[:2], lines[2].replace(b'"n":0', b'"n":9'), lines[3]]
    ended = _run(gateway, "verify", "-", feed=_joined(changed))
    assert (ended.status, ended.err) == (1, "")
    assert ended.out == b"breach at sequence 2: CHAIN-1: the stored event differs\n"


def test_a_file_from_before_a_pruning_still_holds_and_a_change_in_it_is_still_found(gateway: Gateway) -> None:
    run_id = "run_01JC0000000000000000000014"
    lines = log(run_id, 20)
    _run(gateway, "import", "-", feed=_joined(lines))
    assert _run(gateway, "prune", "--run", run_id, "--max-events", "5").status == 0
    assert _run(gateway, "verify", "-", feed=_run(gateway, "export", run_id).out).status == 0
    for kept in (lines, lines[:-1]):
        assert _run(gateway, "verify", "-", feed=_joined(kept)).status == 0
        changed = [line.replace(b'"n":3,', b'"n":9,') for line in kept]
        ended = _run(gateway, "verify", "-", feed=_joined(changed))
        assert ended.status == 1
        assert b"CHAIN-1: the chain up to here differs from the stored one" in ended.out


def test_a_run_that_still_goes_on_is_proven_as_far_as_it_goes(gateway: Gateway, tmp_path: Path) -> None:
    assert _run(gateway, "verify", LIVE).status == 0
    file = tmp_path / "live.jsonl"
    file.write_bytes(_run(gateway, "export", LIVE).out)
    assert _run(gateway, "verify", str(file)).status == 0


def test_runs_are_listed_newest_first_and_shown_one_by_one(gateway: Gateway) -> None:
    listed = _run(gateway, "runs").out.decode().splitlines()
    assert listed[0].split() == ["RUN", "STATUS", "AGENT", "HEAD", "COST", "UPDATED"]
    # Eight events, and it was free.
    (done,) = (line.split() for line in listed if line.startswith(DONE))
    assert done[-3:-1] == ["7", "$0.00"]
    by_run = {line.split()[0]: line.split()[1] for line in listed[1:]}
    assert {run: by_run[run] for run in (DONE, LIVE, FAILED)} == {
        DONE: "completed",
        LIVE: "running",
        FAILED: "failed",
    }
    told = [msgspec.json.decode(line) for line in _run(gateway, "runs", "--json").out.splitlines()]
    assert [run["run_id"] for run in told] == [line.split()[0] for line in listed[1:]]
    only = _run(gateway, "runs", "--status", "failed").out.decode().splitlines()
    assert [line.split()[0] for line in only[1:]] == [FAILED]
    assert len(_run(gateway, "runs", "--limit", "1", "--json").out.splitlines()) == 1
    shown = _run(gateway, "show", FAILED).out.decode()
    assert "failed" in shown
    assert "no route" in shown


def test_tokens_are_made_listed_and_revoked(gateway: Gateway) -> None:
    made = _run(gateway, "token", "create", "--name", "dashboard", "--scope", "read", "--json")
    token = msgspec.json.decode(made.out)
    reads = ("--url", gateway.url, "--token", token["token"])
    assert gateway.shell.runwire("runs", *reads).status == 0
    refused = gateway.shell.runwire("token", "list", *reads)
    assert refused.status == 1
    assert "scope 'admin'" in refused.err
    listed = _run(gateway, "token", "list").out.decode()
    assert token["token_id"] in listed
    assert token["token"] not in listed
    assert _run(gateway, "token", "revoke", token["token_id"]).status == 0
    assert gateway.shell.runwire("runs", *reads).status == 1
    assert _run(gateway, "token", "revoke", "tok_nowhere").status == 4


def test_a_new_secret_alone_is_on_stdout(gateway: Gateway) -> None:
    made = _run(gateway, "token", "create", "--name", "script")
    assert made.out.decode().startswith("rw_")
    assert made.out.count(b"\n") == 1
    assert "cannot be shown again" in made.err


@spec("GAP-1", "GAP-4")
def test_pruning_leaves_a_marker_and_a_chain_that_holds(gateway: Gateway) -> None:
    run_id = "run_01JC0000000000000000000012"
    _run(gateway, "import", "-", feed=_joined(log(run_id, 20)))
    foreseen = _run(gateway, "prune", "--run", run_id, "--max-events", "5", "--dry-run")
    assert foreseen.status == 0
    assert run_id in foreseen.out.decode()
    assert "would go" in foreseen.err
    assert _run(gateway, "export", run_id).out == _joined(log(run_id, 20))
    assert _run(gateway, "prune", "--run", run_id, "--max-events", "5").status == 0
    assert b"gap.events_pruned" in _run(gateway, "export", run_id).out
    assert _run(gateway, "verify", run_id).status == 0
    assert _run(gateway, "prune", "--run", "run_nowhere", "--max-events", "5").status == 4
    assert _run(gateway, "prune").status == 2
    assert _run(gateway, "prune", "--through", "5").status == 2


def test_a_backup_made_while_it_runs_serves_the_same_bytes(gateway: Gateway, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    ended = _run(gateway, "backup", str(copy))
    assert ended.status == 0, ended.err
    assert _run(gateway, "backup", str(copy)).status == 5
    restored = tmp_path / "restored"
    assert gateway.shell.runwire("--data", str(restored), "restore", str(copy)).status == 0
    assert gateway.shell.runwire("--data", str(restored), "restore", str(copy)).status == 5
    assert gateway.shell.runwire("--data", str(tmp_path / "x"), "restore", str(tmp_path / "none")).status == 4
    exported = gateway.shell.runwire("--data", str(restored), "export", DONE)
    assert (exported.status, exported.out) == (0, _joined(log(DONE, 5)))


def test_the_doctor_finds_a_running_gateway_in_good_health(gateway: Gateway) -> None:
    ended = _run(gateway, "doctor")
    assert ended.status == 0, ended.out
    lines = ended.out.decode().splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert any("takes our token" in line for line in lines)


def test_the_doctor_sees_what_is_wrong_and_says_what_to_do(gateway: Gateway) -> None:
    token = gateway.data / "token"
    token.chmod(0o644)
    try:
        ended = _run(gateway, "doctor", "--json")
    finally:
        token.chmod(0o600)
    assert ended.status == 1
    findings = [msgspec.json.decode(line) for line in ended.out.splitlines()]
    assert [finding["to_do"] for finding in findings if finding["level"] == "fail"] == [f"chmod 600 {token}"]
