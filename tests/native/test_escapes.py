"""Runs that try to get out, through the whole product: each attempt is refused, and the log tells of it."""

import ctypes
import os
import threading
import uuid
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from runwire.protocol.events.assistant import AssistantToolCallProposed
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolTimedOut
from runwire.protocol.payload import Payload
from runwire.protocol.verify import verify
from tests.scenarios.log import Log
from tests.scenarios.stage import V1, Json, Stage, Theatre, call, sh, turn
from tests.scenarios.stories.network import site

SECRET = f"sk-live-{uuid.uuid4().hex}"
OUTSIDE = "what is outside\n"
# Never without an end of its own: it stops at so many, and they go away by themselves.
BOMB = 'i=0; while [ "$i" -lt 700 ]; do sleep 60 & i=$((i + 1)); done; echo "all of them"'
_HERE, _RENAME_EXCHANGE = -100, 2
Over = ToolCompleted | ToolFailed | ToolTimedOut | PolicyToolBlocked


class _Door(BaseHTTPRequestHandler):
    """Notes who came, and sends them inside."""

    inside: ClassVar[str] = ""
    reached: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.reached.append(self.path)
        self.send_response(302)
        self.send_header("location", self.inside)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the library
        """Say nothing."""


@contextmanager
def redirecting() -> Generator[tuple[str, list[str]]]:
    """A site that redirects to another inside; its address, and the paths that were asked for at either."""
    reached: list[str] = []
    with ExitStack() as stack:
        servers = [stack.enter_context(ThreadingHTTPServer((f"127.0.0.{one}", 0), _Door)) for one in (1, 2)]
        outer, inner = (f"http://127.0.0.{one}:{server.server_port}/" for one, server in enumerate(servers, 1))
        handler = type("Door", (_Door,), {"inside": f"{inner}inside", "reached": reached})
        for server in servers:
            server.RequestHandlerClass = handler
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        yield outer, reached


