"""Approvals: the inbox across runs, and the answers."""

from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.errors import AlreadyResolved, InvalidFilter
from runwire.gateway.call import Call
from runwire.gateway.json import json_response, require_shallow
from runwire.gateway.parameters import limit, name, number_cursor
from runwire.gateway.services import Services
from runwire.gateway.tasks import caller_of, claiming
from runwire.runs.approval import Answer, Approval, ApprovalFilter, Scope
from runwire.runs.errors import ApprovalNotFound
from runwire.runs.grants import Grant, GrantRule, widened
from runwire.runs.wording import ONCE, allowed, in_words, not_allowed

Fields = dict[str, object]
LIMIT_DEFAULT = 100
LIMIT_MAX = 500
STATUSES = ("pending", "approved", "denied", "timed_out")


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How far an approval of one scope would reach."""

    granted: bool
    """Whether it can reach so far; if not, it is good for this call only."""
    text: str
    """What would be allowed, or why not, in one line."""
    rule: GrantRule | None


class Reaches(msgspec.Struct, frozen=True, kw_only=True):
    """How far an approval would reach, by its scope."""

    once: Reach
    session: Reach
    task: Reach
    always: Reach


class ApprovalResource(msgspec.Struct, frozen=True, kw_only=True):
    """One question, and its answer once there is one."""

    object: Literal["approval"] = "approval"
    approval_id: str
    status: Literal["pending", "approved", "denied", "timed_out"]
    run_id: str
    task_id: str
    session_id: str | None
    agent: str
    workspace: str
    tool_call_id: str
    tool_call_ids: list[str]
    tool_name: str
    kind: str
    effects: list[str]
    summary: str
    policy_reason: str
    input: Fields
    input_redacted: bool
    """Whether a secret was taken out of the input that is shown."""
    editable: bool
    """Whether an answer may hold an edited input."""
    not_editable: str | None
    """Why not, in one line."""
    proposed_rule: GrantRule | None
    grants: Reaches
    needs_person: bool
    """Whether it asks for an answer, given as `edited_input`, and not for a yes."""
    requested_at: str
    expires_at: str | None
    resolved_at: str | None
    decision: Literal["approved", "denied"] | None
    by: str | None
    comment: str | None
    scope: Scope | None
    edited_input: Fields | None
    stop: bool | None
    permission_id: str | None


class ApprovalList(msgspec.Struct, frozen=True, kw_only=True):
    """Some approvals, newest first."""

    object: Literal["list"] = "list"
    data: list[ApprovalResource]
    has_more: bool
    next_cursor: str | None


class Resolution(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer."""

    decision: Literal["approved", "denied"]
    comment: str = ""
    scope: Scope = "once"
    edited_input: Fields | None = None
    stop: bool = False


class PreviewRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An input that somebody thinks of approving instead."""

    edited_input: Fields


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer with that input would allow."""

    object: Literal["preview"] = "preview"
    approval_id: str
    grants: Reaches


class PermissionResource(msgspec.Struct, frozen=True, kw_only=True):
    """A standing grant."""

    object: Literal["permission"] = "permission"
    permission_id: str
    agent: str
    workspace: str
    scope: Literal["session", "task", "always"]
    scope_id: str | None
    rule: GrantRule
    text: str
    """What it is good for, in one line."""
    made_by: str
    approval_id: str | None
    created_at: str
    used: int


class PermissionList(msgspec.Struct, frozen=True, kw_only=True):
    """Every grant that stands."""

    object: Literal["list"] = "list"
    data: list[PermissionResource]


async def list_approvals(services: Services, call: Call) -> Response:
    """Approvals across runs, or of one task, newest first."""
    status, cursor = call.query.get("status"), call.query.get("cursor")
    if status is not None and status not in STATUSES:
        raise InvalidFilter("status", status)
    task_id = call.path.get("task_id")
    if task_id is not None:
        await services.runtime.tasks.get(task_id)
    which = ApprovalFilter(
        status=status,
        run_id=name(call, "run_id"),
        task_id=task_id or name(call, "task_id"),
        id_prefix=name(call, "id_prefix"),
    )
    page = await services.runtime.approvals.list(
        which,
        None if cursor is None else number_cursor(cursor),
        limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX),
    )
    following = None if page.next_cursor is None else str(page.next_cursor)
    data = [_resource(approval) for approval in page.approvals]
    return json_response(ApprovalList(data=data, has_more=following is not None, next_cursor=following))


async def show_approval(services: Services, call: Call) -> Response:
    """One approval."""
    return json_response(_resource(await _find(services, call)))


