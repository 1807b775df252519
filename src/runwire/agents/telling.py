"""The one keeper of lifecycles: every dialect says to it what it saw, and what comes out is a log that keeps the rules.

Frames may be cut, doubled, late or out of order; what is told of them never is. A turn opens by itself when something comes
outside of one, a block of text ends as the sum of its pieces, a call ends once, and whatever a stream leaves open is closed
as what it is. A stream has legs: each answers one prompt. The first end of a leg wins; what comes behind it is kept as it came
and changes nothing, until another prompt begins the next leg.
"""

from msgspec import UNSET

from runwire.agents.asking import Questions
from runwire.agents.dialect import Body, Cancelled, Item, Outcome, Question, Reply, StreamEnd, Telling, Usage
from runwire.agents.kept import kept, no_such
from runwire.agents.leaving import change_of, left_off, left_open
from runwire.agents.money import NOTHING, Money
from runwire.agents.told import Told
from runwire.agents.tools import Stream, ToolCall, ToolEnding, Tools
from runwire.agents.words import Key, Words
from runwire.host import Failed, Finished
from runwire.protocol.catalogue import may_emit
from runwire.protocol.events.agent import LATE
from runwire.protocol.events.assistant import AssistantFinalAnswer
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.experimental import AssistantThinkingDelta
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload

_FINAL_MAX = 500


