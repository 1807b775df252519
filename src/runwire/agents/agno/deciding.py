"""Decisions about a paused run, checked before anything is sent: the server takes whatever it is given, and runs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from runwire.agents.agno.pausing import Object, Waiting, fields_of
from runwire.host import Answer

_OBJECT = msgspec.json.Decoder(dict[str, object])
_VALUE = "value"


class RequestRefused(ValueError):
    """What is to be sent is not what the run can be sent now."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The call may be made, with another input where a person gave one."""

    note: str | None = None
    args: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The call may not be made."""

    note: str | None = None


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a call that was made outside of the agent."""

    result: str


@dataclass(frozen=True, slots=True)
class Filled:
    """What a person filled in, by the names of the fields."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a person chose, by question; the choice of a route has no question."""

    options: Mapping[str, Sequence[str]]


Decision = Approved | Rejected | Executed | Filled | Chosen

_FITS: dict[str, tuple[type, ...]] = {
    "confirmation": (Approved, Rejected),
    "user_input": (Filled,),
    "user_feedback": (Chosen,),
    "external_execution": (Executed,),
}


def require_fit(wait: Waiting, decision: Decision | None) -> None:
    """Refuse a decision that is none, or that is not about what the call waits for."""
    if decision is None:
        raise RequestRefused(f"{wait.key}: nothing was decided, which the server would take for a rejection")
    if not isinstance(decision, _FITS[wait.kind]):
        wanted = " or ".join(kind.__name__.lower() for kind in _FITS[wait.kind])
        raise RequestRefused(f"{wait.key}: it waits for {wait.kind}, which can only be {wanted}")
    if isinstance(decision, Approved) and decision.args is not None:
        _require_args(wait, decision.args)


def decision_of(wait: Waiting, answer: Answer) -> Decision:
    """A run's answer as a decision. Where the server knows no refusal there is none: such a run can only be cancelled."""
    if wait.kind == "confirmation":
        if not answer.allowed:
            return Rejected(answer.told or None)
        return Approved(args=answer.input if answer.edited and wait.tool else None)
    if not answer.allowed:
        if wait.kind == "external_execution":
            return Executed(f"not executed: {answer.told or 'it was refused'}")
        raise RequestRefused(f"{wait.key}: it waits for {wait.kind}, which cannot be refused; cancel the run")
    value = answer.input.get(_VALUE, answer.input.get("result"))
    if wait.kind == "external_execution":
        if not isinstance(value, str):
            raise RequestRefused(f"{wait.key}: say in `{_VALUE}` what came of the call")
        return Executed(value)
    given = _given(wait, answer.input, value)
    if wait.kind == "user_input":
        return Filled(given)
    return Chosen({name: [picked] if isinstance(picked, str) else _texts(picked) for name, picked in given.items()})


def tool_changes(wait: Waiting, decision: Decision) -> dict[str, object]:
    """What changes in the call."""
    match decision:
        case Approved():
            args = {} if decision.args is None else {"tool_args": dict(decision.args)}
            return {"confirmed": True, **_note(decision.note), **args}
        case Rejected():
            return {"confirmed": False, **_note(decision.note)}
        case Executed():
            return {"result": decision.result}
        case Filled():
            return {"user_input_schema": _filled(wait, decision), "answered": True}
        case Chosen():
            return {"user_feedback_schema": _chosen(wait, decision), "answered": True}


def requirement_changes(wait: Waiting, decision: Decision) -> dict[str, object]:
    """What changes in the requirement that holds the call."""
    match decision:
        case Approved() | Rejected():
            return {"confirmation": isinstance(decision, Approved), **_note(decision.note)}
        case Executed():
            return {"external_execution_result": decision.result}
        case Filled():
            return {"user_input_schema": _filled(wait, decision)}
        case Chosen():
            return {"user_feedback_schema": _chosen(wait, decision)}