async def resolve_approval(services: Services, call: Call) -> Response:
    """Answer a question. The first answer wins."""
    limit_bytes = services.config.body_limit_bytes
    given = await call.json(Resolution, limit_bytes)
    require_shallow(await call.body(limit_bytes))
    approval = await _find(services, call)
    answer = Answer(
        decision=given.decision,
        by=caller_of(call),
        comment=given.comment,
        scope=given.scope,
        edited_input=given.edited_input,
        stop=given.stop,
    )
    resolved, _ = await services.runtime.approvals.resolve(approval.approval_id, answer, also=claiming(services, call))
    return json_response(_resource(resolved))


async def preview_approval(services: Services, call: Call) -> Response:
    """What an approval of an edited input would allow. It decides nothing."""
    limit_bytes = services.config.body_limit_bytes
    given = await call.json(PreviewRequest, limit_bytes)
    require_shallow(await call.body(limit_bytes))
    approval = await _find(services, call)
    if not approval.pending:
        raise AlreadyResolved(approval.approval_id, decision=approval.status)
    rule = await services.runtime.approvals.rule(approval, given.edited_input)
    return json_response(Preview(approval_id=approval.approval_id, grants=_reaches(approval, rule)))


async def list_permissions(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Standing grants."""
    return json_response(PermissionList(data=[_permission(grant) for grant in await services.runtime.grants.list()]))


async def revoke_permission(services: Services, call: Call) -> Response:
    """Take a standing grant back."""
    await services.runtime.grants.revoke(call.path["permission_id"])
    return Response(status_code=204)


async def _find(services: Services, call: Call) -> Approval:
    approval = await services.runtime.approvals.get(call.path["approval_id"])
    if call.path.get("task_id", approval.asker.task_id) != approval.asker.task_id:
        raise ApprovalNotFound(approval.approval_id)
    return approval


def _reaches(approval: Approval, rule: GrantRule | None) -> Reaches:
    def reach(scope: Scope) -> Reach:
        if rule is None:
            return Reach(granted=False, text=not_allowed(approval), rule=None)
        wide = widened(rule, scope)
        return Reach(granted=True, text=allowed(wide, approval, scope), rule=wide)

    once = Reach(granted=True, text=ONCE, rule=None)
    return Reaches(once=once, session=reach("session"), task=reach("task"), always=reach("always"))


def _not_editable(approval: Approval) -> str | None:
    if not approval.pending:
        return "it has been answered"
    if approval.body.fixed:
        return "the agent takes no other input than its own"
    return "its input holds a secret, which is not shown and could not be put back" if approval.redacted else None


def _resource(approval: Approval) -> ApprovalResource:
    body, answer, asker = approval.body, approval.answer, approval.asker
    return ApprovalResource(
        approval_id=approval.approval_id,
        status=approval.status,
        run_id=approval.run_id,
        task_id=asker.task_id,
        session_id=asker.session_id,
        agent=asker.agent,
        workspace=asker.workspace,
        tool_call_id=body.tool_call_ids[0],
        tool_call_ids=body.tool_call_ids,
        tool_name=body.tool_name,
        kind=body.kind,
        effects=body.effects,
        summary=body.summary,
        policy_reason=body.policy_reason,
        input=body.input,
        input_redacted=approval.redacted,
        editable=_not_editable(approval) is None,
        not_editable=_not_editable(approval),
        proposed_rule=body.proposed_rule,
        grants=_reaches(approval, body.rule),
        needs_person=body.needs_person,
        requested_at=rfc3339(approval.requested_ns),
        expires_at=_moment(approval.expires_ns),
        resolved_at=_moment(approval.resolved_ns),
        decision=None if answer is None else answer.decision,
        by=None if answer is None else answer.by,
        comment=None if answer is None else answer.comment,
        scope=None if answer is None else answer.scope,
        edited_input=None if answer is None else answer.edited_input,
        stop=None if answer is None else answer.stop,
        permission_id=approval.grant_id,
    )


def _permission(grant: Grant) -> PermissionResource:
    return PermissionResource(
        permission_id=grant.grant_id,
        agent=grant.agent,
        workspace=grant.workspace,
        scope=grant.scope,
        scope_id=grant.scope_id,
        rule=grant.rule,
        text=in_words(grant.rule),
        made_by=grant.made_by,
        approval_id=grant.approval_id,
        created_at=rfc3339(grant.created_ns),
        used=grant.used,
    )


def _moment(ns: int | None) -> str | None:
    return None if ns is None else rfc3339(ns)
