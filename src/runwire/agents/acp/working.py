"""The calls of an ACP agent at work: what becomes known of each, when it is told as begun, refused or ended."""

from runwire.agents.acp import frames as wire
from runwire.agents.acp.calls import Known, call_of, ending_of, printed, question_of, was_refused
from runwire.agents.dialect import Question
from runwire.agents.telling import Teller
from runwire.agents.tools import OPEN_MAX, ToolEnding

_REFUSED = "it was refused"


class Work:
    """Keeps the calls of a prompt."""

    def __init__(self, teller: Teller) -> None:
        """Tell of calls."""
        self._teller = teller
        self._calls: dict[str, Known] = {}
        self._ended: dict[str, None] = {}
        self.asks_late = False
        """Whether the agent calls a call at work before it asks about it: then the first time is not its beginning."""

    def leg_begins(self) -> None:
        """Another prompt: the calls of the last one are over."""
        self._calls.clear()
        self._ended.clear()

    def knows(self, call_id: str) -> bool:
        """Whether a call was announced and is not over."""
        return call_id in self._calls

    def announce(self, update: wire.Update) -> bool:
        """The model asks for a call; whether that is all there will be of it."""
        known = self._learn(update)
        if known is None:
            return False
        if known.status == "in_progress":
            # It is at work from the first, so nobody needs to be asked.
            self._begin(known)
        return self._settle(known)

    def update(self, update: wire.Update) -> None:
        """Something is new about a call."""
        known = self._learn(update)
        if known is None or self._settle(known) or known.status != "in_progress":
            return
        if self._teller.telling.driven and self._teller.questions.of_call(known.call_id) is not None:
            # Whatever it says of the call, it waits for our answer.
            return
        self._decided(known)
        is_first = known.worked <= 1 and not known.text and not known.asked
        if self.asks_late and is_first:
            self._teller.proposes(call_of(known))
        else:
            self._begin(known)
            self._print(known)

    def ask(self, question_id: str, update: wire.Update) -> None:
        """The agent waits for a decision about a call. What it says of it here may be all that it ever says."""
        known = self._calls.get(update.call_id)
        if known is None:
            known = self._learn(update) or Known(update.call_id)
        else:
            known.learn(update, is_question=True)
        known.asked += 1
        if known.call_id:
            self._teller.proposes(call_of(known))
        self._teller.asks(question_of(question_id, known))

    def allow(self, question: Question) -> None:
        """A call may be made."""
        known = self._calls.get(question.tool_call_id or "")
        if known is not None:
            self._begin(known)

    def refuse(self, question: Question, told: str = "", policy_id: str = "agent") -> None:
        """A call is not to be made."""
        known = self._calls.get(question.tool_call_id or "")
        if known is None:
            return
        reason = told or _REFUSED
        if self._teller.tools.is_open(known.call_id):
            self._teller.tool_ends(known.call_id, ToolEnding(outcome="failed", code="denied", message=reason))
        else:
            self._teller.tool_blocked(call_of(known), reason, policy_id)
        self._over(known.call_id)

    def settle_questions(self) -> None:
        """The model goes on. Watched, a question that is still open was answered with no, and nothing more said of it."""
        teller = self._teller
        if teller.telling.driven or not teller.questions:
            return
        for question_id in teller.questions.open:
            question = teller.answered(question_id, allowed=False)
            if question is not None:
                self.refuse(question)

    def tell_waiting(self) -> None:
        """Calls that were announced and never begun: the model asked for them all the same."""
        for known in list(self._calls.values()):
            if known.call_id and self._teller.tools.call(known.call_id) is None and self._teller.outcome is None:
                self._teller.proposes(call_of(known))

    def _learn(self, update: wire.Update) -> Known | None:
        """What is known of a call; None when it is over."""
        call_id = update.call_id
        if call_id in self._ended or self._teller.tools.is_blocked(call_id):
            return None
        known = self._calls.get(call_id)
        if known is None:
            if len(self._calls) >= OPEN_MAX:
                self._calls.pop(next(iter(self._calls)))
            known = self._calls[call_id] = Known(call_id)
        known.learn(update)
        return known

    def _begin(self, known: Known) -> None:
        if not self._teller.tools.is_open(known.call_id):
            self._teller.tool_begins(call_of(known))

    def _print(self, known: Known) -> None:
        if known.tool_kind == "shell":
            self._teller.tool_shows(known.call_id, printed(known))

    def _settle(self, known: Known) -> bool:
        """Tell how a call ended, if it has."""
        if known.status not in {"completed", "failed"}:
            return False
        teller = self._teller
        asked = teller.questions.of_call(known.call_id)
        if asked is not None and was_refused(known):
            words = ending_of(known, None).message
            teller.answered(asked.question_id, allowed=False, comment=words)
            if not teller.tools.is_open(known.call_id):
                self.refuse(asked, words)
                return True
        self._decided(known)
        self._begin(known)
        ending = ending_of(known, teller.cancelling)
        if ending.output is not None and known.status == "completed":
            self._print(known)
        teller.tool_ends(known.call_id, ending)
        self._over(known.call_id)
        return True

    def _decided(self, known: Known) -> None:
        """The call goes on, so what was asked about it was allowed."""
        asked = self._teller.questions.of_call(known.call_id)
        if asked is not None:
            self._teller.answered(asked.question_id, allowed=True)

    def _over(self, call_id: str) -> None:
        self._calls.pop(call_id, None)
        if len(self._ended) >= OPEN_MAX:
            self._ended.pop(next(iter(self._ended)))
        self._ended[call_id] = None
