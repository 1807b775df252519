"""Calls that want to happen, and a real journal for decisions about them."""

import secrets
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from msgspec.structs import replace

from runwire.clock import Clock, SystemClock
from runwire.host import Effects, Emit, ToolAsk, ToolInputInvalid
from runwire.ids import Ids
from runwire.journal.artifact import Change, Draft
from runwire.journal.effects import together
from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal, open_journal
from runwire.journal.records import Effect, RunBirth, Stored
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.run import RunQueued, RunStarted
from runwire.protocol.lifecycle import check
from runwire.protocol.payload import Opaque, Payload
from runwire.runs.approvals import Approvals
from runwire.runs.floor import Place
from runwire.runs.grants import Grants
from runwire.runs.hooks import Hooks
from runwire.runs.hosting import Held
from runwire.runs.outbox import Outbox
from runwire.runs.permitting import Permits
from runwire.runs.policies import Policies
from runwire.runs.surroundings import Surroundings
from runwire.runs.task import Task

SECRET = "hunter2-correct-horse-battery"
SHELL: Effects = frozenset({"reads", "writes", "executes"})
PLACE = Place(workspace="/ws", data="/data")


def shell(command: str, *, call: str = "call_1", effects: Effects = SHELL, **more: object) -> ToolAsk:
    """A wish to run a command."""

    def recheck(given: Mapping[str, object]) -> ToolAsk:
        text = given.get("command")
        if not isinstance(text, str):
            raise ToolInputInvalid("command: is not text")
        return shell(text, call=call, effects=effects)

    return ToolAsk(
        tool_call_id=call,
        tool_name="shell_exec",
        kind="shell",
        turn_index=0,
        input={"command": command, **more},
        effects=effects,
        summary=command,
        argv_text=command,
        recheck=recheck,
    )


def tool(name: str, *effects: str, paths: Sequence[str] = (), hosts: Sequence[str] = (), **given: object) -> ToolAsk:
    """A wish to use some other tool."""
    known: dict[str, Effects] = {one: frozenset({one}) for one in ("reads", "writes", "executes", "network")}
    ask = shell("", call="call_1")
    return replace(
        ask,
        tool_name=name,
        kind="mcp" if name.startswith("mcp__") else "file",
        input=given,
        effects=frozenset().union(*(known[effect] for effect in effects)),
        summary=name,
        paths=paths,
        hosts=hosts,
        argv_text=None,
        recheck=lambda other: tool(name, *effects, paths=paths, hosts=hosts, **other),
    )


def opened(path: Path, clock: Clock | None = None) -> AbstractAsyncContextManager[Journal]:
    """The journal at a path, with one known secret."""
    clock = clock or SystemClock()
    return open_journal(
        path,
        redactor=Redactor(SecretSet([KnownValue("test", SECRET)])),
        clock=clock,
        ids=ids_of(clock),
    )


def ids_of(clock: Clock) -> Ids:
    """A source of ids."""
    return Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)


def emitting(journal: Journal, run_id: str, *, lease: int = 0) -> Emit:
    """What a host hands on: events of a run, in the order of the calls."""
    outbox = Outbox(journal=journal, run_id=run_id, lease=lease, broken=lambda _: None)

    def emit(*payloads: Payload, kept: Sequence[Draft | Change] = (), also: Effect | None = None) -> Awaitable[Stored]:
        return outbox.put((*(one.event for one in kept), *payloads), together(*(one.effect for one in kept), also))

    return emit


class Desk:
    """One run at whose calls somebody decides."""

    def __init__(
        self, journal: Journal, held: Held, policy: object, *, clock: Clock, data: Path, **more: object
    ) -> None:
        """Decide by one policy of the operator's."""
        hooks = more.get("hooks", ())
        assert isinstance(hooks, Sequence)
        timeout = more.get("approval_timeout_s", 300.0)
        assert timeout is None or isinstance(timeout, float)
        self.journal = journal
        self.held = held
        self.policies = Policies(
            configured=policy, hooks=hooks, approval_timeout_s=timeout, max_turns=50, allow_unconfined=False
        )
        self.approvals = Approvals(journal=journal, clock=clock, ids=ids_of(clock))
        self.grants = Grants(journal=journal, clock=clock)
        self.hooks = Hooks(journal=journal, environ={"PATH": "/usr/bin:/bin", "TOKEN": SECRET})
        self.permits = Permits(
            approvals=self.approvals,
            grants=self.grants,
            policies=self.policies,
            hooks=self.hooks,
            ids=ids_of(clock),
            surroundings=Surroundings(data=data, unconfined=False),
        )
        self.emit = emitting(journal, held.run_id)


async def begin(journal: Journal, workspace: Path, *, run_id: str = "run_1", agent: str = "native") -> Held:
    """A run that has been claimed."""
    task = Task(task_id="task_1", created_ns=0, kind="agent_loop", agent=agent, session_id="chat_1")
    birth = RunBirth(run_id, task.task_id, task.session_id, agent)
    await journal.create_run(
        birth,
        [
            RunQueued(kind="agent_loop", model=None, provider=None, workspace_path=None, workspace_mode=None),
            RunStarted(worker_id="w", lease_until="2026-01-01T00:00:00.000000000Z"),
        ],
    )
    return await held_again(journal, task, workspace, run_id)


async def held_again(journal: Journal, task: Task, workspace: Path, run_id: str) -> Held:
    """The same run, as a worker that claims it later holds it."""
    return Held(run_id, task, 0, await journal.reader.run(run_id), workspace)


async def log_of(journal: Journal, run_id: str = "run_1") -> list[Payload | Opaque]:
    """What the run says happened, birth left out; it must keep the rules."""
    found: list[bytes] = []
    after = -1
    while (batch := await journal.reader.read(run_id, after, 65_536)) is not None:
        found += envelopes(batch.frames)
        after = batch.last
    assert list(check(found, live=True)) == []
    decoded = [decode_envelope(one) for one in found]
    return [decode_payload(one.type, one.data) for one in decoded][2:]


async def types_of(journal: Journal, run_id: str = "run_1") -> list[str]:
    """The types of what happened."""
    return [payload.type for payload in await log_of(journal, run_id)]
