"""Commands and addresses that see tool calls: what they are shown, what they may change, and what their failures are."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runwire.clock import SystemClock
from runwire.host import Go, No, ToolAsk, Verdict
from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal
from runwire.protocol.events.assistant import AssistantToolCallProposed
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.tool import ToolFailed, ToolStarted
from runwire.runs.approval import Answer
from runwire.runs.hooks import OUTPUT_MAX
from tests.runs.deciding import SECRET, Desk, begin, log_of, opened, shell, types_of
from tests.runs.test_permitting import answered, permitted

Opened = Callable[..., Awaitable[Desk]]
Hook = dict[str, object]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "journal.db") as journal:
        yield journal


@pytest.fixture
def desk(journal: Journal, tmp_path: Path) -> Opened:
    async def opening(*hooks: Hook, policy: object = "default") -> Desk:
        held = await begin(journal, tmp_path)
        return Desk(journal, held, policy, clock=SystemClock(), data=tmp_path / "data", hooks=hooks)

    return opening


def command(tmp_path: Path, script: str, *, name: str = "h", **more: object) -> Hook:
    """A hook that is a script of the operator's."""
    path = tmp_path / f"{name}.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"name": name, "on": "PreToolUse", "command": [str(path)], **more}


@asynccontextmanager
async def answering(answer: bytes, *, status: str = "200 OK", seen: list[bytes] | None = None) -> AsyncIterator[str]:
    """An address that always answers the same; without an answer it never does."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        if seen is not None:
            seen.append(body)
        if answer == b"hang":
            await reader.read()
        else:
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-length: {len(answer)}\r\nconnection: close\r\n\r\n".encode() + answer
            )
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    finally:
        server.close()


async def stored(journal: Journal) -> list[bytes]:
    batch = await journal.reader.read("run_1", -1, 1_000_000)
    assert batch is not None
    return list(envelopes(batch.frames))


async def proposed(desk: Desk, ask: ToolAsk) -> None:
    await desk.emit(
        AssistantToolCallProposed(
            turn_index=0, tool_call_id=ask.tool_call_id, tool_name=ask.tool_name, input=dict(ask.input)
        )
    )


async def test_a_hook_is_shown_the_stored_events_byte_for_byte(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    one = await desk(command(tmp_path, f"cat > {tmp_path}/seen"))
    ask = shell("make é")
    await proposed(one, ask)
    assert isinstance(await permitted(one, ask), Go)
    _, _, asked, invoked, _ = await stored(journal)
    seen = (tmp_path / "seen").read_bytes()
    assert seen == b'{"hook":"PreToolUse","event":%b,"proposed":%b,"input":{"command":"make \xc3\xa9"},%b' % (
        invoked,
        asked,
        json.dumps({"run_id": "run_1", "task_id": "task_1", "workspace": str(tmp_path)}, separators=(",", ":"))[
            1:
        ].encode(),
    )
    assert await types_of(journal) == ["assistant.tool_call_proposed", "tool.invoked", "tool.started"]


async def test_an_address_is_shown_the_same(desk: Opened, journal: Journal) -> None:
    seen: list[bytes] = []
    async with answering(b"", seen=seen) as url:
        one = await desk({"name": "h", "on": "PreToolUse", "url": url})
        assert isinstance(await permitted(one, shell("make")), Go)
    _, _, invoked, _ = await stored(journal)
    assert b'"event":' + invoked + b',"proposed":null,' in seen[0]


@pytest.mark.parametrize("how", ["exit 2", "json", "url"])
async def test_a_hook_may_deny(desk: Opened, journal: Journal, tmp_path: Path, how: str) -> None:
    denial = b'{"decision":"deny","reason":"not on Fridays"}'
    async with answering(denial) as url:
        hooks: dict[str, Hook] = {
            "exit 2": command(tmp_path, "echo not on Fridays >&2; exit 2"),
            "json": command(tmp_path, f"cat > /dev/null; echo '{denial.decode()}'"),
            "url": {"name": "h", "on": "PreToolUse", "url": url},
        }
        verdict = await permitted(await desk(hooks[how]), shell("make"))
    assert verdict == No("error (hook_denied): not on Fridays")
    _, failed = await log_of(journal)
    assert isinstance(failed, ToolFailed)
    assert (failed.code, failed.message) == ("hook_denied", "not on Fridays")


async def test_a_hook_may_replace_the_input_and_the_next_one_sees_that(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    first = command(tmp_path, """echo '{"input":{"command":"make -n"}}'""", name="one")
    second = command(tmp_path, f"cat > {tmp_path}/seen", name="two")
    assert await permitted(await desk(first, second), shell("make")) == Go({"command": "make -n"}, "hook:one")
    assert b'"input":{"command":"make -n"}' in (tmp_path / "seen").read_bytes()
    *_, started = await log_of(journal)
    assert isinstance(started, ToolStarted)
    assert (started.input, started.changed_by) == ({"command": "make -n"}, "hook:one")


async def test_a_replaced_input_is_decided_about_like_any_other(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    one = await desk(command(tmp_path, """echo '{"input":{"command":"rm -rf /"}}'"""))
    verdict = await permitted(one, shell("make"))
    assert isinstance(verdict, No)
    *_, failed = await log_of(journal)
    assert isinstance(failed, ToolFailed)
    assert failed.code == "policy_denied"


@pytest.mark.parametrize("decision", ["approved", "denied"])
async def test_a_replaced_input_that_needs_a_person_is_asked_about_before_it_starts(
    desk: Opened, journal: Journal, tmp_path: Path, decision: str
) -> None:
    policy = {"rules": [{"action": "ask", "argv": ["git push*"]}]}
    one = await desk(command(tmp_path, """echo '{"input":{"command":"git push"}}'"""), policy=policy)
    answer = Answer(decision="approved" if decision == "approved" else "denied", by="ann")
    verdict: Verdict = await answered(one, shell("make"), answer)
    types = await types_of(journal)
    assert types[:3] == ["tool.invoked", "approval.requested", "approval.resolved"]
    if decision == "approved":
        assert (verdict, types[3:]) == (Go({"command": "git push"}, "hook:h"), ["tool.started"])
    else:
        assert (verdict, types[3:]) == (No("error (approval_denied): denied by ann"), ["tool.failed"])


BROKEN = {
    "crash": "echo oops >&2; exit 3",
    "signal": "kill -9 $$",
    "nonsense": "echo maybe",
    "wrong type": """echo '{"decision":"perhaps"}'""",
    "wrong input": """echo '{"input":{"command":7}}'""",
    "hang": "sleep 60",
    "hang with a child": "sleep 60 & wait",
    "flood": "yes",
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_hook_is_an_error_event_and_the_call_goes_on(
    desk: Opened, journal: Journal, tmp_path: Path, name: str
) -> None:
    one = await desk(command(tmp_path, BROKEN[name], timeout_s=0.5))
    assert isinstance(await permitted(one, shell("make")), Go)
    _, error, _ = await log_of(journal)
    assert isinstance(error, ErrorUpstream)
    assert (error.provider, error.retriable) == ("hook:h", False)
    assert error.message


@pytest.mark.parametrize("name", ["crash", "hang", "wrong input"])
async def test_a_broken_hook_that_is_required_fails_the_call(
    desk: Opened, journal: Journal, tmp_path: Path, name: str
) -> None:
    one = await desk(command(tmp_path, BROKEN[name], timeout_s=0.5, required=True))
    verdict = await permitted(one, shell("make"))
    assert isinstance(verdict, No)
    assert verdict.told.startswith("error (hook_failed): ")
    assert await types_of(journal) == ["tool.invoked", "tool.failed"]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"", "500 Oops"),
        (b"", "302 Found"),
        (b"<html>", "200 OK"),
        (b" " * (OUTPUT_MAX + 1), "200 OK"),
        (b"hang", "200 OK"),
    ],
    ids=["500", "redirect", "html", "flood", "hang"],
)
async def test_a_broken_address_is_an_error_event(desk: Opened, journal: Journal, answer: bytes, status: str) -> None:
    async with answering(answer, status=status) as url:
        one = await desk({"name": "h", "on": "PreToolUse", "url": url, "timeout_s": 0.5})
        assert isinstance(await permitted(one, shell("make")), Go)
    assert await types_of(journal) == ["tool.invoked", "error.upstream", "tool.started"]


async def test_an_address_where_nobody_is_is_an_error_event(desk: Opened, journal: Journal) -> None:
    one = await desk({"name": "h", "on": "PreToolUse", "url": "http://127.0.0.1:1/"})
    assert isinstance(await permitted(one, shell("make")), Go)
    assert await types_of(journal) == ["tool.invoked", "error.upstream", "tool.started"]


async def test_a_program_that_is_not_there_is_an_error_event(desk: Opened, journal: Journal) -> None:
    one = await desk({"name": "h", "on": "PreToolUse", "command": ["/nowhere/at/all"]})
    assert isinstance(await permitted(one, shell("make")), Go)
    assert await types_of(journal) == ["tool.invoked", "error.upstream", "tool.started"]


async def test_a_program_is_never_looked_for_in_the_workspace(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    command(tmp_path, f"touch {tmp_path}/ran")
    one = await desk({"name": "h", "on": "PreToolUse", "command": ["./h.sh"]})
    assert isinstance(await permitted(one, shell("make")), Go)
    assert not (tmp_path / "ran").exists()
    assert (await types_of(journal))[1] == "error.upstream"


async def test_a_hook_that_hangs_leaves_no_process_behind(desk: Opened, tmp_path: Path) -> None:
    one = await desk(command(tmp_path, f"(echo $$ > {tmp_path}/pid; exec sleep 60) & wait", timeout_s=0.5))
    await permitted(one, shell("make"))
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_command_sees_no_secret_of_the_worker(desk: Opened, tmp_path: Path) -> None:
    one = await desk(command(tmp_path, f"env > {tmp_path}/env"))
    await permitted(one, shell("make"))
    seen = (tmp_path / "env").read_text()
    assert "PATH=" in seen
    assert SECRET not in seen


async def test_a_hook_sees_the_tools_that_it_asked_for(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    one = await desk(command(tmp_path, "exit 2", tools=["file_*"]))
    assert isinstance(await permitted(one, shell("make")), Go)
    assert await types_of(journal) == ["tool.invoked", "tool.started"]


async def test_the_first_denial_wins(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    hooks = [command(tmp_path, "exit 2", name="no"), command(tmp_path, f"touch {tmp_path}/ran", name="late")]
    assert isinstance(await permitted(await desk(*hooks), shell("make")), No)
    assert not (tmp_path / "ran").exists()
    assert await types_of(journal) == ["tool.invoked", "tool.failed"]