def step_changes(wait: Waiting, decision: Decision) -> dict[str, object]:
    """What changes in the requirement of a step that is itself asked about."""
    step = wait.step or {}
    match decision:
        case Approved():
            return {"confirmed": True}
        case Rejected():
            reviewed = step.get("requires_output_review") is True and decision.note
            return {"confirmed": False, **({"rejection_feedback": decision.note} if reviewed else {})}
        case Filled():
            return {"user_input": dict(decision.values)}
        case Chosen():
            chosen = [option for options in decision.options.values() for option in options]
            _require_options(wait, step.get("available_choices"), chosen, step.get("allow_multiple_selections"))
            return {"selected_choices": chosen}
        case Executed():
            raise RequestRefused(f"{wait.key}: a step is not executed elsewhere")


def _note(note: str | None) -> dict[str, object]:
    return {} if note is None else {"confirmation_note": note}


def _require_args(wait: Waiting, args: Object) -> None:
    before = wait.tool.get("tool_args")
    known = before.keys() if isinstance(before, Mapping) else set[str]()
    if args.keys() != known:
        raise RequestRefused(f"{wait.key}: the fields of the call cannot change, only their values")


def _filled(wait: Waiting, decision: Filled) -> list[dict[str, object]]:
    fields = fields_of(wait.tool.get("user_input_schema"))
    unknown = decision.values.keys() - {str(entry.get("name")) for entry in fields}
    if unknown:
        raise RequestRefused(f"{wait.key}: it asks for no {min(unknown)!r}")
    filled = [{**entry, "value": decision.values.get(str(entry.get("name")), entry.get("value"))} for entry in fields]
    empty = next((entry.get("name") for entry in filled if entry["value"] is None), None)
    if empty is not None:
        raise RequestRefused(f"{wait.key}: {empty} is not filled in")
    return filled


def _chosen(wait: Waiting, decision: Chosen) -> list[dict[str, object]]:
    questions = fields_of(wait.tool.get("user_feedback_schema"))
    unknown = decision.options.keys() - {str(question.get("question")) for question in questions}
    if unknown:
        raise RequestRefused(f"{wait.key}: it asks no {min(unknown)!r}")
    told = []
    for question in questions:
        chosen = list(decision.options.get(str(question.get("question")), ()))
        _require_options(wait, question.get("options"), chosen, question.get("multi_select"))
        told.append({**question, "selected_options": chosen})
    return told


def _require_options(wait: Waiting, options: object, chosen: Sequence[str], many: object) -> None:
    plain = [option for option in options if isinstance(option, str)] if isinstance(options, list) else []
    known = {str(option.get("label", option.get("name"))) for option in fields_of(options)} | set(plain)
    if not chosen or (len(chosen) > 1 and not many):
        raise RequestRefused(f"{wait.key}: {'nothing' if not chosen else 'more than one option'} was chosen")
    other = next((option for option in chosen if known and option not in known), None)
    if other is not None:
        raise RequestRefused(f"{wait.key}: {other!r} is none of {', '.join(sorted(known))}")


def _given(wait: Waiting, given: Object, value: object) -> dict[str, object]:
    """What a person gave, by name: an object, that object as text, or one text where one thing alone is asked."""
    if not isinstance(value, str):
        return dict(given)
    try:
        return _OBJECT.decode(value)
    except (msgspec.DecodeError, UnicodeError):
        pass
    if wait.kind == "user_feedback":
        asked = [str(question.get("question")) for question in fields_of(wait.tool.get("user_feedback_schema"))]
        asked = asked or ([""] if not wait.tool else [])
    else:
        fields = fields_of(wait.tool.get("user_input_schema"))
        asked = [str(entry.get("name")) for entry in fields if entry.get("value") is None]
    if len(asked) != 1:
        raise RequestRefused(f"{wait.key}: {len(asked)} things are asked; answer with an object that names them")
    return {asked[0]: value}


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
