"""Permitting: the way of a call from wish to start. Policy, then grants, then people; `tool.invoked`; hooks; `tool.started`.

Calls that another agent makes go the first half of it only: their start is that agent's own to tell.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from msgspec import UNSET, Struct

from runwire.errors import InvalidContent
from runwire.host import Answer, Emit, Go, No, ToolAsk, Verdict
from runwire.ids import Ids
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolFailed, ToolInvoked, ToolStarted
from runwire.runs.approval import Approval, Question, digest_of
from runwire.runs.approvals import Approvals
from runwire.runs.floor import Place
from runwire.runs.grants import Asker, GrantRevoked, Grants, covering
from runwire.runs.hooks import HookFault, Hooks, Occasion, wanted
from runwire.runs.hosting import Held
from runwire.runs.policies import Policies
from runwire.runs.policy import Bounds, Decision, HookSpec, Policy, decide, lets_pass
from runwire.runs.shellwords import Reading, read
from runwire.runs.surroundings import Surroundings, place_of

_DURABLE_FIRST = frozenset({"writes", "executes", "network"})


class _Allowed(Struct, frozen=True):
    ask: ToolAsk
    changed_by: str | None = None
    policy_id: str = ""
    by: str = "policy"
    scope: str = "once"


class _Refused(Struct, frozen=True):
    reason: str
    policy_id: str
    code: str = "policy_denied"
    stop: bool = False
    by: str = "policy"


class _Run(Struct, frozen=True):
    """A run, as far as decisions about its calls depend on it."""

    held: Held
    emit: Emit
    asker: Asker
    place: Place
    policies: tuple[Policy, ...]
    bounds: Bounds
    forgetful: bool = False
    """Whether a call that asks once more after its answer means another thing; our own calls never do."""


class Permits:
    """Decides about calls and tells of it, as `runs.hosting.Permitting` promises."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        grants: Grants,
        policies: Policies,
        hooks: Hooks,
        ids: Ids,
        surroundings: Surroundings,
    ) -> None:
        """Decide by these policies, grants and people."""
        self._approvals = approvals
        self._grants = grants
        self._policies = policies
        self._hooks = hooks
        self._ids = ids
        self._surroundings = surroundings

    async def permit(self, held: Held, ask: ToolAsk, emit: Emit) -> Verdict:
        """Decide about a call; wait as long as that takes. Every event of the decision is stored when this returns."""
        run = self._run(held, emit)
        found = await self._decided(run, ask)
        if isinstance(found, _Refused):
            await emit(_blocked(ask, found))
            return No(found.reason, found.stop)
        return await self._begin(run, found)

    async def ask(self, held: Held, ask: ToolAsk, emit: Emit) -> Answer:
        """Decide about a call that is another agent's to make; wait as long as that takes. Stores `approval.*` only."""
        found = await self._decided(self._run(held, emit, forgetful=True), ask)
        if isinstance(found, _Refused):
            return Answer(
                allowed=False,
                input=ask.input,
                told=found.reason,
                stop=found.stop,
                by=found.by,
                policy_id=found.policy_id,
            )
        return Answer(
            allowed=True,
            input=found.ask.input,
            edited=found.changed_by is not None,
            scope=found.scope,
            by=found.by,
            policy_id=found.policy_id,
        )

    def _run(self, held: Held, emit: Emit, *, forgetful: bool = False) -> _Run:
        settled = self._policies.bounds(held.task)
        workspace = str(held.workspace)
        return _Run(
            held=held,
            emit=emit,
            asker=asker_of(held, workspace),
            place=place_of(self._surroundings, workspace, settled),
            policies=self._policies.of(held.task),
            bounds=settled,
            forgetful=forgetful,
        )

    async def _decided(self, run: _Run, ask: ToolAsk) -> _Allowed | _Refused:
        reading = None if ask.argv_text is None else read(ask.argv_text)
        decision = decide(run.policies, ask, reading, run.place)
        if decision.action == "ask":
            granted = None if ask.needs_person else await self._granted(run, ask, reading, decision)
            return granted or await self._answered(run, ask, reading, decision)
        if run.held.info.story.run.pending_approvals:
            # An earlier worker asked about it, when the rules were others.
            await self._withdraw(run, await self._approvals.of_call(run.held.run_id, ask.tool_call_id))
        if decision.action == "allow":
            return _Allowed(ask, policy_id=decision.policy_id)
        return _Refused(decision.reason, decision.policy_id)

    async def _granted(self, run: _Run, ask: ToolAsk, reading: Reading | None, decision: Decision) -> _Allowed | None:
        """Allow a call that grants cover; that is told as an approval, asked and answered at once."""
        place, policies = run.place, run.policies
        found = covering(
            await self._grants.live(run.asker),
            ask,
            reading,
            run.asker.workspace,
            lambda segment: lets_pass(policies, ask, segment, place),
        )
        if found is None:
            return None
        await self._withdraw(run, await self._approvals.of_call(run.held.run_id, ask.tool_call_id))
        approval_id = self._ids.new("appr")
        digest = digest_of(ask, run.asker, run.place)
        by = f"grant:{','.join(grant.grant_id for grant in found)}"
        try:
            await run.emit(
                ApprovalRequested(
                    approval_id=approval_id,
                    tool_call_id=ask.tool_call_id,
                    kind=ask.tool_name,
                    summary=ask.summary,
                    policy_reason=decision.reason,
                    input=dict(ask.input),
                    input_digest=f"sha256:{digest.hex()}",
                    effects=[*sorted(ask.effects)],
                ),
                ApprovalResolved(
                    approval_id=approval_id,
                    decision="approved",
                    by=by,
                    scope=found[0].scope,
                ),
                also=self._grants.use(found),
            )
        except GrantRevoked:
            return None
        return _Allowed(ask, policy_id=f"approval:{approval_id}", by=by, scope=found[0].scope)

    async def _answered(
        self, run: _Run, ask: ToolAsk, reading: Reading | None, decision: Decision
    ) -> _Allowed | _Refused:
        """What a person says about exactly this call; a question that an earlier worker asked is taken up again."""
        digest = digest_of(ask, run.asker, run.place)
        earlier = await self._approvals.of_call(run.held.run_id, ask.tool_call_id)
        if earlier is not None and (earlier.digest != digest or self._is_spent(run, earlier)):
            await self._withdraw(run, earlier)
            earlier = None
        if earlier is None:
            question = Question(
                run_id=run.held.run_id,
                ask=ask,
                reading=reading,
                asker=run.asker,
                digest=digest,
                reason=decision.reason,
                timeout_s=run.bounds.approval_timeout_s,
            )
            earlier = await self._approvals.request(question, run.emit)
        approval = await self._approvals.wait(earlier.approval_id)
        run.held.used.add(approval.approval_id)
        return self._read_answer(run, ask, approval)

    @staticmethod
    def _is_spent(run: _Run, approval: Approval) -> bool:
        """Whether an answer has done its work: the agent has it, and asks about something else in the same words."""
        return run.forgetful and not approval.pending and approval.approval_id in run.held.used

    def _read_answer(self, run: _Run, ask: ToolAsk, approval: Approval) -> _Allowed | _Refused:
        policy_id, answer = f"approval:{approval.approval_id}", approval.answer
        if answer is None:
            reason = f"nobody decided in {approval.patience_s} s"
            return _Refused(reason, policy_id, code="approval_timed_out", by="system")
        if answer.decision == "denied":
            reason = f"denied: {answer.comment}" if answer.comment else f"denied by {answer.by}"
            return _Refused(reason, policy_id, code="approval_denied", stop=answer.stop, by=answer.by)
        scope = "once" if approval.grant_id is None else answer.scope
        if answer.edited_input is None:
            return _Allowed(ask, policy_id=policy_id, by=answer.by, scope=scope)
        try:
            edited = ask.recheck(answer.edited_input)
        except (ValueError, InvalidContent) as wrong:
            return _Refused(f"the edited input does not fit the tool: {wrong}", policy_id)
        reading = None if edited.argv_text is None else read(edited.argv_text)
        decision = decide(run.policies, edited, reading, run.place)
        if decision.action == "deny":
            return _Refused(f"the edited input is not allowed: {decision.reason}", decision.policy_id)
        return _Allowed(edited, answer.by, policy_id=policy_id, by=answer.by, scope=scope)

    async def _withdraw(self, run: _Run, approval: Approval | None) -> None:
        if approval is not None and approval.pending:
            await self._approvals.withdraw(approval, run.emit, comment="the question is not the one any more")

    async def _begin(self, run: _Run, allowed: _Allowed) -> Verdict:
        """Tell that a call is about to happen; nothing that leaves a trace begins before that is durable."""
        ask = allowed.ask
        hooks = wanted(run.bounds.hooks, "PreToolUse", ask)
        if hooks:
            return await self._begin_with_hooks(run, allowed, hooks)
        ticket = run.emit(_invoked(ask), _started(ask, allowed.changed_by))
        if ask.effects & _DURABLE_FIRST:
            await ticket
        return Go(ask.input, allowed.changed_by)

    async def _begin_with_hooks(self, run: _Run, allowed: _Allowed, hooks: Sequence[HookSpec]) -> Verdict:
        stored = await run.emit(_invoked(allowed.ask))
        began_s = asyncio.get_running_loop().time()
        occasion = await self._hooks.occasion("PreToolUse", run.held, allowed.ask, stored.sequence)
        found: _Allowed | _Refused = allowed
        for hook in hooks:
            found = await self._hooked(run, hook, occasion, allowed)
            if isinstance(found, _Refused):
                break
            allowed = found
        if isinstance(found, _Refused):
            duration_ms = round((asyncio.get_running_loop().time() - began_s) * 1_000)
            await run.emit(_failed(allowed.ask, found, duration_ms))
            return No(f"error ({found.code}): {found.reason}", found.stop)
        await run.emit(_started(allowed.ask, allowed.changed_by))
        return Go(allowed.ask.input, allowed.changed_by)

    async def _hooked(self, run: _Run, hook: HookSpec, occasion: Occasion, allowed: _Allowed) -> _Allowed | _Refused:
        """What becomes of a call when a hook has seen it. Another input is decided about like any other."""
        ask = allowed.ask
        try:
            reply = await self._hooks.call(hook, replace(occasion, input=ask.input))
            if reply.decision == "deny":
                return _Refused(
                    reply.reason or f"denied by the hook {hook.name}", f"hook:{hook.name}", code="hook_denied"
                )
            if reply.input is None or reply.input == ask.input:
                return allowed
            changed = _rechecked(ask, reply.input)
        except HookFault as fault:
            if hook.required:
                return _Refused(f"the hook {hook.name} failed: {fault}", f"hook:{hook.name}", code="hook_failed")
            run.emit(fault.told(hook.name))
            return allowed
        found = await self._decided(run, changed)
        if isinstance(found, _Refused):
            return found
        return _Allowed(found.ask, found.changed_by or f"hook:{hook.name}")


