"""A data directory with tasks, a queue and workers on it, as a gateway has them; executors are the test's own."""

import asyncio
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from runwire.clock import Clock, SystemClock
from runwire.config import Config
from runwire.host import Answer, Emit, Ended, Executor, Go, RunHost, ToolAsk, ToolEnd, Verdict
from runwire.ids import Ids
from runwire.journal.artifacts import Artifacts
from runwire.journal.journal import Journal, JournalSettings, open_journal
from runwire.journal.layout import bodies_of, database_of
from runwire.journal.records import RunInfo
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.journal.retention import Retention
from runwire.protocol.envelope import decode_envelope, type_of
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolInvoked, ToolStarted
from runwire.protocol.lifecycle import check
from runwire.protocol.payload import Payload
from runwire.runs.cancelling import Cancelling
from runwire.runs.claiming import Ending
from runwire.runs.hiring import Job, hire
from runwire.runs.hosting import Deciding, Ground, Held, Permitting, Terms
from runwire.runs.lease import Lease
from runwire.runs.messages import Messages
from runwire.runs.past import stored_events
from runwire.runs.rows.tasks import Workplace
from runwire.runs.starting import Starter
from runwire.runs.supervisor import Manners
from runwire.runs.task import NewTask
from runwire.runs.tasks import Tasks, TaskView
from runwire.runs.vault import Vault
from runwire.runs.worker import Worker
from tests.patience import PATIENCE_S

Work = Callable[[RunHost], Awaitable[Ended]]


@dataclass(frozen=True, slots=True)
class Doing:
    """An executor that does what a function says."""

    work: Work

    async def run(self, host: RunHost) -> Ended:
        return await self.work(host)


class AllowAll:
    """Permits every call and tells so."""

    async def permit(self, held: Held, ask: ToolAsk, emit: Emit) -> Verdict:  # noqa: ARG002 - the Protocol's signature
        await emit(*begun(ask))
        return Go(ask.input, None)

    async def ask(self, held: Held, ask: ToolAsk, emit: Emit) -> Answer:  # noqa: ARG002 - the Protocol's signature
        return Answer(allowed=True, input=ask.input, by="policy")


class PlainSettling:
    """Tells the end of a call and does nothing more."""

    async def settle(self, held: Held, ask: ToolAsk, end: ToolEnd, emit: Emit) -> None:  # noqa: ARG002 - the Protocol's
        await emit(ending(ask, end), kept=end.drafts)


def begun(ask: ToolAsk) -> tuple[ToolInvoked, ToolStarted]:
    """The events with which a call begins."""
    call, name, kind = ask.tool_call_id, ask.tool_name, ask.kind
    return (
        ToolInvoked(tool_call_id=call, tool_name=name, kind=kind, turn_index=ask.turn_index),
        ToolStarted(tool_call_id=call, tool_name=name, kind=kind),
    )


def ending(ask: ToolAsk, end: ToolEnd) -> Payload:
    """The terminal event of a call."""
    call, name, kind, took = ask.tool_call_id, ask.tool_name, ask.kind, end.duration_ms
    if end.outcome == "completed":
        return ToolCompleted(tool_call_id=call, tool_name=name, kind=kind, duration_ms=took)
    return ToolCancelled(tool_call_id=call, tool_name=name, kind=kind, duration_ms=took, by=end.by)


def ask(call: str = "call_1", name: str = "shell_exec", turn: int = 0) -> ToolAsk:
    """A call that wants to happen."""
    return ToolAsk(
        tool_call_id=call,
        tool_name=name,
        kind="shell",
        turn_index=turn,
        input={"command": "true"},
        effects=frozenset({"executes"}),
        summary="true",
        recheck=lambda _: ask(call, name, turn),
    )


@dataclass(slots=True)
class Folders:
    """Workplaces that are plain folders."""

    root: Path
    removed: list[Path] = field(default_factory=list)

    async def make(self, *, task_id: str, run_id: str, path: Path | None, mode: str) -> Workplace:
        if mode == "in_place" and path is not None:
            return Workplace(path, mode)
        place = self.root / task_id / run_id
        place.mkdir(parents=True)
        return Workplace(place, mode, path)

    async def remove(self, place: Workplace) -> None:
        self.removed.append(place.path)


