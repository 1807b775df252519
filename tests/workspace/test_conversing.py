"""Speaking with a process: what it says, that it waits for us, and that nobody is left."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import uvloop

from runwire.workspace import conversing
from runwire.workspace.conversing import (
    AHEAD_BYTES,
    PIECE_BYTES,
    STDERR_TAIL_BYTES,
    Survivors,
    Talk,
    TalkOver,
    converse,
)
from runwire.workspace.environment import child_environment
from runwire.workspace.limits import Limits
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.spawning import Command
from tests.workspace.commands import running, sandboxes
from tests.workspace.conftest import Ground

ENVIRON = child_environment({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, {}, known=(), home="/tmp")
# Leaves its group, its session and its parent, closes what it was given, and will not be interrupted.
DAEMON = "setsid sh -c '(trap \"\" INT; exec sleep {seconds}) </dev/null >/dev/null 2>&1 &'"
# Waits without starting anybody: a signal that reaches dash while it starts a program is lost on it.
BUSY = "while :; do :; done"
SANDBOXES = sandboxes()


def command(script: str, folder: Path, *, stdin: bytes = b"") -> Command:
    return Command(
        argv=["/bin/sh", "-c", script],
        confinement=Confinement(workspace=folder, cwd=folder),
        environ=ENVIRON,
        stdin=stdin,
    )


def talking(
    script: str, folder: Path, sandbox: Sandbox | None = None, *, limits: Limits | None = None, stdin: bytes = b""
) -> AbstractAsyncContextManager[Talk]:
    return converse(command(script, folder, stdin=stdin), sandbox=sandbox or Bare(), limits=limits)


async def heard(talk: Talk) -> bytes:
    """Everything until the end."""
    said = []
    while piece := await talk.read():
        said.append(piece)
    return b"".join(said)


async def until(talk: Talk, text: bytes) -> bytes:
    said = b""
    while text not in said:
        piece = await talk.read()
        assert piece, (said, talk.stderr_tail())
        said += piece
    return said


async def spoken(talk: Talk, times: int) -> None:
    for _ in range(times):
        await talk.write(b"x" * 65536)


async def test_what_is_said_is_answered_until_we_say_no_more(tmp_path: Path) -> None:
    async with talking('while read -r line; do echo "heard $line"; done; echo bye; exit 3', tmp_path) as talk:
        for word in (b"one", b"two"):
            await talk.write(word + b"\n")
            assert await until(talk, b"\n") == b"heard " + word + b"\n"
        talk.close_stdin()
        assert await heard(talk) == b"bye\n"
        report = await talk.wait()
    assert (report.outcome, report.exit_code, report.signal, report.survivors) == ("exited", 3, None, 0)
    assert (report.stdout_bytes, report.left_behind, report.sandbox_layer) == (24, 0, "none")


async def test_what_it_is_to_hear_first_can_come_with_the_command(tmp_path: Path) -> None:
    async with talking("read -r line; echo $line", tmp_path, stdin=b"hello\n") as talk:
        assert await heard(talk) == b"hello\n"


async def test_a_line_of_sixteen_mebibytes_passes_in_both_directions_and_fast(tmp_path: Path) -> None:
    size = 16 * 1024 * 1024
    begun = asyncio.get_running_loop().time()
    async with talking("cat", tmp_path) as talk:
        pieces: list[bytes] = []

        async def read() -> None:
            while piece := await talk.read():
                assert len(piece) <= PIECE_BYTES
                pieces.append(piece)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read())
            await talk.write(b"x" * size + b"\n")
            talk.close_stdin()
    assert b"".join(pieces) == b"x" * size + b"\n"
    assert asyncio.get_running_loop().time() - begun < 5


async def test_one_that_is_not_listened_to_waits(tmp_path: Path) -> None:
    async with talking("head -c 8000000 /dev/zero; echo over >&2", tmp_path) as talk:
        await until(talk, b"\0")
        taken = PIECE_BYTES
        await asyncio.sleep(0.3)
        assert talk.stderr_tail() == ""
        rest = await heard(talk)
        assert len(rest) <= 8_000_000
        assert len(rest) + taken >= 8_000_000
        report = await talk.wait()
    assert (report.stdout_bytes, talk.stderr_tail()) == (8_000_000, "over\n")


async def test_no_more_is_read_ahead_than_is_promised(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 64 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >&2; done"
    async with talking(script, tmp_path) as talk:
        await asyncio.sleep(0.5)
        written = int(talk.stderr_tail().split()[-1]) * 65536
        # What the pipe itself holds comes on top.
        assert written <= AHEAD_BYTES + 65536
        assert len(await heard(talk)) == 64 * 65536


async def test_complaints_never_block_it_and_the_last_are_kept(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 40000 ]; do echo complaint $i; i=$((i+1)); done >&2; printf '\\377end' >&2; echo done"
    async with talking(script, tmp_path) as talk:
        assert await heard(talk) == b"done\n"
        await talk.wait()
        tail = talk.stderr_tail()
    assert tail.endswith("complaint 39999\n\ufffdend")
    assert len(tail) <= STDERR_TAIL_BYTES


async def test_one_that_has_gone_cannot_be_told_anything(tmp_path: Path) -> None:
    async with talking("exit 0", tmp_path) as talk:
        assert await heard(talk) == b""
        await talk.wait()
        with pytest.raises(TalkOver):
            await talk.write(b"hello\n")


def test_one_that_closes_its_input_is_noticed_while_we_speak(tmp_path: Path) -> None:
    async def speak() -> None:
        async with talking("exec 0<&-; echo closed; sleep 604811", tmp_path) as talk:
            await until(talk, b"closed")
            with pytest.raises(TalkOver):
                await spoken(talk, 100)

    # The other loop gives a process a second handle on its input, so that it can never close all of it.
    _on(asyncio.new_event_loop, speak())
    assert running("604811") == []


async def test_one_that_dies_while_we_wait_for_it_to_listen_does_not_hold_us(tmp_path: Path) -> None:
    # Somebody else still holds its input.
    async with talking("sleep 604812 & sleep 0.2; kill -9 $$", tmp_path) as talk:
        with pytest.raises(TalkOver):
            await spoken(talk, 100)
        report = await talk.wait()
    assert (report.exit_code, report.signal) == (None, "SIGKILL")
    assert running("604812") == []


async def test_whoever_holds_its_output_after_it_does_not_hold_us(tmp_path: Path) -> None:
    async with talking("setsid sleep 604813 & echo bye", tmp_path) as talk:
        assert await heard(talk) == b"bye\n"
        report = await talk.wait()
        assert report.left_behind >= 1
        assert report.survivors == 0
    assert running("604813") == []


async def test_one_that_listens_to_an_interrupt_says_its_last_words(tmp_path: Path) -> None:
    script = f"trap 'echo last; exit 5' INT; echo up; {BUSY}"
    async with talking(script, tmp_path) as talk:
        await until(talk, b"up")
        async with asyncio.TaskGroup() as tasks:
            rest = tasks.create_task(heard(talk))
            assert await talk.stop() == Survivors("SIGINT", 0)
        assert rest.result() == b"last\n"
        report = await talk.wait()
    assert (report.exit_code, report.survivors) == (5, 0)


async def test_one_that_is_stopped_twice_or_has_ended_took_no_signal(tmp_path: Path) -> None:
    async with talking("exit 0", tmp_path) as talk:
        await talk.wait()
        assert await talk.stop() == Survivors(None, 0)
        assert await talk.stop() == Survivors(None, 0)


async def test_the_ladder_goes_on_to_terminate(tmp_path: Path) -> None:
    async with talking("trap '' INT; echo up; exec sleep 604814", tmp_path) as talk:
        await until(talk, b"up")
        assert await talk.stop(interrupt_s=0.1) == Survivors("SIGTERM", 0)
        assert (await talk.wait()).signal == "SIGTERM"
    assert running("604814") == []


async def test_the_ladder_ends_with_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversing, "TERM_GRACE_S", 0.1)
    async with talking("trap '' INT TERM; echo up; while :; do sleep 604815; done", tmp_path) as talk:
        await until(talk, b"up")
        assert await talk.stop(interrupt_s=0.1) == Survivors("SIGKILL", 0)
        assert (await talk.wait()).signal == "SIGKILL"
    assert running("604815") == []


async def test_daemons_go_with_it_whatever_ends_it(tmp_path: Path) -> None:
    up = DAEMON.format(seconds=604816) + "; while ! pgrep -f 'sleep 604816' >/dev/null; do :; done; echo up; "
    async with talking(up + f"trap 'exit 0' INT; {BUSY}", tmp_path) as talk:
        await until(talk, b"up")
        assert await talk.stop() == Survivors("SIGINT", 0)
        assert running("sleep 604816") == []
    async with talking(up + "exec cat", tmp_path) as talk:
        await until(talk, b"up")
    assert running("sleep 604816") == []


@pytest.mark.parametrize("name", SANDBOXES)
async def test_inside_walls_the_interrupt_reaches_the_one_we_speak_with(ground: Ground, name: str) -> None:
    script = f"trap 'echo last > told; exit 5' INT; echo up; {BUSY}"
    async with talking(script, ground.workspace, SANDBOXES[name]) as talk:
        await until(talk, b"up")
        assert await talk.stop() == Survivors("SIGINT", 0)
        report = await talk.wait()
    assert (report.exit_code, report.sandbox_layer) == (5, SANDBOXES[name].layer)
    assert (ground.workspace / "told").read_text() == "last\n"


@pytest.mark.parametrize("name", SANDBOXES)
async def test_inside_walls_it_speaks_is_held_and_is_gone_with_its_daemons(ground: Ground, name: str) -> None:
    up = f"echo out > {ground.outside}/made 2>/dev/null || echo held; " + DAEMON.format(seconds=604817)
    async with talking(up + "; trap '' INT TERM; exec cat", ground.workspace, SANDBOXES[name]) as talk:
        await until(talk, b"held")
        await talk.write(b"hello\n")
        assert await until(talk, b"hello\n") == b"hello\n"
    assert not (ground.outside / "made").exists()
    assert running("sleep 604817") == []


async def test_a_cancelled_conversation_leaves_nobody(tmp_path: Path) -> None:
    up = asyncio.Event()

    async def speak() -> None:
        async with talking("setsid sleep 604818 & echo up; sleep 604818", tmp_path) as talk:
            await until(talk, b"up")
            up.set()
            await talk.read()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(speak())
        await up.wait()
        task.cancel()
    assert task.cancelled()
    assert running("604818") == []


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_cancellation_while_it_starts_leaves_nobody(tmp_path: Path, steps: int) -> None:
    async def speak() -> None:
        async with talking("exec sleep 604819", tmp_path):
            await asyncio.Event().wait()

    task = asyncio.get_running_loop().create_task(speak())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert running("604819") == []


async def test_a_failure_of_ours_leaves_nobody(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with talking("sleep 604820", tmp_path):
            raise ZeroDivisionError
    assert running("604820") == []


async def test_a_stop_that_is_cancelled_still_ends_in_silence(tmp_path: Path) -> None:
    async with talking("trap '' INT TERM; echo up; sleep 604821; sleep 604821", tmp_path) as talk:
        await until(talk, b"up")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await talk.stop()
    assert running("604821") == []


async def test_too_many_processes_end_it(tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 60 ]; do sleep 604822 & i=$((i+1)); done; wait"
    async with talking(script, tmp_path, limits=Limits(processes=20)) as talk:
        report = await talk.wait()
    assert (report.outcome, report.survivors) == ("resource_limited", 0)
    assert running("604822") == []


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_it_runs_on_either_loop(tmp_path: Path, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def all_of_it() -> None:
        async with talking("cat; echo bye; exit 4", tmp_path) as talk:
            async with asyncio.TaskGroup() as tasks:
                said = tasks.create_task(heard(talk))
                await talk.write(b"y" * 3_000_000)
                talk.close_stdin()
            assert said.result() == b"y" * 3_000_000 + b"bye\n"
            assert (await talk.wait()).exit_code == 4
        async with talking("head -c 4000000 /dev/zero; setsid sleep 604823 & exit 0", tmp_path) as talk:
            await asyncio.sleep(0.2)
            assert len(await heard(talk)) == 4_000_000
        async with talking(f"trap 'exit 0' INT; echo up; {BUSY}", tmp_path) as talk:
            await until(talk, b"up")
            assert await talk.stop() == Survivors("SIGINT", 0)
            with pytest.raises(TalkOver):
                await talk.write(b"hello")

    _on(loop_factory, all_of_it())
    assert running("604823") == []


async def test_memory_stays_small_beside_a_flood(tmp_path: Path) -> None:
    before = _resident_bytes()
    async with talking("yes", tmp_path) as talk:
        await asyncio.sleep(0.3)
        assert _resident_bytes() - before < 16 * 1024 * 1024
        assert (await talk.read()).startswith(b"y\n")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _on(factory: Callable[[], asyncio.AbstractEventLoop], work: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work)
