"""The host: a run as its executor may touch it. It gathers, fences and tells; it decides nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from runwire.clock import Clock
from runwire.errors import ArtifactNotFound
from runwire.host import (
    Answer,
    ChildEnd,
    Emit,
    ModelRewrite,
    Past,
    RunFacts,
    Said,
    Stopped,
    ToolAsk,
    ToolEnd,
    Verdict,
    WhyStopped,
)
from runwire.ids import Ids
from runwire.journal.artifact import Artifact, Change, Draft, NewArtifact
from runwire.journal.artifacts import Artifacts
from runwire.journal.effects import together
from runwire.journal.journal import Journal
from runwire.journal.records import Effect, RunInfo, Stored
from runwire.protocol.catalogue import may_emit
from runwire.protocol.events.run import RunCheckpointSaved, RunStarted
from runwire.protocol.events.turn import TurnCompleted, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta
from runwire.runs.outbox import Outbox
from runwire.runs.past import next_turn, read_chain
from runwire.runs.recovering import LeftOpen
from runwire.runs.rows.messages import delete_messages, waiting_messages
from runwire.runs.task import Task
from runwire.runs.waiting import Waits
from runwire.workspace.probing import Probe, unwatched


@dataclass(frozen=True, slots=True)
class Ground:
    """What everything about runs stands on."""

    journal: Journal
    artifacts: Artifacts
    clock: Clock
    ids: Ids
    probe: Probe = unwatched


class Held(Struct, frozen=True):
    """A run that a worker has claimed."""

    run_id: str
    task: Task
    generation: int
    info: RunInfo
    """The run as it stood before the claim."""
    workspace: Path
    """Its real path."""
    mode: str = "in_place"
    parent_run_id: str | None = None
    spent_before_micros_usd: int = 0
    """By the other runs of the task."""
    mail: bool = False
    """Whether somebody said something to it already."""
    known: Sequence[Past] | None = None
    """All that has happened in it, where the claim alone tells that."""
    used: set[str] = field(default_factory=set)
    """Approvals whose answers have been used since the claim."""


class Terms(Struct, frozen=True):
    """What policy says about a whole run."""

    auto_apply: bool = True
    allow_unconfined: bool = False
    allow_hosts: Sequence[str] = ()
    allow_network: bool = False
    max_turns: int = 50
    rewrites: Sequence[ModelRewrite] = ()


class Permitting(Protocol):
    """Decides whether a call may happen, and tells of it."""

    async def permit(self, held: Held, ask: ToolAsk, emit: Emit) -> Verdict:
        """Wait as long as the decision takes."""
        ...

    async def ask(self, held: Held, ask: ToolAsk, emit: Emit) -> Answer:
        """Decide about a call that is another agent's to make; tell of approvals only."""
        ...


class Settling(Protocol):
    """Tells how a call has ended."""

    async def settle(self, held: Held, ask: ToolAsk, end: ToolEnd, emit: Emit) -> None:
        """Store the terminal event, and do what follows a tool's use."""
        ...


class Deciding(Struct, frozen=True):
    """Who decides about the calls of a run, and what holds for all of it."""

    permitting: Permitting
    settling: Settling
    terms: Callable[[Task], Terms]


Spawn = Callable[["Host", str, str, str], Awaitable[ChildEnd]]
"""Starts a child of a host's run: agent, prompt, tool call."""


class Parenting(Protocol):
    """Looks after the children of runs."""

    async def spawn(self, host: "Host", agent: str, prompt: str, tool_call_id: str) -> ChildEnd:
        """Start a child and wait for its end."""
        ...

    async def take_up(self, host: "Host") -> None:
        """End the children of a stay that was cut short, and tell how they ended."""
        ...


class Ties(Struct, frozen=True):
    """What ties a host to the worker that it lives in."""

    alive: Callable[[], bool]
    """Whether the worker's lease still holds."""
    spawn: Spawn
    park_after_s: float = 60.0


class Stopping(Struct):
    """Why a run is being stopped, and by whom."""

    why: WhyStopped | None = None
    by: str = "system"
    reason: str = ""
    timed_out: bool = False
    mistake: BaseException | None = None