@dataclass(frozen=True, slots=True)
class House:
    """One process on one data directory."""

    data: Path
    ground: Ground
    secrets: SecretSet
    vault: Vault
    starter: Starter
    tasks: Tasks
    cancelling: Cancelling
    messages: Messages
    folders: Folders

    @property
    def journal(self) -> Journal:
        return self.ground.journal

    def worker(
        self,
        executors: Mapping[str, Executor] | Work,
        *,
        slots: int = 1,
        name: str = "",
        permitting: Permitting | None = None,
        lease_s: float = 30.0,
        manners: Manners = Manners(park_after_s=60.0, close_grace_s=0.2),  # noqa: B008 - it is frozen
        terms: Terms = Terms(),  # noqa: B008 - it is frozen
    ) -> Worker:
        """A worker that has not begun."""
        named = executors if isinstance(executors, Mapping) else {"native": Doing(executors)}
        lease = Lease(
            journal=self.journal,
            clock=self.ground.clock,
            worker_id=name or self.ground.ids.new("worker"),
            folder=self.data / "workers",
            lease_s=lease_s,
        )
        deciding = Deciding(permitting or AllowAll(), PlainSettling(), lambda _: terms)
        return hire(
            Job(
                ground=self.ground,
                executors=named,
                deciding=deciding,
                starter=self.starter,
                cancelling=self.cancelling,
                vault=self.vault,
                lease=lease,
                slots=slots,
                manners=manners,
            )
        )

    async def task(self, prompt: str = "do it", **settings: object) -> TaskView:
        """A task of the native agent, started."""
        return await self.tasks.create(msgspec.convert({"prompt": prompt, **settings}, NewTask))

    async def run(self, prompt: str = "do it", **settings: object) -> str:
        """The first run of a new task."""
        view = await self.task(prompt, **settings)
        assert view.latest_run is not None
        return view.latest_run.birth.run_id

    async def log(self, run_id: str) -> list[bytes]:
        """Every stored event of a run."""
        await self.journal.foreign()
        return [envelope async for envelope in stored_events(self.journal, run_id)]

    async def types(self, run_id: str) -> list[str]:
        """What happened in a run, by name."""
        return [type_of(envelope) for envelope in await self.log(run_id)]

    async def end(self, run_id: str) -> RunInfo:
        """Wait until a run is over, and hold its log to the rules."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                ring = self.journal.bell.listen(run_id, 60)
                info = await self.journal.reader.run(run_id)
                if info.story.finished:
                    break
                await ring
        assert list(check(map(decode_envelope, await self.log(run_id)))) == []
        return info


@asynccontextmanager
async def open_house(data: Path, *, clock: Clock | None = None) -> AsyncGenerator[House]:
    """Open everything on a data directory, which is made if need be."""
    data.mkdir(exist_ok=True)
    clock = clock or SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    known = SecretSet()
    redactor = Redactor(known)
    config = Config(data=data)
    async with open_journal(
        database_of(data), redactor=redactor, clock=clock, ids=ids, settings=JournalSettings(settle_s=3_600)
    ) as journal:
        artifacts = Artifacts(journal=journal, folder=bodies_of(data), config=config, clock=clock, ids=ids)
        ground = Ground(journal, artifacts, clock, ids)
        folders = Folders(data / "workspaces")
        vault = Vault(folder=data / "vault", secrets=known, redactor=redactor)
        starter = Starter(ground=ground, workplaces=folders, vault=vault)
        ending = Ending(ground=ground, folder=data / "workers", host=socket.gethostname())
        yield House(
            data=data,
            ground=ground,
            secrets=known,
            vault=vault,
            starter=starter,
            tasks=Tasks(
                ground=ground,
                starter=starter,
                vault=vault,
                workplaces=folders,
                retention=Retention(journal=journal, clock=clock, ids=ids),
                accept=lambda new: new,
            ),
            cancelling=Cancelling(ground=ground, ending=ending, patience_s=5.0),
            messages=Messages(ground=ground),
            folders=folders,
        )


@asynccontextmanager
async def at_work(*workers: Worker) -> AsyncGenerator[None]:
    """Let workers work for as long as the block lasts, and close them in order at its end."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for worker in workers:
            tasks.create_task(worker.work(stop))
        try:
            yield
        finally:
            stop.set()
