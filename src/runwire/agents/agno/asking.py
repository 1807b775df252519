"""The questions of a paused run, and what was decided about them as far as the stream shows: it never says so itself.

A confirmed call begins, a rejected one is never heard of again. What a person filled in, chose or did elsewhere leaves no
trace either, but the model goes on.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from runwire.agents.agno.calls import ANY, call_of, effects_of, summary_of
from runwire.agents.agno.frames import Tool
from runwire.agents.agno.pausing import Kind, Waiting, fields_of
from runwire.agents.dialect import Question, QuestionKind
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, ToolEnding, line
from runwire.protocol.events.policy import PolicyToolBlocked

_KINDS: Mapping[Kind, QuestionKind] = {
    "confirmation": "permission",
    "user_input": "input",
    "user_feedback": "choice",
    "external_execution": "external",
}
_WHY = {
    "confirmation": "the tool needs confirmation",
    "user_input": "the tool needs input from a person",
    "user_feedback": "the agent asks a person to choose",
    "external_execution": "the tool is executed outside of the agent",
}
_SHOWN = (
    *("step_name", "step_type", "on_reject", "retry_count"),
    *("user_input_schema", "available_choices", "allow_multiple_selections", "step_input", "step_output"),
)
"""What of a step a person decides by."""
_ANSWERERS = frozenset({"get_user_input", "ask_user"})
"""Tools that do nothing but hand on what a person said: no event tells of them once that was said."""


class Asking:
    """Keeps what a run waits for."""

    def __init__(self, teller: Teller) -> None:
        """Ask by this teller."""
        self._teller = teller
        self._waits: dict[str, Waiting] = {}
        self._settled: set[str] = set()
        self._blocked: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._waits)

    def waiting(self, approval_id: str) -> Waiting | None:
        """What an open question is about."""
        return self._waits.get(approval_id)

    def pauses(self, waits: Collection[Waiting], content: object) -> None:
        """The run waits: tell what for, and what it says about that. What it does not wait for any more was decided."""
        still = {wait.approval_id for wait in waits}
        self._conclude([one for one in self._waits.values() if one.approval_id not in still])
        self._teller.questions.wait_on()
        fresh = [one for one in waits if one.approval_id not in self._waits and one.approval_id not in self._settled]
        teller = self._teller
        for wait in fresh:
            call_id = self.told_as(wait.key)
            if wait.tool and teller.tools.call(call_id) is None:
                teller.proposes(_call(wait, call_id))
        teller.turn_ends("tool_use")
        for wait in fresh:
            teller.asks(_question(wait, self.told_as(wait.key), content))
            self._waits[wait.approval_id] = wait

    def told_as(self, call_id: str) -> str:
        """The id that a call is told by. Agno may run what was rejected after all, and that is another call."""
        again = self._blocked.get(call_id, 0)
        return f"{call_id}#{again + 1}" if again else call_id

    def begins(self, call_id: str, tool: Tool) -> None:
        """A call begins: somebody has let it."""
        for wait in self._waits.values():
            if wait.key == call_id:
                edited = isinstance(tool.tool_args, dict) and tool.tool_args != wait.tool.get("tool_args")
                comment = tool.confirmation_note or ("with another input" if edited else "")
                self.settles(wait, allowed=True, comment=comment)
                return

    def steps_on(self, step_id: str | None, step_name: str | None) -> None:
        """A step is at work: somebody has let it."""
        for wait in list(self._waits.values()):
            step = wait.step or {}
            if not wait.tool and (step.get("step_id") == step_id if step_id else step.get("step_name") == step_name):
                self.settles(wait, allowed=True)

    def goes_on(self) -> None:
        """The model goes on, so everything was decided."""
        self._conclude(list(self._waits.values()))

    def member_goes_on(self, run_id: str | None) -> None:
        """The model of a run within the run goes on, so everything was decided that this one waited for."""
        self._conclude([wait for wait in self._waits.values() if run_id and wait.run_id == run_id])

    def _conclude(self, waits: Sequence[Waiting]) -> None:
        for wait in waits:
            at_work = self._teller.tools.is_open(self.told_as(wait.key))
            self.settles(wait, allowed=wait.kind != "confirmation" or at_work)

    def settles(self, wait: Waiting, *, allowed: bool, by: str = "operator", comment: str = "") -> None:
        """A decision was taken."""
        del self._waits[wait.approval_id]
        self._settled.add(wait.approval_id)
        teller, call_id = self._teller, self.told_as(wait.key)
        told_as = teller.questions.told_as(wait.approval_id)
        teller.answered(wait.approval_id, allowed=allowed, by=by, comment=comment)
        if not wait.tool:
            return
        call = teller.tools.call(call_id) or _call(wait, call_id)
        if not allowed and not teller.tools.is_open(call_id):
            # Said here: the call was proposed in a turn that is over, and its end is no reason to begin another.
            teller.tools.block(call_id)
            teller.say(
                PolicyToolBlocked(
                    tool_call_id=call_id,
                    tool_name=call.name,
                    reason=comment or "it was rejected",
                    policy_id=f"approval:{told_as}",
                    kind=call.kind,
                )
            )
            self._blocked[wait.key] = self._blocked.get(wait.key, 0) + 1
        elif allowed and _is_silent(wait):
            teller.tool_begins(call)
            teller.tool_ends(call_id, ToolEnding(summary=_DONE[wait.kind]))

    def drop(self, why: str) -> None:
        """Nobody will decide any more."""
        for wait in self._waits.values():
            self._teller.answered(wait.approval_id, allowed=False, by="system", comment=why)
            self._teller.tools.forget(self.told_as(wait.key))
        self._waits.clear()


_DONE = {
    "confirmation": "",
    "user_input": "a person has answered",
    "user_feedback": "a person has chosen",
    "external_execution": "it was executed outside of the agent",
}


def _is_silent(wait: Waiting) -> bool:
    """Whether no event tells of the call once it was decided."""
    if wait.kind == "user_input":
        return wait.tool.get("tool_name") in _ANSWERERS
    return wait.kind in {"user_feedback", "external_execution"}


def _call(wait: Waiting, call_id: str) -> ToolCall:
    try:
        tool = msgspec.convert(wait.tool, Tool)
    except msgspec.ValidationError:
        name = wait.tool.get("tool_name")
        tool = Tool(tool_name=name if isinstance(name, str) else None)
    return call_of(tool, call_id)


def _question(wait: Waiting, call_id: str, content: object) -> Question:
    reason = line(content) if isinstance(content, str) and content else _WHY[wait.kind]
    kind = _KINDS[wait.kind]
    if not wait.tool:
        step = wait.step or {}
        name, message = step.get("step_name"), _message(step)
        return Question(
            question_id=wait.approval_id,
            kind=kind,
            tool_name=name if isinstance(name, str) and name else "step",
            tool_kind="step",
            summary=line(message or f"step {name or wait.key}"),
            reason=reason,
            input={field: step[field] for field in _SHOWN if step.get(field) is not None},
            effects=ANY if wait.kind == "confirmation" and step.get("is_post_execution") is not True else frozenset(),
            fixed=wait.kind == "confirmation",
            choices=_labels(step.get("available_choices")),
        )
    call = _call(wait, call_id)
    return Question(
        question_id=wait.approval_id,
        kind=kind,
        tool_call_id=call_id,
        tool_name=call.name,
        tool_kind=call.kind,
        summary=summary_of(call),
        reason=reason,
        input=call.input,
        effects=effects_of(call) if wait.kind == "confirmation" else frozenset(),
        argv_text=" ".join(call.argv) if call.argv else None,
        choices=_choices(wait),
    )


def _message(step: object) -> str:
    if not isinstance(step, dict):
        return ""
    for name in ("confirmation_message", "user_input_message", "output_review_message"):
        message = step.get(name)
        if isinstance(message, str) and message:
            return message
    return ""


def _choices(wait: Waiting) -> list[str]:
    """What can be chosen, where one question alone is asked."""
    questions = fields_of(wait.tool.get("user_feedback_schema"))
    return _labels(questions[0].get("options")) if len(questions) == 1 and not questions[0].get("multi_select") else []


def _labels(options: object) -> list[str]:
    named = [option.get("label", option.get("name")) for option in fields_of(options)]
    plain = [option for option in options if isinstance(option, str)] if isinstance(options, list) else []
    return plain + [label for label in named if isinstance(label, str)]
