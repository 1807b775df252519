"""The questions of an agent. Watched, they are told as the stream shows them; driven, the run's own approvals tell of them."""

from collections.abc import Sequence

from runwire.agents.dialect import Question, Telling
from runwire.agents.told import Told
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved


class Questions:
    """Keeps the questions that are open."""

    def __init__(self, telling: Telling, told: Told) -> None:
        """Tell of questions."""
        self._telling = telling
        self._told = told
        self._open: dict[str, Question] = {}
        self._named: dict[str, str] = {}
        """Our ids of the questions that are open."""
        self._decided: set[str] = set()
        """Those of the open ones that were decided, though nothing tells yet how."""

    @property
    def open(self) -> Sequence[str]:
        """The ids of what is not answered yet."""
        return tuple(self._open)

    def __bool__(self) -> bool:
        return len(self._open) > len(self._decided)

    def go_on(self, question_id: str | None = None) -> None:
        """The agent does not wait any more, for a question or for all; how was decided is yet to be seen."""
        self._decided.update(one for one in self._open if question_id in {None, one})

    def wait_on(self) -> None:
        """It waits still, or again."""
        self._decided.clear()

    def get(self, question_id: str) -> Question | None:
        """A question that is open."""
        return self._open.get(question_id)

    def told_as(self, question_id: str) -> str:
        """The id that an open question has in the log."""
        return self._named.get(question_id, question_id)

    def of_call(self, tool_call_id: str) -> Question | None:
        """The open question about a call."""
        return next((one for one in self._open.values() if one.tool_call_id == tool_call_id), None)

    def ask(self, question: Question) -> None:
        """Ask, unless that very question is open already."""
        if question.question_id in self._open:
            self._decided.discard(question.question_id)
            return
        self._open[question.question_id] = question
        if self._telling.driven:
            self._told.say(question)
            return
        make = self._telling.approval_id
        self._named[question.question_id] = question.question_id if make is None else make()
        self._told.say(
            ApprovalRequested(
                approval_id=self.told_as(question.question_id),
                tool_call_id=question.tool_call_id,
                kind=question.tool_name,
                summary=question.summary,
                policy_reason=question.reason,
                input=dict(question.input),
                effects=[*sorted(question.effects)],
            )
        )

    def answer(self, question_id: str, *, allowed: bool, by: str, comment: str) -> Question | None:
        """A decision was taken; the question, if it was open."""
        question = self._open.pop(question_id, None)
        self._decided.discard(question_id)
        if question is not None and not self._telling.driven:
            self._told.say(
                ApprovalResolved(
                    approval_id=self._named.pop(question_id, question_id),
                    decision="approved" if allowed else "denied",
                    by=by,
                    comment=comment,
                )
            )
        return question
