"""Going on after a pause, and ending runs, the way Agno's clients do. What a client sends back is held against what was asked."""

from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response
from starlette.types import Send

from runwire.errors import AlreadyResolved, RunFinished
from runwire.gateway.agno.answering import Begun, answer, begun_once, find_run, require_flags
from runwire.gateway.agno.errors import InvalidForm, RunNotPaused, ToolCallNotPaused
from runwire.gateway.agno.following import about_run, glance
from runwire.gateway.agno.forms import Form, read_form
from runwire.gateway.agno.frames import one_line
from runwire.gateway.call import Call
from runwire.gateway.json import json_bytes, json_response
from runwire.gateway.services import Services
from runwire.gateway.tasks import caller_of, claiming
from runwire.runs.approval import Answer, Approval, ApprovalFilter

_APPROVALS_MAX = 1000


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a client sends it back: the object that RunPaused had, with `confirmed` filled in."""

    tool_call_id: str
    tool_name: str | None = None
    tool_args: dict[str, object] | None = None
    confirmed: bool | None = None
    confirmation_note: str | None = None


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was told to end."""

    run_id: str
    status: str


async def show_run(services: Services, call: Call) -> Response:
    """A run as it stands now, in one piece."""
    about = await about_run(services, await find_run(services, call))
    return json_bytes(one_line((await glance(services, about)).output()))


async def cancel_run(services: Services, call: Call) -> Response:
    """End a run that is not over. 202: it has been told, and is still ending what it does."""
    run_id = (await find_run(services, call)).birth.run_id
    ended = await services.runtime.cancelling.cancel(run_id, by=caller_of(call), also=claiming(services, call))
    status = "CANCELLED" if ended.settled else "RUNNING"
    return json_response(Ended(run_id=run_id, status=status), 200 if ended.settled else 202)


async def continue_run(services: Services, call: Call, send: Send) -> None:
    """Decide what a paused run waits for, and tell how it goes on."""
    form = await read_form(services, call)
    run_id = (await find_run(services, call)).birth.run_id
    begun = await begun_once(services, call, lambda: _decide(services, call, run_id, form))
    await answer(services, call, send, form, begun)


async def _decide(services: Services, call: Call, run_id: str, form: Form) -> Begun:
    if (await services.journal.reader.run(run_id)).story.finished:
        raise RunFinished(run_id)
    which = ApprovalFilter(run_id=run_id)
    asked = (await services.runtime.approvals.list(which, None, _APPROVALS_MAX)).approvals
    if not any(approval.pending for approval in asked):
        raise RunNotPaused(run_id)
    require_flags(form)
    answers = _answers(asked, _decisions(form), by=caller_of(call))
    first = await services.runtime.approvals.resolve_all(run_id, answers, also=claiming(services, call))
    return Begun(run_id=run_id, continues_at=first)


def _decisions(form: Form) -> list[Decision]:
    if form.text("tools") is None:
        raise InvalidForm("tools", "say what you decide: the tools of RunPaused, each with `confirmed`")
    try:
        found = msgspec.convert(form.json("tools"), list[Decision])
    except ValueError as wrong:
        raise InvalidForm("tools", f"it is no list of tools: {wrong}") from wrong
    if not found:
        raise InvalidForm("tools", "it is empty, so nothing is decided")
    return found


def _answers(asked: Sequence[Approval], decisions: Sequence[Decision], *, by: str) -> Mapping[str, Answer]:
    """The answer to each question that is decided; what was decided before may be repeated beside it, not changed."""
    known = {name: approval for approval in reversed(asked) for name in _names(approval)}
    waiting = [approval.body.tool_call_ids[0] for approval in reversed(asked) if approval.pending]
    answers: dict[str, Answer] = {}
    late: Approval | None = None
    for decision in decisions:
        approval = known.get(decision.tool_call_id)
        if approval is None:
            raise ToolCallNotPaused(decision.tool_call_id, waiting=waiting)
        given = _answer(approval, decision, by=by)
        if not approval.pending:
            late = approval
            if given.decision != ("approved" if approval.status == "approved" else "denied"):
                raise AlreadyResolved(approval.approval_id, decision=approval.status)
        elif answers.setdefault(approval.approval_id, given) != given:
            raise InvalidForm("tools", f"{decision.tool_call_id!r} is decided in two ways")
    if late is not None and not answers:
        raise AlreadyResolved(late.approval_id, decision=late.status)
    return answers


def _names(approval: Approval) -> Sequence[str]:
    return (approval.approval_id, *approval.body.tool_call_ids)


def _answer(approval: Approval, decision: Decision, *, by: str) -> Answer:
    if decision.confirmed is None:
        raise InvalidForm("tools", f"{decision.tool_call_id!r} has no `confirmed`, true or false")
    if decision.tool_name not in {None, approval.body.tool_name}:
        raise InvalidForm("tools", f"{decision.tool_call_id!r} is a call of {approval.body.tool_name}")
    # Other arguments than those that were asked about are an edit, and policy looks at them as at any.
    edited = decision.tool_args if decision.tool_args != approval.body.input else None
    return Answer(
        decision="approved" if decision.confirmed else "denied",
        by=by,
        comment=decision.confirmation_note or "",
        edited_input=edited if decision.confirmed else None,
    )
