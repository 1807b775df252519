"""Approvals: questions about one exact call that wait for an answer. They outlive workers; the first answer stands.

A question, the event that tells of it and everything its answer changes are one transaction, so that whoever looks at any
of them from any process sees the same story.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import apsw
import msgspec
from msgspec import UNSET, structs

from runwire.clock import Clock, rfc3339
from runwire.errors import AlreadyResolved, Conflict, InvalidContent, RunNotFound
from runwire.host import Emit, ToolAsk
from runwire.ids import Ids
from runwire.journal.bell.topics import QUEUE, control
from runwire.journal.effects import together
from runwire.journal.journal import Journal
from runwire.journal.records import Effect
from runwire.journal.store.prefix import prefix_range
from runwire.protocol.events.approval import ApprovalRequested, ApprovalTimedOut
from runwire.protocol.payload import Payload
from runwire.runs.approval import (
    Answer,
    Approval,
    ApprovalBody,
    ApprovalFilter,
    ApprovalPage,
    KeptAnswer,
    Question,
    body_of,
    from_row,
    holds_placeholder,
    require_sense,
    resolution,
    same_answer,
)
from runwire.runs.errors import ApprovalNotFound
from runwire.runs.grants import Asker, GrantRule, propose, widened
from runwire.runs.rows import approvals as rows
from runwire.runs.rows.approvals import ApprovalRow, Status
from runwire.runs.rows.grants import GrantRow, insert_standing
from runwire.runs.shellwords import read

_T = TypeVar("_T")
# A ring may be lost; then the answer is found this much later.
_LOOK_AGAIN_S = 5.0


class Edits(Protocol):
    """Reads an input that a person has edited."""

    async def read(self, approval: Approval, edited: Mapping[str, object]) -> ToolAsk | None:
        """The ask with this input; None when the tool is not known here. One that may not be is InvalidContent."""
        ...


class _Settled(Conflict):
    """Somebody else was faster."""


class _Waiting(Conflict):
    """The same question waits already."""


class Approvals:
    """Asks, answers, lists and lets expire. Every process on the data directory may have its own."""

    def __init__(self, *, journal: Journal, clock: Clock, ids: Ids, edits: Edits | None = None) -> None:
        """Keep approvals in the journal's database; `edits` reads edited inputs before they are taken."""
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._edits = edits
        self._asking: WeakValueDictionary[tuple[str, bytes], asyncio.Lock] = WeakValueDictionary()

    async def request(self, question: Question, emit: Emit) -> Approval:
        """Ask, or join the same question that waits in the run already: then there is no second event."""
        lock = self._asking.setdefault((question.run_id, question.digest), asyncio.Lock())
        async with lock:
            while True:
                twin = await self._query(lambda db: rows.pending_twin(db, question.run_id, question.digest))
                try:
                    if twin is None:
                        return await self._ask(question, emit)
                    return await self._join(from_row(twin), question.ask.tool_call_id)
                except (_Settled, _Waiting):
                    continue

    async def of_call(self, run_id: str, tool_call_id: str) -> Approval | None:
        """The newest approval that a call has been part of, also before a restart."""
        row = await self._query(lambda db: rows.of_call(db, run_id, tool_call_id))
        return None if row is None else from_row(row)

    async def get(self, approval_id: str) -> Approval:
        """The approval of that id, else ApprovalNotFound."""
        row = await self._query(lambda db: rows.find_approval(db, approval_id))
        if row is None:
            raise ApprovalNotFound(approval_id)
        return from_row(row)

    async def list(self, which: ApprovalFilter, cursor: int | None, limit: int) -> ApprovalPage:
        """A page of approvals, newest first."""
        first, beyond = (None, None) if which.id_prefix is None else prefix_range(which.id_prefix)
        asked = {
            "status = ?": which.status,
            "run_id = ?": which.run_id,
            "task_id = ?": which.task_id,
            "approval_id >= ?": first,
            "approval_id < ?": beyond,
        }
        conditions = [(term, value) for term, value in asked.items() if value is not None]
        found = await self._query(lambda db: rows.list_approvals(db, conditions, cursor, limit + 1))
        page = [from_row(row) for row in found[:limit]]
        return ApprovalPage(page, page[-1].key if len(found) > limit else None)

    async def wait(self, approval_id: str) -> Approval:
        """The approval once it is settled; whoever waits past its time settles it."""
        approval = await self.get(approval_id)
        topic = control(approval.run_id)
        while True:
            # Listen before reading: what is settled between the two rings a bell we already hold.
            rung = self._journal.bell.listen(topic, self._patience_s(approval))
            try:
                approval = await self.get(approval_id)
                if not approval.pending:
                    return approval
                if not await rung:
                    await self.expire(self._clock.now_ns())
            finally:
                rung.cancel()

    async def resolve(self, approval_id: str, answer: Answer, *, also: Effect | None = None) -> tuple[Approval, bool]:
        """Answer; say whether this answer decided. Late and the same is fine, late and another is AlreadyResolved."""
        require_sense(answer)
        approval = await self.get(approval_id)
        if not approval.pending:
            return same_answer(approval, answer), False
        told, effect = await self._decided(approval, answer)
        try:
            await self._journal.append_all(approval.run_id, [told], also=together(effect, also))
        except _Settled:
            return same_answer(await self.get(approval_id), answer), False
        self._announce(approval.run_id)
        return await self.get(approval_id), True

    async def rule(self, approval: Approval, edited: Mapping[str, object] | None = None) -> GrantRule | None:
        """What stands for the call, with this input if it is edited, and no more; an edit that may not be is refused."""
        return approval.body.rule if edited is None else await self._edited(approval, edited)

    async def resolve_all(self, run_id: str, answers: Mapping[str, Answer], *, also: Effect | None = None) -> int:
        """Answer several questions of a run at once; return the sequence of the first answer.

        One transaction: when one of them has an answer already, be it the same, that is AlreadyResolved and nothing is done.
        """
        payloads: list[Payload] = []
        effects: list[Effect | None] = []
        for approval_id, answer in answers.items():
            require_sense(answer)
            told, effect = await self._decided(await self._unanswered(approval_id), answer)
            payloads.append(told)
            effects.append(effect)
        try:
            stored = await self._journal.append_all(run_id, payloads, also=together(*effects, also))
        except _Settled:
            for approval_id in answers:
                await self._unanswered(approval_id)
            raise
        self._announce(run_id)
        return stored.sequence - len(payloads) + 1

    async def expire(self, now_ns: int) -> int:
        """Settle everything that has waited too long; say how many that were."""
        expired = 0
        for row in await self._query(lambda db: rows.due(db, now_ns)):
            approval = from_row(row)
            told = ApprovalTimedOut(approval_id=approval.approval_id, after_seconds=approval.patience_s)
            settle = _settling(approval, "timed_out", None, now_ns)
            try:
                await self._journal.append_all(approval.run_id, [told], also=settle)
            except _Settled:
                continue
            except RunNotFound:
                # The run is gone with all that could be told of it; its question must not fall due for ever.
                await self._journal.write(settle)
            expired += 1
            self._announce(approval.run_id)
        return expired

    async def withdraw(self, approval: Approval, emit: Emit, *, comment: str) -> None:
        """Deny a question that makes no sense any more."""
        answer = Answer(decision="denied", by="system", comment=comment)
        kept = _kept(answer)
        settle = _settling(approval, "denied", kept, self._clock.now_ns())
        try:
            await emit(resolution(approval.approval_id, answer, granted=False), also=settle)
        except _Settled:
            return
        self._announce(approval.run_id)

    async def closing(self, run_id: str, *, by: str, comment: str) -> tuple[Sequence[Payload], Effect | None]:
        """Events and state that deny all that waits in a run, to be stored with what ends it.

        The effect is refused with a Conflict when one of them has been settled meanwhile: then call this again.
        """
        waiting = [from_row(row) for row in await self._query(lambda db: rows.pending_of_run(db, run_id))]
        answer = Answer(decision="denied", by=by, comment=comment)
        kept, now_ns = _kept(answer), self._clock.now_ns()
        return (
            [resolution(approval.approval_id, answer, granted=False) for approval in waiting],
            together(*(_settling(approval, "denied", kept, now_ns) for approval in waiting)),
        )

    async def _ask(self, question: Question, emit: Emit) -> Approval:
        ask, now_ns = question.ask, self._clock.now_ns()
        expires_ns = None if question.timeout_s is None else now_ns + round(question.timeout_s * 1_000_000_000)
        approval_id = self._ids.new("appr")
        row = ApprovalRow(
            key=0,
            approval_id=approval_id,
            run_id=question.run_id,
            task_id=question.asker.task_id,
            session_id=question.asker.session_id,
            agent=question.asker.agent,
            workspace=question.asker.workspace,
            digest=question.digest,
            status="pending",
            requested_ns=now_ns,
            expires_ns=expires_ns,
            body=self._clean(body_of(question)),
        )

        def keep(db: apsw.Connection) -> None:
            # Another process cannot ask for a run that we hold, but an index that refuses would fail strangers, too.
            if rows.pending_twin(db, question.run_id, question.digest) is not None:
                raise _Waiting()
            rows.insert_approval(db, row)

        await emit(
            ApprovalRequested(
                approval_id=approval_id,
                tool_call_id=ask.tool_call_id,
                kind=ask.tool_name,
                summary=ask.summary,
                policy_reason=question.reason,
                expires_at=UNSET if expires_ns is None else rfc3339(expires_ns),
                input=dict(ask.input),
                input_digest=f"sha256:{question.digest.hex()}",
                effects=sorted(ask.effects),
            ),
            also=keep,
        )
        return await self.get(approval_id)

    async def _join(self, approval: Approval, tool_call_id: str) -> Approval:
        if tool_call_id in approval.body.tool_call_ids:
            return approval

        def effect(db: apsw.Connection) -> None:
            row = rows.find_approval(db, approval.approval_id)
            if row is None or row.status != "pending":
                raise _Settled()
            body = msgspec.json.decode(row.body, type=ApprovalBody)
            joined = structs.replace(body, tool_call_ids=[*body.tool_call_ids, tool_call_id])
            rows.change_body(db, approval.approval_id, msgspec.json.encode(joined))

        await self._journal.write(effect)
        return await self.get(approval.approval_id)

    async def _unanswered(self, approval_id: str) -> Approval:
        approval = await self.get(approval_id)
        if not approval.pending:
            raise AlreadyResolved(approval_id, decision=approval.status)
        return approval

    async def _decided(self, approval: Approval, answer: Answer) -> tuple[Payload, Effect | None]:
        """The event that tells of an answer, and all that the answer changes."""
        rule = await self._rule(approval, answer)
        now_ns = self._clock.now_ns()
        grant = None if rule is None else self._grant(approval, answer, rule, now_ns)
        kept = _kept(answer, None if grant is None else grant.grant_id)
        settle = _settling(approval, answer.decision, kept, now_ns)
        granting = None if grant is None else _granting(grant, approval.asker)
        told = resolution(approval.approval_id, answer, granted=grant is not None)
        return told, together(settle, granting)

    async def _rule(self, approval: Approval, answer: Answer) -> GrantRule | None:
        """What the answer allows beyond this call; an edit is looked at first, whatever it allows."""
        rule = await self.rule(approval, answer.edited_input)
        if answer.decision == "denied" or answer.scope == "once" or rule is None:
            return None
        return widened(rule, answer.scope)

    async def _edited(self, approval: Approval, edited: Mapping[str, object]) -> GrantRule | None:
        encoded = msgspec.json.encode(edited)
        if holds_placeholder(edited) or self._journal.redactor.redact(encoded) != encoded:
            # What stands in for a secret would be run literally, and a secret may not be kept.
            raise InvalidContent(
                "the edited input holds a secret, or what stands in for one",
                hint="approve the call as it is, or deny it and say in the comment what to do instead",
            )
        ask = None if self._edits is None else await self._edits.read(approval, edited)
        if ask is None:
            return None
        reading = None if ask.argv_text is None else read(ask.argv_text)
        return propose(ask, reading, approval.asker.workspace)

    def _grant(self, approval: Approval, answer: Answer, rule: GrantRule, now_ns: int) -> GrantRow:
        asker = approval.asker
        scope = "always" if answer.scope == "once" else answer.scope
        places = {"session": asker.session_id or asker.task_id, "task": asker.task_id, "always": None}
        return GrantRow(
            grant_id=self._ids.new("perm"),
            agent=asker.agent,
            workspace=asker.workspace,
            scope=scope,
            scope_id=places[scope],
            rule=msgspec.json.encode(rule),
            made_by=answer.by,
            approval_id=approval.approval_id,
            created_ns=now_ns,
        )

    def _clean(self, body: ApprovalBody) -> bytes:
        """The body without secrets. A rule that held one would fit nothing any more, so there is none."""
        encoded = msgspec.json.encode(body)
        clean = self._journal.redactor.redact(encoded)
        if clean == encoded:
            return encoded
        return self._journal.redactor.redact(msgspec.json.encode(structs.replace(body, rule=None, proposed_rule=None)))

    def _patience_s(self, approval: Approval) -> float:
        if approval.expires_ns is None:
            return _LOOK_AGAIN_S
        left_s = (approval.expires_ns - self._clock.now_ns()) / 1_000_000_000
        return min(max(left_s, 0.0), _LOOK_AGAIN_S)

    def _announce(self, run_id: str) -> None:
        self._journal.signal(control(run_id))
        self._journal.signal(QUEUE)

    async def _query(self, work: Callable[[apsw.Connection], _T]) -> _T:
        return await self._journal.reader.query(work)


def _settling(approval: Approval, status: Status, kept: bytes | None, now_ns: int) -> Effect:
    """Settle an approval if nobody has yet, and let a worker take up the run that waits for it."""

    def effect(db: apsw.Connection) -> None:
        if not rows.answer_approval(db, approval.approval_id, status, kept, now_ns):
            raise _Settled()
        rows.wake_run(db, approval.run_id)

    return effect


def _granting(row: GrantRow, asker: Asker) -> Effect:
    return lambda db: insert_standing(db, row, asker.task_id)


def _kept(answer: Answer, grant_id: str | None = None) -> bytes:
    return msgspec.json.encode(KeptAnswer(**structs.asdict(answer), grant_id=grant_id))