class Teller:
    """Keeps the story of one stream."""

    def __init__(self, telling: Telling) -> None:
        """Begin with nothing told."""
        self.telling = telling
        self._told = Told()
        self.words = Words(self._told)
        self.tools = Tools(telling, self._told)
        self.money = Money(telling)
        self.questions = Questions(telling, self._told)
        self.model: str | None = None
        self.provider: str | None = None
        self.turns = 0
        self.outcome: Outcome | None = None
        """How the leg ended; None while it goes on, or before the first."""
        self.begun = False
        """Whether anything was asked or done at all."""
        self.cancelling: Cancelled | None = None
        """Who asked to stop, if somebody did."""
        self._turn: int | None = None
        self._turn_since_ns = 0
        self._calls = 0
        self._thinks = may_emit(AssistantThinkingDelta.type, telling.experimental)
        self.is_late = False
        """Whether the frame at hand came after the end of what it is about."""
        self._strange, self._was_blocked = "", False
        self._now_ns = 0
        self._understood = self._makes_sense = False

    # What came of it.

    def take(self) -> list[Item]:
        """Everything that was told since the last time, in order."""
        return self._told.take()

    def say_again(self, items: list[Item]) -> None:
        """Tell what another teller had told of the same stream."""
        self._told.say(*items)

    def begin_frame(self, at_ns: int) -> None:
        """A frame has come, at this moment."""
        self._now_ns = at_ns
        self._understood = self._understood or self._makes_sense
        self._makes_sense = True
        self.is_late, self._strange, self._was_blocked = False, "", False

    @property
    def turn_index(self) -> int:
        """The turn that is open, or the last one."""
        return self._turn if self._turn is not None else max(0, self.telling.first_turn + self.turns - 1)

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn is open."""
        return self._turn is not None

    # Legs.

    def leg_begins(self) -> None:
        """A prompt was accepted: what follows answers it."""
        if self.outcome is not None:
            # Whoever asked to stop meant what is over now.
            self.cancelling = None
        self.outcome = None
        self.begun = True
        self.words.said = ""

    def leg_ends(self, outcome: Outcome) -> None:
        """The agent has said how it ended. The first word counts."""
        if self._over():
            return
        self.begun = True
        self._end_with(outcome)

    def end(self, end: StreamEnd) -> Outcome:
        """The stream is over: close what is open, and say how it all ended."""
        outcome = self.outcome or self.cancelling or left_off(end, begun=self.begun, understood=self._understood)
        if self.outcome is None:
            self._end_with(outcome)
        return outcome

    def _end_with(self, outcome: Outcome) -> None:
        change = change_of(outcome, begun=self.begun, blocked=self._was_blocked or bool(self.questions))
        self._close_all(outcome)
        self.outcome = outcome
        if not self.telling.driven:
            self._told.say(change)

    def _close_all(self, outcome: Outcome) -> None:
        self.words.close()
        for call_id in self.tools.open:
            self.tools.finish(call_id, left_open(outcome), self._now_ns)
        self.tools.forget_all()
        for question_id in self.questions.open:
            self.answered(question_id, allowed=False, by="system", comment="the agent went on without an answer")
        if self._turn is None:
            return
        match outcome:
            case Finished():
                self.turn_ends("end_turn")
            case Failed():
                self.turn_fails(outcome.code, outcome.message)
            case Cancelled():
                self.turn_fails("cancelled", outcome.reason or "the run was cancelled")

    # Turns.

    def turn_begins(self, model: str | None = None, provider: str | None = None) -> None:
        """The model is called. A turn that is open ends before."""
        if self._over():
            return
        if self._turn is not None:
            self.turn_ends("tool_use" if self._calls else "end_turn")
        self.model = model or self.model
        self.provider = provider or self.provider
        self._turn = self.telling.first_turn + self.turns
        self.turns += 1
        self.begun = True
        self._turn_since_ns, self._calls = self._now_ns, 0
        self.words.turn_begins(self._turn)
        self._told.say(TurnStarted(turn_index=self._turn, model=self.model, provider=self.provider))

    def use(self, usage: Usage) -> None:
        """The agent tells what a call of the model has used."""
        if self._over():
            return
        self.money.use(usage, self.provider, self.model)
        if self._turn is None:
            # The turn has ended already, so its totals alone can still tell.
            self.money.turn()
            self._told.say(*self.money.tick())
        else:
            self._told.say(*self.money.alarm())

    def turn_ends(self, stop_reason: str) -> None:
        """The model has answered."""
        if self._over() or self._turn is None:
            return
        self.words.close()
        turn, told = self._turn, self.money.turn()
        used = told or NOTHING
        self._turn = None
        self._told.say(
            TurnCompleted(
                turn_index=turn,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cached_input_tokens=used.cached_input_tokens,
                cost_micros_usd=used.cost_micros_usd or 0,
                duration_ms=self._turn_ms(),
                tool_calls=self._calls,
                stop_reason=stop_reason,
            )
        )
        if told is not None:
            self._told.say(*self.money.tick())

    def turn_fails(self, code: str, message: str, *, will_retry: bool = False) -> None:
        """The model has not answered, or not to the end."""
        if self._over():
            return
        if self._turn is None:
            self.turn_begins()
        self.words.close()
        turn, used = self.turn_index, self.money.turn()
        self._turn = None
        self._told.say(
            TurnFailed(
                turn_index=turn,
                code=code or "failed",
                message=message,
                will_retry=will_retry,
                input_tokens=used.input_tokens if used else UNSET,
                output_tokens=used.output_tokens if used else UNSET,
                cost_micros_usd=(used.cost_micros_usd or 0) if used else UNSET,
            )
        )
        if used is not None:
            self._told.say(*self.money.tick())

    # What the model says.

    def text(self, delta: str, key: Key = None) -> None:
        """A piece of text; another key begins another block."""
        if self.outcome is not None:
            self.is_late = True
        elif not self.words.goes_on(delta, key) and delta:
            self._in_turn()
            self.words.begin(delta, key)

    def whole_text(self, text: str) -> None:
        """A block of text that was not streamed, or the end of the one that was: then its pieces are the text."""
        if not self._over() and (text or self.words.is_open):
            self._in_turn()
            self.words.whole(text)

    def block_ends(self) -> None:
        """The block that is open is complete."""
        if not self._over():
            self.words.close()

    def thought(self, delta: str, key: Key = None) -> None:
        """A piece of reasoning; told only where the task asked for it."""
        if self._over() or not self._thinks or self.words.goes_on(delta, key, is_thought=True) or not delta:
            return
        self._in_turn()
        self.words.begin(delta, key, is_thought=True)

    def whole_thought(self, text: str) -> None:
        """Reasoning that was not streamed, or the end of what was."""
        if not self._over() and self._thinks and text:
            self._in_turn()
            self.words.whole(text, is_thought=True)

    def final(self, text: str | None = None) -> None:
        """The model says that it is done; its last text is the answer unless another is given."""
        if self._over():
            return
        self.words.close()
        turn = self._in_turn()
        answer = self.words.said if text is None else text
        self._told.say(AssistantFinalAnswer(turn_index=turn, summary=answer[:_FINAL_MAX]))

    # What the tools do.

    def proposes(self, call: ToolCall) -> None:
        """The model asks for a call."""
        if self._over():
            return
        self.words.close()
        turn = self._in_turn()
        if self.tools.call(call.call_id) is None:
            self._calls += 1
            self.tools.propose(call, turn)

    def tool_begins(self, call: ToolCall) -> None:
        """A call is at work."""
        if self._over():
            return
        self.words.close()
        if self._turn is None and not self.turns:
            self.turn_begins()
        if self._turn is not None and self.tools.call(call.call_id) is None:
            self._calls += 1
        self.tools.begin(call, self.turn_index, self._now_ns)

    def tool_prints(self, call_id: str, text: str, stream: Stream = "stdout") -> None:
        """A call has printed something more."""
        if not self._over():
            self.tools.write(call_id, text, stream)

    def tool_shows(self, call_id: str, whole: str, stream: Stream = "stdout") -> None:
        """A call shows all that it has printed so far."""
        if not self._over():
            self.tools.show(call_id, whole, stream)

    def tool_ends(self, call_id: str, ending: ToolEnding) -> None:
        """A call has ended. One that nobody saw begin is not told."""
        if not self._over():
            self.tools.finish(call_id, ending, self._now_ns)

    def tool_blocked(self, call: ToolCall, reason: str, policy_id: str = "agent") -> None:
        """A call was refused before it began."""
        if self._over() or self.tools.is_open(call.call_id) or self.tools.is_blocked(call.call_id):
            return
        self.proposes(call)
        self.tools.block(call.call_id)
        self._told.say(
            PolicyToolBlocked(
                tool_call_id=call.call_id,
                tool_name=call.name,
                reason=reason,
                policy_id=policy_id,
                kind=call.kind,
                mcp_server=call.mcp_server or UNSET,
                mcp_tool=call.mcp_tool or UNSET,
            )
        )

    # Decisions.

    def asks(self, question: Question) -> None:
        """The agent waits for a decision."""
        if self._over():
            return
        self.words.close()
        self.begun = True
        self.questions.ask(question)

    def answered(self, question_id: str, *, allowed: bool, by: str = "operator", comment: str = "") -> Question | None:
        """A decision was taken; the question, if it was open. Driven, the run has told of the decision already."""
        self._was_blocked = self._was_blocked or bool(self.questions)
        return self.questions.answer(question_id, allowed=allowed, by=by, comment=comment)

    # Everything else.

    def user(self, text: str) -> None:
        """A person said something. Driven, the run knows: the words went through it."""
        if self._over():
            return
        self.begun = True
        if not self.telling.driven:
            self._told.say(UserMessage(turn_index=self._next_turn(), text=text))

    def upstream(
        self, message: str, *, status: int | None = None, retriable: bool = False, attempt: int = 1, of: int = 1
    ) -> None:
        """The model's provider failed."""
        if self._over():
            return
        self._told.say(
            ErrorUpstream(
                provider=self.provider or self.telling.agent,
                status=status,
                message=message,
                retriable=retriable,
                attempt=max(attempt, 0),
                max_attempts=max(of, 0),
            )
        )

    def say(self, *items: Payload | Opaque | Body) -> None:
        """Tell something that has no life of its own."""
        if not self._over():
            self._told.say(*items)

    def reply(self, data: bytes) -> None:
        """Send something to the agent. Watching, there is nobody to send it to."""
        if self.telling.driven:
            self._told.say(Reply(data))

    def unknown(self, what: str, kind: str) -> None:
        """The frame at hand holds something of a kind that is not known."""
        self._strange = self._strange or no_such(what, kind)

    def keep(self, raw: bytes) -> bool:
        """Keep the frame at hand as it came if not all of it was known, or if it was late; True when it was late."""
        if self.is_late:
            self.unparsed(raw, f"{LATE}the agent had ended already")
        elif self._strange:
            self.unparsed(raw, self._strange)
        return self.is_late

    def unparsed(self, raw: bytes, error: str) -> None:
        """A frame that nothing understands: kept as it came."""
        self._makes_sense = False
        self._told.say(kept(raw, error))

    # Within.

    def _over(self) -> bool:
        if self.outcome is None:
            return False
        self.is_late = True
        return True

    def _in_turn(self) -> int:
        if self._turn is None:
            self.turn_begins()
        return self.turn_index

    def _next_turn(self) -> int:
        return self._turn if self._turn is not None else self.telling.first_turn + self.turns

    def _turn_ms(self) -> int:
        return max(0, (self._now_ns - self._turn_since_ns) // 1_000_000)
