"""Running a command without walls: its output, its limits, and that nobody is left."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
import uvloop

from runwire.workspace.environment import MARK, child_environment
from runwire.workspace.errors import CommandInvalid, WorkspaceInvalid
from runwire.workspace.limits import Limits
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.spawning import Command
from tests.workspace.commands import Ran, run, running

BARE = Bare()

# Leaves its group, its session and its parent, and closes what it was given.
DAEMON = "(setsid sh -c '(exec sleep {seconds}) </dev/null >/dev/null 2>&1 &' &) ; echo started"


def at(folder: Path) -> Confinement:
    return Confinement(workspace=folder, cwd=folder)


async def ran(script: str, folder: Path, caps: Caps | None = None) -> Ran:
    return await run(script, at(folder), BARE, caps=caps)


async def test_a_command_is_told_by_its_code_and_its_two_streams(tmp_path: Path) -> None:
    done = await ran("echo out; echo err >&2; exit 3", tmp_path)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert (done.report.outcome, done.report.exit_code, done.report.signal) == ("exited", 3, None)
    assert (done.report.stdout_bytes, done.report.stderr_bytes, done.report.sandbox_layer) == (4, 4, "none")


async def test_a_command_that_a_signal_ended_says_which(tmp_path: Path) -> None:
    done = await ran("kill -SEGV $$", tmp_path)
    assert (done.report.outcome, done.report.exit_code, done.report.signal) == ("exited", None, "SIGSEGV")


async def test_a_program_that_is_not_there_is_told_as_shells_do(tmp_path: Path) -> None:
    done = await ran("exec no-such-program", tmp_path)
    assert done.report.exit_code == 127


async def test_ten_thousand_lines_come_in_few_pieces_and_whole(tmp_path: Path) -> None:
    done = await ran("i=0; while [ $i -lt 10000 ]; do echo line $i; i=$((i+1)); done", tmp_path)
    assert done.stdout == "".join(f"line {number}\n" for number in range(10_000))
    assert len(done.pieces) < 100
    offsets = [piece.byte_offset for piece in done.pieces]
    assert offsets == sorted(offsets)


async def test_a_character_printed_in_halves_is_one_character(tmp_path: Path) -> None:
    done = await ran(r"printf '\303'; sleep 0.1; printf '\244!'", tmp_path)
    assert done.stdout == "\u00e4!"
    assert {piece.byte_offset for piece in done.pieces} <= {0, 2}


async def test_streams_come_in_the_order_of_arrival(tmp_path: Path) -> None:
    done = await ran("echo 1; sleep 0.1; echo 2 >&2; sleep 0.1; echo 3", tmp_path)
    assert [(piece.stream, piece.text) for piece in done.pieces] == [
        ("stdout", "1\n"),
        ("stderr", "2\n"),
        ("stdout", "3\n"),
    ]


async def test_a_flood_is_cut_at_the_limit_and_ended(tmp_path: Path) -> None:
    done = await ran("yes; echo never", tmp_path, Caps(output_limit_bytes=100_000))
    assert done.report.outcome == "output_limited"
    assert len(done.stdout) == 100_000 == done.report.stdout_bytes
    assert done.report.survivors == 0


async def test_time_runs_out_for_a_command_that_will_not_listen(tmp_path: Path) -> None:
    done = await ran("trap '' TERM; echo here; sleep 604801; sleep 604801", tmp_path, Caps(timeout_s=0.3))
    assert (done.report.outcome, done.report.signal, done.stdout) == ("timed_out", "SIGKILL", "here\n")
    assert running("604801") == []


async def test_a_command_that_is_asked_to_end_may_tidy_up(tmp_path: Path) -> None:
    done = await ran(
        "trap 'echo tidy > tidied; exit 0' TERM; echo on; while :; do sleep 0.05; done", tmp_path, Caps(timeout_s=0.3)
    )
    assert done.report.outcome == "timed_out"
    assert (tmp_path / "tidied").read_text() == "tidy\n"


async def test_a_daemon_is_found_by_its_mark_and_ended(tmp_path: Path) -> None:
    done = await ran(DAEMON.format(seconds=604802) + "; while ! pgrep -f 'sleep 604802'; do :; done", tmp_path)
    assert done.report.outcome == "exited"
    assert done.report.left_behind >= 1
    assert done.report.survivors == 0
    assert running("604802") == []


async def test_who_holds_the_pipes_does_not_hold_us(tmp_path: Path) -> None:
    done = await ran("setsid sleep 604803 & echo bye", tmp_path)
    assert (done.report.outcome, done.stdout) == ("exited", "bye\n")
    assert done.report.duration_ms < 5_000
    assert running("604803") == []


async def test_too_many_processes_end_the_command(tmp_path: Path) -> None:
    # Bounded by itself: a bomb that was not would meet no wall here.
    script = "i=0; while [ $i -lt 60 ]; do sleep 604804 & i=$((i+1)); done; wait"
    done = await ran(script, tmp_path, Caps(timeout_s=20, limits=Limits(processes=20)))
    assert done.report.outcome == "resource_limited"
    assert done.report.survivors == 0
    assert running("604804") == []


async def test_a_file_may_not_grow_for_ever(tmp_path: Path) -> None:
    caps = Caps(limits=Limits(file_bytes=64 * 1024))
    done = await ran("dd if=/dev/zero of=big bs=1024 count=1024 2>/dev/null; wc -c < big", tmp_path, caps)
    assert int(done.stdout) <= 64 * 1024


async def test_a_cancelled_command_is_gone_before_the_cancellation_rises(tmp_path: Path) -> None:
    seen = asyncio.Event()

    async def see(piece: Piece) -> None:  # noqa: ARG001 - the signature of a listener
        seen.set()

    command = Command(
        argv=["/bin/sh", "-c", "echo up; setsid sleep 604805 & sleep 604805"],
        confinement=at(tmp_path),
        environ=child_environment(os.environ, {}, known=()),
    )
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run_process(command, sandbox=BARE, on_output=see))
        await seen.wait()
        task.cancel()
    assert task.cancelled()
    assert running("604805") == []


async def test_a_listener_that_fails_ends_the_command_too(tmp_path: Path) -> None:
    async def fail(piece: Piece) -> None:  # noqa: ARG001 - the signature of a listener
        raise RuntimeError("the journal is full")

    command = Command(
        argv=["/bin/sh", "-c", "echo up; sleep 604806"],
        confinement=at(tmp_path),
        environ=child_environment(os.environ, {}, known=()),
    )
    with pytest.raises(RuntimeError, match="journal is full"):
        await run_process(command, sandbox=BARE, on_output=fail)
    assert running("604806") == []


async def test_a_slow_listener_slows_the_command_and_loses_nothing(tmp_path: Path) -> None:
    heard = 0

    async def slow(piece: Piece) -> None:
        nonlocal heard
        heard += len(piece.text)
        await asyncio.sleep(0.002)

    command = Command(
        argv=["/bin/sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"],
        confinement=at(tmp_path),
        environ=child_environment(os.environ, {}, known=()),
    )
    report = await run_process(command, sandbox=BARE, on_output=slow, caps=Caps(output_limit_bytes=10**7))
    assert (report.outcome, heard) == ("exited", 3_000_000)


async def test_input_is_given_whole_and_ended(tmp_path: Path) -> None:
    heard: list[str] = []

    async def hear(piece: Piece) -> None:
        heard.append(piece.text)

    command = Command(
        argv=["/bin/cat"], confinement=at(tmp_path), environ=child_environment({}, {}, known=()), stdin=b"x" * 500_000
    )
    report = await run_process(command, sandbox=BARE, on_output=hear)
    assert (report.exit_code, "".join(heard)) == (0, "x" * 500_000)


@pytest.mark.parametrize("script", ["kill -9 $$", "exit 3", "exec 0<&-; sleep 0.2", "head -c 1 >/dev/null"])
async def test_input_that_nobody_reads_is_no_failure(tmp_path: Path, script: str) -> None:
    command = Command(
        argv=["/bin/sh", "-c", script],
        confinement=at(tmp_path),
        environ=child_environment({}, {}, known=()),
        stdin=b"x" * 1_000_000,
    )
    for _ in range(10):
        report = await run_process(command, sandbox=BARE, on_output=_unheard)
        assert report.outcome == "exited"


async def test_many_at_once_do_not_mix(tmp_path: Path) -> None:
    all_done = await asyncio.gather(*(ran(f"echo {number}; exit {number}", tmp_path) for number in range(20)))
    assert [(done.stdout, done.report.exit_code) for done in all_done] == [(f"{n}\n", n) for n in range(20)]


async def test_commands_that_share_an_environment_end_apart(tmp_path: Path) -> None:
    environ = child_environment({"PATH": os.environ["PATH"]}, {}, known=())
    long, *short = await asyncio.gather(
        run("sleep 0.7; echo whole", at(tmp_path), BARE, environ=environ),
        *(run("sleep 604809", at(tmp_path), BARE, environ=environ, caps=Caps(timeout_s=0.2)) for _ in range(3)),
    )
    assert long.stdout == "whole\n"
    assert {each.report.outcome for each in short} == {"timed_out"}


async def test_without_input_a_command_that_reads_finds_the_end(tmp_path: Path) -> None:
    assert (await ran("cat; echo done", tmp_path)).stdout == "done\n"


async def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    environ = child_environment({"PATH": "/usr/bin:/bin"}, {"CI": "1", "LD_LIBRARY_PATH": "/nowhere"}, known=())
    done = await run("env", at(tmp_path), BARE, environ=environ)
    given = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert given.keys() - {"PWD", "OLDPWD", "SHLVL", "_"} == environ.keys()
    assert given.items() >= {key: value for key, value in environ.items() if key != MARK}.items()


async def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceInvalid):
        await ran("true", tmp_path / "gone")


@pytest.mark.parametrize("script", ["echo a\0b", "x" * 3_000_000])
async def test_a_command_that_cannot_be_handed_over_is_told(tmp_path: Path, script: str) -> None:
    with pytest.raises(CommandInvalid):
        await ran(script, tmp_path)


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_it_runs_on_either_loop(tmp_path: Path, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def both() -> None:
        quick, slow = await asyncio.gather(
            ran("echo quick; exit 4", tmp_path), ran("sleep 604807", tmp_path, Caps(timeout_s=0.2))
        )
        assert (quick.stdout, quick.report.exit_code) == ("quick\n", 4)
        assert slow.report.outcome == "timed_out"

    _on(loop_factory, both())
    assert running("604807") == []


async def _unheard(piece: Piece) -> None:
    """Nobody listens."""


def _on(factory: Callable[[], asyncio.AbstractEventLoop], work: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)