def asker_of(held: Held, workspace: str) -> Asker:
    """Who the calls of a run are made by, as grants see it: a child's agent may be another than its task's."""
    task = held.task
    return Asker(agent=held.info.birth.agent, workspace=workspace, task_id=task.task_id, session_id=task.session_id)


def _rechecked(ask: ToolAsk, given: dict[str, object]) -> ToolAsk:
    try:
        return ask.recheck(given)
    except (ValueError, InvalidContent) as wrong:
        raise HookFault(f"its input does not fit the tool: {wrong}") from wrong


def _blocked(ask: ToolAsk, refused: _Refused) -> PolicyToolBlocked:
    return PolicyToolBlocked(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        reason=refused.reason,
        policy_id=refused.policy_id,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        result="blocked" if ask.mcp_server else UNSET,
    )


def _invoked(ask: ToolAsk) -> ToolInvoked:
    return ToolInvoked(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        turn_index=ask.turn_index,
        timeout_ms=UNSET if ask.timeout_ms is None else ask.timeout_ms,
    )


def _started(ask: ToolAsk, changed_by: str | None) -> ToolStarted:
    return ToolStarted(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        turn_index=ask.turn_index,
        timeout_ms=UNSET if ask.timeout_ms is None else ask.timeout_ms,
        input=UNSET if changed_by is None else dict(ask.input),
        changed_by=UNSET if changed_by is None else changed_by,
    )


def _failed(ask: ToolAsk, refused: _Refused, duration_ms: int) -> ToolFailed:
    return ToolFailed(
        tool_call_id=ask.tool_call_id,
        tool_name=ask.tool_name,
        kind=ask.kind,
        mcp_server=ask.mcp_server or UNSET,
        mcp_tool=ask.mcp_tool or UNSET,
        duration_ms=duration_ms,
        code=refused.code,
        message=refused.reason,
    )
