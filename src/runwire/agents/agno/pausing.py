"""What a paused run waits for, and what goes back to it: the same objects, with the decisions in them and nothing else changed."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from runwire.agents.agno.frames import Paused

Of = Literal["agent", "team", "workflow"]
Kind = Literal["confirmation", "user_input", "user_feedback", "external_execution"]
Object = Mapping[str, object]

_FIELDS: dict[Of, str] = {"agent": "tools", "team": "requirements", "workflow": "step_requirements"}


class Waiting(Struct, frozen=True, kw_only=True):
    """One thing that is to be decided."""

    key: str
    """What a decision names: the call's id, or a step's."""
    approval_id: str
    kind: Kind
    tool: Object = {}
    """The call as it came; empty where a step itself is asked about."""
    requirement: Object | None = None
    step: Object | None = None
    run_id: str = ""
    """The run within the run that waits, where it is one."""


def waits_of(paused: Paused, of: Of) -> list[Waiting]:
    """What is open now. A pause also lists what was decided before, and on 2.3 only the calls tell that it was."""
    if of == "workflow":
        return _of_steps(paused.step_requirements or ())
    # Some models name every call alike: then the first requirement of that name is the first call's.
    by_call: dict[str, deque[Object]] = defaultdict(deque)
    for requirement in paused.requirements or ():
        by_call[_call_id(requirement.get("tool_execution"))].append(requirement)
    waits: dict[str, Waiting] = {}
    for tool in paused.tools or ():
        call_id, kind = _call_id(tool), kind_of(tool)
        own = by_call[call_id].popleft() if by_call[call_id] else None
        if call_id and kind is not None and _is_open(tool, kind):
            waits[call_id] = _waiting(call_id, kind, tool, own)
    for call_id, requirements in by_call.items():
        # A member's call: only the requirement knows of it.
        waits.update({wait.key: wait for one in requirements for wait in _of_requirement(call_id, one)})
    return list(waits.values())


def kind_of(tool: Object) -> Kind | None:
    """What a call waits for, which is not a field of its own; None when for nothing."""
    if tool.get("user_feedback_schema"):
        return "user_feedback"
    if tool.get("external_execution_required") is True:
        return "external_execution"
    if tool.get("requires_user_input") is True:
        return "user_input"
    return "confirmation" if tool.get("requires_confirmation") is True else None


def field_of(of: Of) -> str:
    """The form field that decisions go back in."""
    return _FIELDS[of]


def fields_of(schema: object) -> list[Mapping[str, object]]:
    """The entries of a schema, whatever else stands in it."""
    return [entry for entry in schema if isinstance(entry, Mapping)] if isinstance(schema, Sequence) else []


def _waiting(call_id: str, kind: Kind, tool: Object, requirement: Object | None, step: Object | None = None) -> Waiting:
    approval_id = requirement.get("id") if requirement is not None else None
    run_id = (requirement or {}).get("member_run_id") or (step or {}).get("executor_run_id")
    return Waiting(
        key=call_id,
        approval_id=approval_id if isinstance(approval_id, str) and approval_id else call_id,
        kind=kind,
        tool=tool,
        requirement=requirement,
        step=step,
        run_id=run_id if isinstance(run_id, str) else "",
    )


def _is_open(tool: Object, kind: Kind) -> bool:
    if tool.get("result") is not None:
        return False
    return not tool.get("answered") if kind in {"user_input", "user_feedback"} else tool.get("confirmed") is None


def _of_requirement(call_id: str, requirement: Object, step: Object | None = None) -> list[Waiting]:
    tool = requirement.get("tool_execution")
    if not call_id or not isinstance(tool, Mapping):
        return []
    kind = kind_of(tool)
    is_decided = requirement.get("confirmation") is not None or requirement.get("external_execution_result") is not None
    if kind is None or is_decided or not _is_open(tool, kind):
        return []
    return [_waiting(call_id, kind, tool, requirement, step)]


def _of_steps(steps: Sequence[Object]) -> list[Waiting]:
    waits: list[Waiting] = []
    asked: dict[str, int] = {}
    for step in steps:
        inner = fields_of(step.get("executor_requirements"))
        for requirement in inner:
            waits += _of_requirement(_call_id(requirement.get("tool_execution")), requirement, step)
        key = step.get("step_id") or step.get("step_name")
        if inner or not isinstance(key, str):
            continue
        # A step that is done again is asked about again, by the same id.
        before = asked[key] = asked.get(key, -1) + 1
        kind = _kind_of_step(step)
        if kind is not None:
            waits.append(Waiting(key=key, approval_id=f"{key}#{before + 1}" if before else key, kind=kind, step=step))
    return waits


def _kind_of_step(step: Object) -> Kind | None:
    if step.get("requires_route_selection") is True and step.get("selected_choices") is None:
        return "user_feedback"
    if step.get("requires_user_input") is True and step.get("user_input") is None:
        return "user_input"
    asks = step.get("requires_confirmation") is True or step.get("requires_output_review") is True
    return "confirmation" if asks and step.get("confirmed") is None else None


def _call_id(tool: object) -> str:
    call_id = tool.get("tool_call_id") if isinstance(tool, Mapping) else None
    return call_id if isinstance(call_id, str) else ""
