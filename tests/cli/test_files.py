"""Logs in files: proven, replayed, and never mistaken for something else. No gateway runs here."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from runwire.protocol import chain
from tests.cli.program import RUNWIRE, Shell
from tests.client.logs import log
from tests.spec import spec

RUN = "run_01JC0000000000000000000001"


@pytest.fixture
def lines() -> list[bytes]:
    return log(RUN, notes=5)


@pytest.fixture
def file(lines: list[bytes], tmp_path: Path) -> Path:
    return _written(tmp_path / "run.jsonl", lines)


def _written(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def _head(lines: list[bytes]) -> str:
    link = chain.GENESIS
    for line in lines:
        link = chain.link(link, line)
    return chain.show(link)


@spec("CHAIN-1")
def test_a_whole_file_is_proven_and_its_chain_value_printed(shell: Shell, file: Path, lines: list[bytes]) -> None:
    ended = shell.runwire("verify", str(file))
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.decode() == f"ok: 8 events, {_head(lines)}\n"


def test_a_log_on_standard_input_is_proven_too(shell: Shell, file: Path) -> None:
    assert shell.runwire("verify", "-", feed=file.read_bytes()).status == 0


def test_proving_a_file_makes_no_data_directory(shell: Shell, file: Path, tmp_path: Path) -> None:
    shell.runwire("verify", str(file))
    assert not (tmp_path / "share").exists()


BREAKS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "an event is missing": lambda lines: [*lines[:3], *lines[4:]],
    "two events changed places": lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    "the end is missing": lambda lines: lines[:-1],
    "an event follows the end": lambda lines: [*lines, lines[3].replace(b'"sequence":3', b'"sequence":8')],
    "whitespace was added": lambda lines: [lines[0].replace(b'"data":', b'"data": '), *lines[1:]],
    "a field has the wrong type": lambda lines: [lines[0], lines[1].replace(b'"w1"', b"7"), *lines[2:]],
    "a line is no envelope": lambda lines: [*lines[:2], b'{"hello":1}', *lines[3:]],
    "there is nothing": lambda _: [],
}


@spec("CHAIN-3")
@pytest.mark.parametrize("what", BREAKS)
def test_a_log_that_breaks_a_rule_fails_and_the_first_breach_is_named(
    shell: Shell, lines: list[bytes], tmp_path: Path, what: str
) -> None:
    broken = _written(tmp_path / "broken.jsonl", BREAKS[what](lines))
    ended = shell.runwire("verify", str(broken))
    assert ended.status == 1
    assert ended.out.startswith(b"breach at sequence ")
    assert ended.out.count(b"\n") == 1
    told = shell.runwire("verify", str(broken), "--json")
    assert told.status == 1
    assert msgspec.json.decode(told.out)["breach"]["rule"] in ended.out.decode()


@spec("CHAIN-1")
def test_changed_bytes_that_keep_every_rule_are_caught_by_a_kept_chain_value(
    shell: Shell, lines: list[bytes], tmp_path: Path
) -> None:
    changed = _written(tmp_path / "changed.jsonl", [line.replace(b'"n":3', b'"n":4') for line in lines])
    assert shell.runwire("verify", str(changed)).status == 0
    ended = shell.runwire("verify", str(changed), "--head", _head(lines))
    assert ended.status == 1
    assert b"CHAIN-1" in ended.out


def test_a_log_that_was_still_growing_holds_when_that_is_said(shell: Shell, lines: list[bytes], tmp_path: Path) -> None:
    growing = _written(tmp_path / "growing.jsonl", lines[:-1])
    assert shell.runwire("verify", str(growing), "--live").status == 0


def test_a_file_that_is_not_there_is_not_found(shell: Shell) -> None:
    ended = shell.runwire("verify", "./nowhere.jsonl")
    assert ended.status == 4
    assert ended.err.startswith("error: cannot read ./nowhere.jsonl: ")


def test_a_replay_prints_the_same_bytes(shell: Shell, file: Path) -> None:
    ended = shell.runwire("replay", str(file), "--speed", "max")
    assert (ended.status, ended.out, ended.err) == (0, file.read_bytes(), "")


def test_a_replay_takes_as_long_as_the_run_took_divided_by_the_speed(shell: Shell, file: Path) -> None:
    # Seven steps of 50 ms.
    started = time.monotonic()
    shell.runwire("replay", str(file), "--speed", "max")
    start_up_s = time.monotonic() - started
    started = time.monotonic()
    shell.runwire("replay", str(file), "--speed", "0.25")
    assert time.monotonic() - started > 1.4 + start_up_s / 2


def test_a_replay_shows_each_event_when_it_is_due_and_not_later(file: Path, shell: Shell, lines: list[bytes]) -> None:
    command = [*RUNWIRE, "replay", str(file), "--speed", "0.001"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=shell.environment()) as replay:
        assert replay.stdout is not None
        # The second one is due in 50 s: the first must have left the process already.
        assert replay.stdout.readline() == lines[0] + b"\n"
        replay.send_signal(signal.SIGINT)
        assert replay.wait(10) == 130


def test_a_replay_whose_reader_has_had_enough_ends_at_once_and_in_silence(file: Path, shell: Shell) -> None:
    command = [*RUNWIRE, "replay", str(file), "--speed", "0.001"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=shell.environment()) as replay:
        assert replay.stdout is not None
        assert replay.stderr is not None
        replay.stdout.readline()
        replay.stdout.close()
        assert replay.wait(10) == 0
        assert replay.stderr.read() == b""


def test_a_long_output_into_a_closed_pipe_is_no_failure(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*RUNWIRE, "schema"], stdout=writing, stderr=subprocess.PIPE, env=shell.environment(), check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
