"""An approval as a value: the question about one exact call, and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import UNSET, Struct

from runwire.errors import AlreadyResolved, InvalidBody
from runwire.host import ToolAsk
from runwire.protocol.events.approval import ApprovalResolved
from runwire.runs.floor import Place
from runwire.runs.grants import Asker, GrantRule, propose, widened
from runwire.runs.rows.approvals import ApprovalRow, Status
from runwire.runs.shellwords import Reading

Scope = Literal["once", "session", "task", "always"]
# How what stands in for a secret begins.
_PLACEHOLDER = b"[redacted:"


class Answer(Struct, frozen=True, kw_only=True):
    """What somebody decided."""

    decision: Literal["approved", "denied"]
    by: str
    comment: str = ""
    scope: Scope = "once"
    edited_input: dict[str, object] | None = None
    stop: bool = False


class ApprovalBody(Struct, frozen=True, kw_only=True):
    """The call in question, without secrets."""

    tool_name: str
    kind: str
    tool_call_ids: list[str]
    input: dict[str, object]
    effects: list[str]
    summary: str
    policy_reason: str
    rule: GrantRule | None
    """What stands for this call and no more."""
    proposed_rule: GrantRule | None
    """What an answer for ever would allow; null when nothing but this very call could be meant."""
    needs_person: bool = False
    """Whether the answer is an edited input, and not a yes."""
    fixed: bool = False
    """Whether it is this input or none."""


class KeptAnswer(Answer, frozen=True, kw_only=True):
    """An answer as its row keeps it."""

    grant_id: str | None = None
    """The grant that it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A question and, once there is one, its answer."""

    key: int
    approval_id: str
    run_id: str
    asker: Asker
    digest: bytes
    status: Status
    requested_ns: int
    expires_ns: int | None
    resolved_ns: int | None
    body: ApprovalBody
    answer: Answer | None
    grant_id: str | None

    @property
    def pending(self) -> bool:
        """Whether it still waits."""
        return self.status == "pending"

    @property
    def redacted(self) -> bool:
        """Whether a secret was taken out of what is known of its input."""
        return holds_placeholder(self.body.input)

    @property
    def patience_s(self) -> int:
        """How long it may wait, in whole seconds; 0 when it may for ever."""
        return 0 if self.expires_ns is None else (self.expires_ns - self.requested_ns) // 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, for whom, and how long it may wait."""

    run_id: str
    ask: ToolAsk
    reading: Reading | None
    asker: Asker
    digest: bytes
    reason: str
    timeout_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """Which approvals are wanted; None: whatever it is."""

    status: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    id_prefix: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """Approvals, newest first, and where to go on; None at the end."""

    approvals: Sequence[Approval]
    next_cursor: int | None


def holds_placeholder(given: Mapping[str, object]) -> bool:
    """Whether something in an input stands in for a secret."""
    return _PLACEHOLDER in msgspec.json.encode(given)


def digest_of(ask: ToolAsk, asker: Asker, place: Place) -> bytes:
    """What a decision about a call is bound to: who would do exactly what, where and how confined."""
    exact = {
        "agent": asker.agent,
        "workspace": asker.workspace,
        "tool_name": ask.tool_name,
        "input": ask.input,
        "effects": sorted(ask.effects),
        "sandbox": {"network": "network" in ask.effects, "unconfined": place.unconfined},
    }
    return sha256(msgspec.json.encode(exact, order="deterministic")).digest()


def body_of(question: Question) -> ApprovalBody:
    """What a question keeps of the call that it is about."""
    ask = question.ask
    rule = propose(ask, question.reading, question.asker.workspace)
    return ApprovalBody(
        tool_name=ask.tool_name,
        kind=ask.kind,
        tool_call_ids=[ask.tool_call_id],
        input=dict(ask.input),
        effects=[*sorted(ask.effects)],
        summary=ask.summary,
        policy_reason=question.reason,
        rule=rule,
        proposed_rule=None if rule is None else widened(rule, "always"),
        needs_person=ask.needs_person,
        fixed=ask.fixed,
    )


def from_row(row: ApprovalRow) -> Approval:
    """An approval as its row keeps it."""
    kept = None if row.answer is None else msgspec.json.decode(row.answer, type=KeptAnswer)
    return Approval(
        key=row.key,
        approval_id=row.approval_id,
        run_id=row.run_id,
        asker=Asker(agent=row.agent, workspace=row.workspace, task_id=row.task_id, session_id=row.session_id),
        digest=row.digest,
        status=row.status,
        requested_ns=row.requested_ns,
        expires_ns=row.expires_ns,
        resolved_ns=row.resolved_ns,
        body=msgspec.json.decode(row.body, type=ApprovalBody),
        answer=kept,
        grant_id=None if kept is None else kept.grant_id,
    )


def resolution(approval_id: str, answer: Answer, *, granted: bool) -> ApprovalResolved:
    """The event that tells of an answer. It reaches as far as a grant was made for it, and else once."""
    return ApprovalResolved(
        approval_id=approval_id,
        decision=answer.decision,
        by=answer.by,
        comment=answer.comment,
        scope=answer.scope if granted else "once",
        edited_input=UNSET if answer.edited_input is None else answer.edited_input,
        stop=True if answer.stop else UNSET,
    )


def require_sense(answer: Answer) -> None:
    """Refuse an answer that contradicts itself."""
    if answer.decision == "denied" and answer.edited_input is not None:
        raise InvalidBody("edited_input goes with an approval; say in the comment of a denial what to do instead")
    if answer.decision == "approved" and answer.stop:
        raise InvalidBody("stop goes with a denial")


def same_answer(approval: Approval, answer: Answer) -> Approval:
    """The approval, if it was settled by the same answer; else AlreadyResolved."""
    settled = approval.answer
    asked = (answer.decision, answer.scope, answer.edited_input, answer.stop)
    if settled is None or asked != (settled.decision, settled.scope, settled.edited_input, settled.stop):
        raise AlreadyResolved(approval.approval_id, decision=approval.status)
    return approval
