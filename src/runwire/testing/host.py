"""A host in memory: an executor's whole run without a worker, a queue or a store."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from pathlib import Path

from msgspec import UNSET

from runwire.clock import Clock, rfc3339
from runwire.errors import ArtifactNotFound
from runwire.host import (
    Answer,
    ChildEnd,
    Ended,
    Finished,
    Go,
    No,
    Past,
    RunFacts,
    Said,
    ToolAsk,
    ToolEnd,
    Verdict,
)
from runwire.journal.artifact import Artifact, Change, Draft, NewArtifact
from runwire.journal.records import Effect, Stored
from runwire.protocol.catalogue import may_emit
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.artifact import ArtifactCreated
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunCheckpointSaved, RunFailed, RunFinished, RunQueued, RunStarted
from runwire.protocol.events.tool import ToolInvoked, ToolStarted
from runwire.protocol.events.turn import TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload, encode_payload
from runwire.protocol.stream import Delta, is_delta
from runwire.runs.settling import terminal
from runwire.testing.clock import ManualClock

Decide = Callable[[ToolAsk], Awaitable[Verdict]]
"""What a host answers when it is asked whether a call may happen."""

Respond = Callable[[ToolAsk], Coroutine[None, None, Answer]]
"""What a host answers when another agent asks about a call."""


def run_facts(
    *, prompt: str = "do it", model: str | None = "scripted:test", workspace: Path = Path("/srv/w")
) -> RunFacts:
    """Facts of a run that nobody has said anything special about; `msgspec.structs.replace` changes more of them."""
    return RunFacts(
        run_id="run_00000000000000000000000000",
        task_id="task_00000000000000000000000000",
        session_id=None,
        agent="native",
        kind="agent_loop",
        prompt=prompt,
        model=model,
        input={},
        workspace=workspace,
        workspace_mode="in_place",
        experimental=frozenset(),
        env={},
        timeout_s=None,
        mcp_servers={},
        rewrites=(),
        auto_apply=True,
        allow_unconfined=False,
        allow_hosts=(),
        allow_network=False,
        max_turns=50,
        budget_micros_usd=None,
        spent_before_micros_usd=0,
        fresh=True,
    )


async def allow(ask: ToolAsk) -> Verdict:
    """Let every call go."""
    return Go(ask.input, None)


async def agree(ask: ToolAsk) -> Answer:
    """Approve whatever another agent asks about."""
    return Answer(allowed=True, input=ask.input, by="operator")


def answers(*scripted: Answer) -> Respond:
    """Give these answers, one a question, in order."""
    left = list(scripted)

    async def next_answer(ask: ToolAsk) -> Answer:
        if not left:
            raise AssertionError(f"nobody expected to be asked about {ask.summary!r}")
        return left.pop(0)

    return next_answer


class FakeHost:
    """Keeps events and artifacts in lists. `log` holds everything in order, pieces of streams included."""

    def __init__(
        self,
        *,
        facts: RunFacts | None = None,
        past: Sequence[Past] | None = None,
        decide: Decide = allow,
        respond: Respond = agree,
        clock: Clock | None = None,
    ) -> None:
        """Begin with the given past, or with the birth of a run."""
        self._facts = facts or run_facts()
        self._decide = decide
        self._respond = respond
        self._clock = clock or ManualClock()
        self._cost_micros_usd = 0
        self._drafts: dict[str, tuple[Artifact, bytes]] = {}
        self._made = 0
        self.artifacts: dict[str, tuple[Artifact, bytes]] = {}
        self.waiting: list[Said] = []
        """What people said and nobody has taken yet."""
        self.secrets: dict[str, str] = {}
        """What `redact` replaces, and by what."""
        self.asked: list[ToolAsk] = []
        self.log: list[Past] = list(past or ())
        if past is None:
            self.emit(*_birth(self._facts))

    @property
    def facts(self) -> RunFacts:
        """What is settled about the run."""
        return self._facts

    @property
    def payloads(self) -> list[Payload | Opaque]:
        """What the events say, in order."""
        return [event.payload for event in self.log]

    @property
    def types(self) -> list[str]:
        """The types of the events, in order, without pieces of streams."""
        return [event.payload.type for event in self.log if not is_delta(event.payload)]

    def envelopes(self) -> list[bytes]:
        """The log of this run as a store would keep it."""
        writer = EnvelopeWriter(run_id=self._facts.run_id, task_id=self._facts.task_id)
        return [
            writer.write(
                event_id=event.event_id,
                sequence=event.sequence,
                occurred_at=rfc3339(event.occurred_ns),
                event_type=event.payload.type,
                data=encode_payload(event.payload),
            )
            for event in self.log
            if event.run_id == self._facts.run_id
        ]

    def end(self, ended: Ended) -> None:
        """Append the terminal event, as a supervisor would."""
        turns = sum(isinstance(payload, TurnStarted) for payload in self.payloads)
        if isinstance(ended, Finished):
            self.emit(RunFinished(turns=turns, cost_micros_usd=self._cost_micros_usd, duration_ms=0))
        else:
            self.emit(RunFailed(code=ended.code, message=ended.message, retriable=ended.retriable, turns=turns))

    def emit(
        self, *payloads: Payload | Opaque, kept: Sequence[Draft | Change] = (), also: Effect | None = None
    ) -> Awaitable[Stored]:
        """Append at once. There are no rows here for `also` to change."""
        del also
        for one in kept:
            if isinstance(one, Draft):
                artifact_id = one.artifact.artifact_id
                self.artifacts[artifact_id] = self._drafts.pop(artifact_id)
            self._append(one.event)
        for payload in payloads:
            self._append(payload)
        last = self.log[-1]
        return _Done(Stored(last.run_id, last.sequence, last.event_id, last.sequence))

    async def offer(self, delta: Delta) -> None:
        """Append a piece as it comes."""
        self._append(delta)

    async def draft(self, new: NewArtifact, body: bytes) -> Draft:
        """Keep a body until its event comes."""
        self._made += 1
        artifact = Artifact(
            artifact_id=f"art_{len(self.log):020d}{self._made:06d}",
            task_id=self._facts.task_id,
            run_id=self._facts.run_id,
            kind=new.kind,
            status=new.status or ("proposed" if new.kind == "patch" else None),
            pinned=False,
            created_ns=self._clock.now_ns(),
            size=len(body),
            digest=hashlib.sha256(body).digest(),
            meta=new.meta,
        )
        self._drafts[artifact.artifact_id] = (artifact, body)
        event = ArtifactCreated(
            artifact_id=artifact.artifact_id,
            kind=new.kind,
            size_bytes=len(body),
            summary=new.meta.summary,
            created_by_event_id=new.created_by_event_id,
        )
        return Draft(artifact=artifact, event=event, effect=lambda _: None)

    async def body(self, artifact_id: str) -> tuple[Artifact, bytes]:
        """An artifact whose event has come."""
        if artifact_id not in self.artifacts:
            raise ArtifactNotFound(artifact_id)
        return self.artifacts[artifact_id]

    async def past(self) -> Sequence[Past]:
        """Everything but pieces of streams."""
        return [event for event in self.log if not is_delta(event.payload)]

    async def permit(self, ask: ToolAsk) -> Verdict:
        """Decide as told to, with the events that the decision has."""
        self.asked.append(ask)
        verdict = await self._decide(ask)
        if isinstance(verdict, Go):
            self.emit(*invocation(ask, verdict))
        else:
            self.emit(*refusal(ask, verdict, f"appr_{len(self.asked):026d}"))
        return verdict

    async def ask(self, ask: ToolAsk, *, parks: bool = False) -> Answer:
        """Answer as told to. An answer that is not by policy has the events of an approval, which waits meanwhile."""
        del parks
        self.asked.append(ask)
        approval_id = f"appr_{len(self.asked):026d}"
        answering = asyncio.get_running_loop().create_task(self._respond(ask))
        try:
            # One that comes at once may be a policy's; whoever takes time is a person.
            await asyncio.sleep(0)
            if not answering.done() or answering.result().by != "policy":
                self.emit(_question(ask, approval_id))
            answer = await answering
        finally:
            answering.cancel()
        if answer.by != "policy":
            self.emit(_resolution(approval_id, answer))
        return answer

    async def settle(self, ask: ToolAsk, end: ToolEnd) -> None:
        """Append the end of a call."""
        self.emit(terminal(ask, end), kept=end.drafts)

    async def checkpoint(self) -> str:
        """Append a checkpoint."""
        checkpoint_id = f"ckpt_{len(self.log):026d}"
        self.emit(RunCheckpointSaved(checkpoint_id=checkpoint_id))
        return checkpoint_id

    def spend(self, cost_micros_usd: int) -> None:
        """Count money."""
        self._cost_micros_usd += cost_micros_usd

    def spent(self) -> int:
        """What the task has spent."""
        return self._facts.spent_before_micros_usd + self._cost_micros_usd

    async def said(self) -> Sequence[Said]:
        """Take what waits."""
        taken, self.waiting = self.waiting, []
        turn = sum(1 for payload in self.payloads if payload.type == "turn.completed")
        for one in taken:
            self.emit(UserMessage(turn_index=turn, text=one.text, by=one.by))
        return taken

    def redact(self, text: str) -> str:
        """Replace the secrets that this host was told of."""
        for secret, placeholder in self.secrets.items():
            text = text.replace(secret, placeholder)
        return text

    async def spawn(self, agent: str, prompt: str, tool_call_id: str) -> ChildEnd:
        """Pretend that a child has done what it was asked for."""
        return ChildEnd(f"run_{tool_call_id}", "completed", f"{agent}: {prompt}", 0)

    def may_emit(self, event_type: str) -> bool:
        """Whether the task asked for this type."""
        return may_emit(event_type, self._facts.experimental)

    def _append(self, payload: Payload | Opaque) -> None:
        sequence = sum(event.run_id == self._facts.run_id for event in self.log)
        event_id = f"evt_{len(self.log):026d}"
        self.log.append(Past(self._facts.run_id, sequence, event_id, self._clock.now_ns(), payload))


def invocation(ask: ToolAsk, go: Go) -> tuple[Payload, Payload]:
    """The events of a call that may happen."""
    changed = go.changed_by is not None
    return (
        ToolInvoked(
            tool_call_id=ask.tool_call_id,
            tool_name=ask.tool_name,
            kind=ask.kind,
            mcp_server=ask.mcp_server or UNSET,
            mcp_tool=ask.mcp_tool or UNSET,
            turn_index=ask.turn_index,
            timeout_ms=UNSET if ask.timeout_ms is None else ask.timeout_ms,
        ),
        ToolStarted(
            tool_call_id=ask.tool_call_id,
            tool_name=ask.tool_name,
            kind=ask.kind,
            mcp_server=ask.mcp_server or UNSET,
            mcp_tool=ask.mcp_tool or UNSET,
            input=dict(go.input) if changed else UNSET,
            changed_by=go.changed_by or UNSET,
        ),
    )


def refusal(ask: ToolAsk, no: No, approval_id: str) -> Iterable[Payload]:
    """The events of a call that may not happen; one that also ends the run was denied by a person."""
    if no.stop:
        yield _question(ask, approval_id)
        yield ApprovalResolved(approval_id=approval_id, decision="denied", by="operator", comment=no.told, stop=True)
    yield PolicyToolBlocked(tool_call_id=ask.tool_call_id, tool_name=ask.tool_name, reason=no.told, kind=ask.kind)


def _question(ask: ToolAsk, approval_id: str) -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=approval_id,
        tool_call_id=ask.tool_call_id,
        kind=ask.tool_name,
        summary=ask.summary,
        policy_reason="asked",
    )


def _resolution(approval_id: str, answer: Answer) -> ApprovalResolved:
    return ApprovalResolved(
        approval_id=approval_id,
        decision="approved" if answer.allowed else "denied",
        by=answer.by or "operator",
        comment=answer.told,
        scope=answer.scope,
        edited_input=dict(answer.input) if answer.edited else UNSET,
        stop=True if answer.stop else UNSET,
    )


def _birth(facts: RunFacts) -> tuple[Payload, ...]:
    provider, _, model = (facts.model or "").partition(":")
    queued = RunQueued(
        kind=facts.kind,
        model=model or None,
        provider=provider or None,
        workspace_path=str(facts.workspace),
        workspace_mode=facts.workspace_mode,
        agent=facts.agent,
    )
    words = (UserMessage(turn_index=0, text=facts.prompt),) if facts.kind == "agent_loop" else ()
    return (queued, *words, RunStarted(worker_id="worker-1"))


class _Done:
    """An append that is over already. Nobody needs to wait for it, and who does gets it."""

    __slots__ = ("_stored",)

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def __await__(self) -> Generator[None, None, Stored]:
        yield from ()
        return self._stored
