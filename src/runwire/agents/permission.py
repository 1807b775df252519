"""A question of an agent's as something that policy, grants and people decide about."""

from collections.abc import Mapping

from msgspec.structs import replace

from runwire.agents.dialect import Question
from runwire.host import ToolAsk, ToolInputInvalid

_VALUE = "value"


def ask_about(question: Question, turn_index: int) -> ToolAsk:
    """The question in the words of a run. The agent itself asks, so that it happens to be harmless does not settle it."""

    def recheck(given: Mapping[str, object]) -> ToolAsk:
        if question.kind in {"choice", "input"}:
            _require_value(question, given)
        elif question.fixed:
            raise ToolInputInvalid("the agent takes no other input than its own")
        elif question.kind == "permission" and question.input.keys() != given.keys():
            other = sorted(question.input.keys() ^ given.keys())
            raise ToolInputInvalid(f"{other[0]}: the fields of the call cannot change, only their values")
        return replace(asked, input=given, argv_text=_argv_text(question, given), recheck=recheck)

    asked = ToolAsk(
        tool_call_id=question.tool_call_id or question.question_id,
        tool_name=question.tool_name,
        kind=question.tool_kind,
        turn_index=turn_index,
        input=question.input,
        effects=question.effects,
        summary=question.summary,
        paths=question.paths,
        hosts=question.hosts,
        argv_text=question.argv_text,
        insists=True,
        needs_person=question.kind != "permission",
        fixed=question.fixed,
        recheck=recheck,
    )
    return asked


def _argv_text(question: Question, given: Mapping[str, object]) -> str | None:
    """The command of another input, found where the first one's stood."""
    if question.argv_text is None:
        return None
    for name, value in question.input.items():
        changed = given.get(name)
        if value == question.argv_text and isinstance(changed, str):
            return changed
    return question.argv_text


def _require_value(question: Question, given: Mapping[str, object]) -> None:
    value = given.get(_VALUE)
    if not isinstance(value, str):
        raise ToolInputInvalid(f"{_VALUE}: say what the answer is, as text")
    if question.choices and value not in question.choices:
        raise ToolInputInvalid(f"{_VALUE}: it is none of {', '.join(question.choices)}")