@pytest.fixture
def theatre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Theatre:
    """A workspace beside things that are nobody's business, and a worker that knows a secret."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    found = Theatre(tmp_path)
    found.file("inside.txt", "inside\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "plain.txt").write_text(OUTSIDE)
    (found.workspace / "way").symlink_to(outside)
    (found.workspace / "etc").symlink_to("/etc")
    (found.workspace / "link.txt").symlink_to(outside / "plain.txt")
    os.link(outside / "plain.txt", found.workspace / "hard.txt")
    return found


async def _attempts(stage: Stage, attempts: Sequence[Json], **settings: object) -> tuple[Log, list[Over]]:
    """Let a run make every attempt, one a turn; give its log and how each attempt has ended."""
    log = await stage.play(*(turn("", one) for one in attempts), turn("I give up."), **settings)
    assert log.types[-1] == "run.finished", log.types[-5:]
    assert list(verify(log.envelopes)) == []
    ends = {one.tool_call_id: one for one in log.payloads if isinstance(one, Over)}
    return log, [ends[one.tool_call_id] for one in log.all(AssistantToolCallProposed)]


def _untouched(theatre: Theatre) -> None:
    outside = theatre.folder / "outside"
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"plain.txt": OUTSIDE}


def _refused(attempts: Sequence[Json], ends: Sequence[Over], *codes: str) -> None:
    """Each has failed for one of these reasons, or was never let go."""
    other = [
        (one["input"], end)
        for one, end in zip(attempts, ends, strict=True)
        if not (isinstance(end, PolicyToolBlocked) or (isinstance(end, ToolFailed) and end.code in codes))
    ]
    assert other == []


async def test_file_tools_do_not_leave_the_workspace(theatre: Theatre) -> None:
    outside = str(theatre.folder / "outside" / "plain.txt")
    ways = ["../outside/plain.txt", outside, "way/plain.txt", "link.txt", "./x/../../outside/plain.txt", "etc/passwd"]
    attempts = [
        *(call("file_read", path=path) for path in (*ways, "/etc/passwd", "/proc/1/environ", "/proc/self/environ")),
        *(call("file_write", path=path, content="x") for path in (*ways, "../outside/new", "way/new", "a\0b")),
        *(call("edit_file", path=path, old_text="outside", new_text="x") for path in ways),
        *(call("multi_edit", edits=[_edit("inside.txt", "inside"), _edit(path, "outside")]) for path in ways),
        *(call("glob", pattern="*", path=path) for path in ("..", "way", "/etc")),
        *(call("grep", pattern="outside", path=path) for path in ("..", "way", outside)),
        *(sh("pwd", cwd=path) for path in ("..", "way", "/etc")),
    ]
    async with theatre.open() as stage:
        _, ends = await _attempts(stage, attempts, max_turns=200)
    _refused(attempts, ends, "path_refused", "folder_not_found")
    _untouched(theatre)
    assert (theatre.workspace / "inside.txt").read_text() == "inside\n"


def _edit(path: str, old: str) -> Json:
    return {"path": path, "old_text": old, "new_text": "x"}


async def test_a_second_name_of_a_file_outside_is_replaced_and_not_written_through(theatre: Theatre) -> None:
    async with theatre.open() as stage:
        await _attempts(stage, [call("file_write", path="hard.txt", content="mine\n")])
    assert (theatre.workspace / "hard.txt").read_text() == "mine\n"
    _untouched(theatre)


async def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(theatre: Theatre) -> None:
    folder, link = theatre.workspace / "folder", theatre.workspace / "link"
    folder.mkdir()
    link.symlink_to(theatre.folder / "outside")
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            assert exchange(_HERE, bytes(folder), _HERE, bytes(link), _RENAME_EXCHANGE) == 0

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        async with theatre.open() as stage:
            writes = [call("file_write", path=f"folder/{number}.txt", content="x") for number in range(40)]
            log = await stage.play(turn("", *writes), turn("Done."))
    finally:
        over.set()
        swapping.join()
    assert log.types[-1] == "run.finished"
    assert {one.code for one in log.all(ToolFailed)} <= {"path_refused", "workspace_drifted", "file_missing"}
    _untouched(theatre)


async def test_commands_reach_nothing_of_ours_and_nothing_outside(theatre: Theatre) -> None:
    outside, data = theatre.folder / "outside", theatre.data
    attempts = [
        sh(f"cat {data}/token"),
        sh(f"cat {data}/*.db {data}/*/*"),
        # Put together where no rule can read it.
        sh(f'd={theatre.folder}; n=da; t=tok; cat "$d/${{n}}ta/${{t}}en"'),
        sh(f"echo x > {outside}/plain.txt"),
        sh("echo x > link.txt"),
        sh("echo x > way/new"),
        sh("echo x > etc/runwire-was-here"),
        sh("cat /proc/1/environ | tr '\\0' '\\n' | grep SOME_API_KEY"),
        sh("cat /proc/*/environ | tr '\\0' '\\n' | grep SOME_API_KEY"),
        sh("env | grep SOME_API_KEY"),
    ]
    async with theatre.open() as stage:
        token = (data / "token").read_text().strip()
        log, ends = await _attempts(stage, attempts)
    _refused(attempts, ends, "nonzero_exit")
    _untouched(theatre)
    assert not Path("/etc/runwire-was-here").exists()
    stored = b"\n".join(log.envelopes)
    assert token.encode() not in stored
    assert SECRET.encode() not in stored
    assert {one.sandbox_layer for one in log.all(ShellCommand)} <= {"bwrap", "unshare"}
    assert all("SOME_API_KEY" not in one.env_keys for one in log.all(ShellCommand))


async def test_commands_have_no_network_and_tools_no_way_inside(theatre: Theatre) -> None:
    with site() as address:
        port = address.rpartition(":")[2]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3)"
        hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0", "127.1", "0x7f.1"]
        urls = [f"http://{host}:{port}/" for host in hosts]
        urls += [
            "http://10.0.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00::1]/",
            "file:///etc/passwd",
        ]
        async with theatre.open() as stage:
            commands = [sh(f'python3 -c "{connect}"')]
            _, ends = await _attempts(stage, commands)
            _refused(commands, ends, "nonzero_exit")
            requests = [call("http_request", method="GET", url=url) for url in urls]
            pages = [call("web_fetch", url=url) for url in urls]
            _, ends = await _attempts(stage, [*requests, *pages], policy="trust", max_turns=200)
            _refused([*requests, *pages], ends, "address_refused", "invalid_input")


async def test_a_redirect_leads_nowhere_inside(theatre: Theatre) -> None:
    with redirecting() as (allowed, reached):
        attempts = [
            call("http_request", method="GET", url=allowed),
            call("web_fetch", url=allowed),
        ]
        async with theatre.open() as stage:
            policy = {"default": "trust", "allow_hosts": [allowed.removeprefix("http://").rstrip("/")]}
            _, ends = await _attempts(stage, attempts, policy=policy)
    _refused(attempts, ends, "address_refused")
    assert reached == ["/", "/"], "the way inside was taken"


async def test_a_daemon_does_not_outlive_its_command(theatre: Theatre) -> None:
    mark = f"daemon-{uuid.uuid4().hex}"
    daemon = f"(setsid sh -c 'sleep 600; : {mark}' </dev/null >/dev/null 2>&1 &)"
    async with theatre.open() as stage:
        _, (end,) = await _attempts(stage, [sh(f"{daemon}; ({daemon}); echo begun")])
        assert isinstance(end, ToolCompleted)
        left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _bytes(path)]
    assert left == []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_a_flood_and_a_bomb_are_stopped_and_the_run_goes_on(theatre: Theatre) -> None:
    async with theatre.open(output_limit_bytes=100_000) as stage:
        log, (flood, bomb, hello) = await _attempts(stage, [sh("yes"), sh(BOMB), sh("echo hello")])
        size = sum(map(len, log.envelopes))
    assert isinstance(flood, ToolTimedOut)
    assert flood.limit == "output_bytes"
    assert isinstance(bomb, ToolFailed)
    assert isinstance(hello, ToolCompleted)
    assert size < 400_000


@pytest.mark.parametrize(
    "command", ["cat key.txt", "head -c 20 key.txt; sleep 0.4; tail -c +21 key.txt", "rev rev.txt"]
)
async def test_a_secret_that_a_command_prints_is_not_stored(theatre: Theatre, command: str) -> None:
    theatre.file("key.txt", f"{SECRET}\n")
    theatre.file("rev.txt", f"{SECRET[::-1]}\n")
    async with theatre.open(coalesce_ms=20.0) as stage:
        log, (end,) = await _attempts(stage, [sh(command)])
        bodies = [
            (await stage.http.get(f"{V1}/artifacts/{one['id']}/raw")).content
            for one in (await stage.get("/artifacts", run_id=log.run_id))["data"]
        ]
    assert isinstance(end, ToolCompleted)
    kept = [*log.envelopes, *bodies, *(_bytes(path) for path in theatre.data.rglob("*") if path.is_file())]
    chunks = "".join(str(msgspec.to_builtins(one).get("data", "")) for one in log.payloads if isinstance(one, Payload))
    assert SECRET not in chunks
    assert not any(SECRET.encode() in one for one in kept)
    assert b"redacted" in b"".join(log.envelopes)
