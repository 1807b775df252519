"""ACP, the Agent Client Protocol, version 1, as a client: opencode, Gemini, and whoever else keeps to it.

A prompt is one turn: it ends with the answer to the request that began it, and nothing tells the calls of the model apart.
Watched, only the agent's half is there: answers are known by their shape, a leg begins with the first thing that happens in
it, and what was decided about a question is seen from what becomes of the call.
"""

import contextlib
from collections.abc import Callable, Sequence

import msgspec

from runwire.agents.acp import frames as wire
from runwire.agents.acp import shown
from runwire.agents.acp.speaking import AUTH_REQUIRED, METHOD_NOT_FOUND, VERSION, Client, refusal
from runwire.agents.acp.usage import Spent, usage_of
from runwire.agents.acp.working import Work
from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Cancelled, Image, Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.telling import Teller
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.todo import Todo, TodoWriteUpdated

_DECODER = msgspec.json.Decoder(wire.Frame)
_RESULT = msgspec.json.Decoder(wire.Result)
_WRAPPED = msgspec.json.Decoder(wire.Wrapped)
_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_PLAN = "plan"
_SUMMARY_MAX = 200
_STATUS_MIN, _STATUS_MAX = 400, 599
_ASKS_LATE = frozenset({"opencode"})
"""Agents that call a call at work before they ask about it: the first time is not taken for its beginning."""