class Host:
    """One run under one lease. It implements `runwire.host.RunHost`."""

    def __init__(self, *, held: Held, ground: Ground, deciding: Deciding, facts: RunFacts, ties: Ties) -> None:
        """Serve the executor of a claimed run."""
        self.held = held
        self._facts = facts
        self._ground = ground
        self._deciding = deciding
        self._ties = ties
        self._loop = asyncio.get_running_loop()
        self._outbox = Outbox(
            journal=ground.journal,
            run_id=held.run_id,
            lease=held.generation,
            broken=self._could_not_store,
            probe=ground.probe,
        )
        self.stopping = Stopping()
        self.closing = False
        self.left = LeftOpen()
        self.turns = held.info.story.run.turns
        self.cost_micros_usd = held.info.story.run.cost_micros_usd
        self._elsewhere_micros_usd = 0
        self.started_ns: int | None = None
        self._past: list[Past] | None = None
        self._turn = 0
        self._mail = held.mail
        self._taking: Awaitable[Stored] | None = None
        self._waits = Waits(park_after_s=ties.park_after_s, left=self.left)
        self._executing: asyncio.Task[object] | None = None

    @property
    def facts(self) -> RunFacts:
        """What is settled about the run."""
        return self._facts

    # What an executor emits.

    def emit(
        self, *payloads: Payload | Opaque, kept: Sequence[Draft | Change] = (), also: Effect | None = None
    ) -> Awaitable[Stored]:
        """Append all or none, under the lease; events of `kept` go first. Without events: wait for what was emitted."""
        if kept:
            payloads = (*(one.event for one in kept), *payloads)
            also = together(*(one.effect for one in kept), also)
        ticket = self._outbox.put(payloads, also)
        now_ns = self._ground.clock.now_ns()
        note = self.left.note
        for payload in payloads:
            note(payload, now_ns)
            if isinstance(payload, TurnStarted):
                self.turns += 1
                self._turn = max(self._turn, payload.turn_index)
            elif isinstance(payload, TurnCompleted):
                self._turn = max(self._turn, payload.turn_index + 1)
        return ticket

    async def offer(self, delta: Delta) -> None:
        """Hand over a piece of stream text, behind everything emitted so far."""
        self._outbox.flush()
        if self._outbox.unsent:
            await self._outbox.sent()
        await self._ground.journal.offer(self.held.run_id, delta, lease=self.held.generation)

    async def draft(self, new: NewArtifact, body: bytes) -> Draft:
        """Make an artifact's body safe."""
        return await self._ground.artifacts.prepare(self.held.run_id, new, body)

    async def body(self, artifact_id: str) -> tuple[Artifact, bytes]:
        """An artifact of this run's task."""
        artifact = await self._ground.artifacts.get(artifact_id)
        if artifact.task_id != self.held.task.task_id:
            raise ArtifactNotFound(artifact_id)
        async with await self._ground.artifacts.open(artifact_id) as body:
            return artifact, await body.read()

    async def past(self) -> Sequence[Past]:
        """This run so far, and before it the runs that it was resumed from."""
        past, self._past = self._past, None
        if past is None:
            await self.emit()
            past = await read_chain(self._ground.journal, self.held.run_id)
        return past

    def begin(self, past: list[Past]) -> None:
        """Take in what has been read of the past already, for whoever asks for it first."""
        self._past = past
        self._turn = next_turn(past)
        own = (one for one in past if one.run_id == self.held.run_id and isinstance(one.payload, RunStarted))
        self.started_ns = next((one.occurred_ns for one in own), None)

    async def checkpoint(self) -> str:
        """Store that the run can be resumed from here."""
        checkpoint_id = self._ground.ids.new("ckpt")
        self.emit(RunCheckpointSaved(checkpoint_id=checkpoint_id))
        return checkpoint_id

    def spend(self, cost_micros_usd: int) -> None:
        """Count money."""
        self.cost_micros_usd += cost_micros_usd

    def spent(self) -> int:
        """Micro-dollars of the whole task, this run included."""
        return self.held.spent_before_micros_usd + self.cost_micros_usd + self._elsewhere_micros_usd

    def spend_elsewhere(self, cost_micros_usd: int) -> None:
        """Count money that a child has spent since this run was claimed: the task's, and not in this run's totals."""
        self._elsewhere_micros_usd += cost_micros_usd

    def redact(self, text: str) -> str:
        """The text without known secrets."""
        return self._ground.journal.redactor.redact_text(text)

    def may_emit(self, event_type: str) -> bool:
        """Whether the task asked for this experimental type, or it is not experimental."""
        return may_emit(event_type, self._facts.experimental)

    # What an executor asks.

    async def permit(self, ask: ToolAsk) -> Verdict:
        """Ask whether a call may happen. A wait that is long gives the worker back; the run goes on elsewhere, later."""
        self._rest()
        with self._waits.waiting(parks=True):
            verdict = await self._deciding.permitting.permit(self.held, ask, self.emit)
        self._require_lease()
        return verdict

    async def ask(self, ask: ToolAsk, *, parks: bool = False) -> Answer:
        """Decide about a call that another agent asks about; the worker is given back only if that agent outlives it."""
        self._rest()
        with self._waits.waiting(parks=parks):
            answer = await self._deciding.permitting.ask(self.held, ask, self.emit)
        self._require_lease()
        return answer

    async def settle(self, ask: ToolAsk, end: ToolEnd) -> None:
        """Store the call's terminal event, then run what follows a tool's use."""
        self._ground.probe("effect done")
        await self._deciding.settling.settle(self.held, ask, end, self.emit)

    async def said(self) -> Sequence[Said]:
        """What people said since the last call; taking it emits their messages. A worker that closes stops a run here."""
        self._rest()
        if not self._mail:
            return ()
        if self._taking is not None:
            # What was taken last is there until that is durable, and would be heard once more.
            await self._taking
        # Cleared before the rows are read: what comes while we read rings again.
        self._mail = False
        run_id = self.held.run_id
        rows = await self._ground.journal.reader.query(lambda db: waiting_messages(db, run_id))
        if not rows:
            return ()
        keys = [row.key for row in rows]
        self._taking = self.emit(
            *(UserMessage(turn_index=self._turn, text=row.text, by=row.by) for row in rows),
            also=lambda db: delete_messages(db, keys),
        )
        return [Said(row.text, row.by, row.kind) for row in rows]

    async def spawn(self, agent: str, prompt: str, tool_call_id: str) -> ChildEnd:
        """Start a run for a part of the work and wait for its end."""
        return await self._ties.spawn(self, agent, prompt, tool_call_id)

    # What the worker does with it.

    def execute(self, task: "asyncio.Task[object]") -> None:
        """Know the task that does the run's work, so that it can be stopped."""
        self._executing = task
        if self.stopping.why is not None or self.stopping.timed_out or self.stopping.mistake is not None:
            task.cancel()

    def stop(self, why: WhyStopped, *, by: str = "system", reason: str = "") -> None:
        """Stop the executor. A second reason changes nothing, but that a lost lease beats all: nothing may be told then."""
        stopping = self.stopping
        if why == "lost":
            self._outbox.abandon(Stopped("lost"))
        if stopping.why is None or why == "lost":
            stopping.why, stopping.by, stopping.reason = why, by, reason
            if self._executing is not None:
                self._executing.cancel()

    def time_out(self) -> None:
        """The run has taken all the time that it may."""
        if self.stopping.why is None:
            self.stopping.timed_out = True
            if self._executing is not None:
                self._executing.cancel()

    def close(self) -> None:
        """Let the run rest at the next place where it can: the worker ends. One that waits for a decision rests now."""
        self.closing = True
        self._waits.close()

    def let_go(self) -> None:
        """The stay is over. What leads back to the host is cut, so that its memory is free at once and not a round later."""
        self._executing = None
        self._outbox.let_go()

    def ring(self) -> None:
        """Somebody may have said something."""
        self._mail = True

    def waited_s(self) -> float:
        """How long calls of this stay have waited for decisions."""
        return self._waits.total_s()

    def _rest(self) -> None:
        """Go no further when the run is being stopped, or the lease is over: no side effect may follow."""
        if self.stopping.why is not None:
            raise Stopped(self.stopping.why)
        self._require_lease()
        if self.closing and not self.left.calls:
            raise Stopped("closing")

    def _require_lease(self) -> None:
        if not self._ties.alive():
            self.stop("lost")
            raise Stopped("lost")

    def _could_not_store(self, failure: BaseException) -> None:
        if isinstance(failure, ValueError):
            self.stopping.mistake = failure
            if self._executing is not None:
                self._executing.cancel()
        else:
            self.stop("lost", reason=str(failure))