class AcpDialect:
    """Understands an agent that speaks ACP, and speaks with it: one session, one prompt at a time."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._client = Client(telling.cwd)
        self._spent = Spent()
        self._work = Work(self.teller)
        self._message_id: str | None = None
        self._has_session = False
        self._rejected = ""
        self._is_busy = False

    # Hearing.

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        teller = self.teller
        teller.begin_frame(at_ns)
        frame = read(_DECODER, data, tag="method")
        if isinstance(frame, Unreadable):
            teller.unparsed(data, frame.why)
            return Seen(frame.raw_type)
        if not frame.method:
            seen = self._response(frame)
        elif frame.id is msgspec.UNSET:
            seen = self._notified(frame)
        else:
            seen = self._requested(frame)
        if seen is None:
            teller.unparsed(data, "it is nothing that the protocol knows")
            return Seen(frame.method)
        return Seen(seen.raw_type) if teller.keep(data) else seen

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        teller = self.teller
        teller.begin_frame(at_ns)
        self._work.tell_waiting()
        if self._rejected and teller.outcome is None and not teller.turns:
            teller.leg_ends(Failed("rejected", self._rejected))
        return teller.end(end)

    # What happens in the session.

    def _notified(self, frame: wire.Frame) -> Seen | None:
        if frame.method != "session/update":
            # An extension's own words begin with an underscore, the transport's with a dollar.
            if frame.method[0] not in "_$":
                self.teller.unknown("notification", frame.method)
            return Seen(frame.method)
        update = frame.params.update if frame.params else None
        if update is None:
            return None
        heard = _UPDATES.get(update.session_update)
        if heard is not None:
            self._look(update)
            return heard(self, update)
        quiet = shown.QUIET.get(update.session_update)
        if quiet is None:
            self.teller.unknown("session update", update.session_update)
        return quiet or Seen(frame.method)

    def _look(self, update: wire.Update) -> None:
        """Notice what is of no known kind."""
        content = update.content
        if isinstance(content, wire.Content) and content.type not in wire.CONTENTS:
            self.teller.unknown("content", content.type)
        elif isinstance(content, list):
            for part in content:
                if part.type not in wire.TOOL_CONTENTS:
                    self.teller.unknown("content of a call", part.type)
        if update.status is not None and update.status not in wire.STATUSES:
            self.teller.unknown("status of a call", update.status)

    def _happens(self) -> None:
        """Something of a prompt's own happens. Watched, that is how a leg begins."""
        teller = self.teller
        if teller.telling.driven:
            return
        if teller.outcome is not None or not teller.begun:
            self._leg()

    def _leg(self) -> None:
        self.teller.leg_begins()
        self._work.leg_begins()
        self._client.forget_questions()
        self._rejected = ""

    def _said(self, update: wire.Update) -> Seen:
        content, key = update.content, update.message_id
        if key is None or key != self._message_id or self.teller.outcome is None:
            self._happens()
        self._message_id = key
        self._work.settle_questions()
        if isinstance(content, wire.Content):
            self.teller.text(_text(content), key)
        return shown.MESSAGE

    def _thought(self, update: wire.Update) -> Seen:
        self._happens()
        self._work.settle_questions()
        if isinstance(update.content, wire.Content):
            self.teller.thought(_text(update.content), update.message_id)
        return shown.THOUGHT

    def _user(self, update: wire.Update) -> Seen:
        self._happens()
        if isinstance(update.content, wire.Content):
            self.teller.user(_text(update.content))
        return shown.USER

    def _plan(self, update: wire.Update) -> Seen:
        self._happens()
        todos = [Todo(content=entry.content, status=entry.status or "pending") for entry in update.entries or ()]
        self.teller.say(TodoWriteUpdated(tool_call_id=_PLAN, todos=todos))
        return shown.PLANNED

    def _used(self, update: wire.Update) -> Seen:
        more = self._spent.so_far(update.cost)
        if more:
            self.teller.use(Usage(cost_micros_usd=more))
        return shown.USED

    # Calls.

    def _tool_call(self, update: wire.Update) -> Seen:
        self._happens()
        return shown.TOOL_CALL_WHOLE if self._work.announce(update) else shown.TOOL_CALL

    def _tool_update(self, update: wire.Update) -> Seen:
        if self.teller.outcome is None:
            self._happens()
            self._work.update(update)
        else:
            # No prompt begins with news of a call: it is of the last one, and too late.
            self.teller.block_ends()
        return shown.TOOL_END if update.status in {"completed", "failed"} else shown.TOOL_UPDATE

    # Requests of the agent's.

    def _requested(self, frame: wire.Frame) -> Seen:
        request_id = None if frame.id is msgspec.UNSET else frame.id
        if frame.method != "session/request_permission":
            self.teller.reply(refusal(request_id, frame.method))
            if frame.method not in wire.OFFERS:
                self.teller.unknown("request", frame.method)
            return Seen(frame.method)
        params = frame.params or wire.Params()
        self._happens()
        question_id = str(request_id)
        self._client.heard(question_id, request_id, params.options or ())
        self._work.ask(question_id, params.tool_call or wire.Update())
        return shown.PERMISSION

    # Answers of the agent's.

    def _response(self, frame: wire.Frame) -> Seen | None:
        method = self._client.method_of(frame.id)
        if frame.error is not None:
            return self._failed(method, frame.error)
        if frame.result is msgspec.UNSET:
            return None
        try:
            result = _RESULT.decode(frame.result)
        except _FAULTS:
            result = wire.Result()
        method = method or _method_of(result)
        if method == "initialize":
            self._greeted(result)
        elif method == "authenticate":
            self.teller.reply(self._client.new_session())
        elif method == "session/new":
            self._has_session_of(result)
        elif method == "session/prompt":
            return self._answered(result)
        return shown.RESPONSES.get(method, shown.RESPONSE)

    def _greeted(self, result: wire.Result) -> None:
        self._client.auth_methods = result.auth_methods or ()
        self._work.asks_late = result.agent_info is not None and result.agent_info.name.lower() in _ASKS_LATE
        if not self.teller.telling.driven:
            return
        if result.protocol_version != VERSION:
            self._reject(f"the agent speaks version {result.protocol_version} of the protocol, not {VERSION}")
        else:
            self.teller.reply(self._client.new_session())

    def _has_session_of(self, result: wire.Result) -> None:
        self._client.session_id = result.session_id
        self._has_session = True
        chosen = result.models.current if result.models else None
        for setting in result.settings or ():
            if "model" in {setting.id, setting.category} and isinstance(setting.current, str):
                chosen = setting.current
        if chosen:
            provider, slash, model = chosen.partition("/")
            self.teller.model = model if slash else chosen
            self.teller.provider = provider if slash else self.teller.provider

    def _answered(self, result: wire.Result) -> Seen:
        teller, stop = self.teller, result.stop_reason or ""
        self._is_busy = False
        if teller.outcome is not None:
            self._happens()
        usage = usage_of(result, self._spent)
        if stop != "cancelled":
            self._work.settle_questions()
        self._work.tell_waiting()
        if usage is not None and usage != Usage(cost_micros_usd=usage.cost_micros_usd):
            teller.use(usage)
        if stop == "cancelled":
            teller.leg_ends(teller.cancelling or Cancelled())
        elif stop == "refusal":
            teller.leg_ends(Failed("refused", "the agent refused to go on"))
        elif stop == "max_turn_requests":
            teller.leg_ends(Failed("max_turns", "the agent took as many turns as it may"))
        else:
            if stop not in wire.STOPS:
                teller.unknown("stop reason", stop)
            teller.block_ends()
            if stop == "end_turn" and teller.is_in_turn and teller.words.said:
                teller.final()
            teller.turn_ends(stop or "end_turn")
            teller.leg_ends(Finished(teller.words.said[:_SUMMARY_MAX]))
        return shown.GAVE_UP if isinstance(teller.outcome, Failed) else shown.ANSWERED

    def _failed(self, method: str, fault: wire.Fault) -> Seen:
        teller = self.teller
        if method and method != "session/prompt":
            return self._failed_to_begin(method, fault)
        if not method and fault.code == METHOD_NOT_FOUND:
            return shown.ERROR
        self._is_busy = False
        message = _message(fault)
        if not method and not self._has_session and not teller.begun:
            self._rejected = message
            return shown.FAILED
        if teller.outcome is not None:
            self._happens()
        cancelled = teller.cancelling
        status = fault.code if isinstance(fault.code, int) and _STATUS_MIN <= fault.code <= _STATUS_MAX else None
        if cancelled is None and (status is not None or _is_upstream(fault)):
            teller.upstream(message, status=status)
        self._work.tell_waiting()
        code = "model_error" if status is not None or _is_upstream(fault) else "agent_error"
        if cancelled is None and not teller.is_in_turn and teller.outcome is None:
            teller.turn_fails(code, message)
        teller.leg_ends(cancelled or Failed(code, message, retriable=status in {429, 500, 502, 503, 504, 529}))
        return shown.FAILED

    def _failed_to_begin(self, method: str, fault: wire.Fault) -> Seen:
        wanted = self.teller.telling.session.get("auth_method")
        if method == "session/new" and fault.code == AUTH_REQUIRED:
            signing_in = self._client.authenticate(wanted)
            if signing_in is not None:
                self.teller.reply(signing_in)
                return shown.ERROR
        self._reject(fault.message or f"{method} failed")
        return shown.FAILED

    def _reject(self, why: str) -> None:
        self.teller.leg_begins()
        self.teller.leg_ends(Failed("rejected", why))

    # Speaking.

    @property
    def ready(self) -> bool:
        """Whether there is a session, and the last prompt in it is over."""
        return self._client.session_id is not None and not self._is_busy

    def hello(self) -> None:
        """Begin the handshake; its other steps follow the answers."""
        self.teller.reply(self._client.initialize())

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for something."""
        self._leg()
        self._is_busy = True
        self.teller.reply(self._client.prompt(text, images))

    def answer(self, question_id: str, answer: Answer) -> None:
        """Choose the option that means the decision, for this once: what reaches farther is kept by us."""
        question = self.teller.questions.get(question_id)
        # The protocol has no way to change what is called, so what somebody changed is not allowed as it is.
        found = self._client.answer(question_id, allowed=answer.allowed and not answer.edited)
        if question is None or found is None:
            return
        reply, is_allowed = found
        self.teller.answered(question_id, allowed=is_allowed)
        if is_allowed:
            self._work.allow(question)
        else:
            told = answer.told or ("its input cannot be changed" if answer.edited else "")
            self._work.refuse(question, told, answer.policy_id or "agent")
        self.teller.reply(reply)

    def cancel(self, by: str, reason: str) -> bool:
        """Ask it to stop; whatever it still wants to know is answered with that."""
        self.teller.cancelling = Cancelled(by, reason)
        self.teller.reply(self._client.cancel())
        for question_id in self.teller.questions.open:
            reply = self._client.withdraw(question_id)
            question = self.teller.answered(question_id, allowed=False, by=by, comment=reason)
            if question is not None:
                self._work.refuse(question, reason)
            if reply is not None:
                self.teller.reply(reply)
        return True


def _text(content: wire.Content) -> str:
    if content.type == "text":
        return content.text
    return content.uri or (content.resource.text or content.resource.uri if content.resource else "")


def _method_of(result: wire.Result) -> str:
    """Which request an answer is to, by its shape."""
    if result.stop_reason is not None:
        return "session/prompt"
    if result.protocol_version is not None:
        return "initialize"
    return "session/new" if result.session_id is not None else ""


def _message(fault: wire.Fault) -> str:
    """Why, in words. Some hand on what the model's provider answered, as JSON."""
    if fault.message.startswith("{"):
        with contextlib.suppress(*_FAULTS):
            found = _WRAPPED.decode(fault.message)
            return found.error.message or fault.message
    return fault.message or "the agent failed"


def _is_upstream(fault: wire.Fault) -> bool:
    return isinstance(fault.data, dict) and fault.data.get("errorName") == "APIError"


_UPDATES: dict[str, Callable[[AcpDialect, wire.Update], Seen]] = {
    "agent_message_chunk": AcpDialect._said,
    "agent_thought_chunk": AcpDialect._thought,
    "user_message_chunk": AcpDialect._user,
    "tool_call": AcpDialect._tool_call,
    "tool_call_update": AcpDialect._tool_update,
    "plan": AcpDialect._plan,
    "usage_update": AcpDialect._used,
}
