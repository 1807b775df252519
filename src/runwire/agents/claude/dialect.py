"""Claude Code: `claude -p --output-format stream-json`, with and without partial messages, and the one `result` of `json`.

A line of the model holds one finished block, and several lines share a message: a new message is a new turn. Nothing says
that a tool begins. It is told as begun when the stream shows that it was: by an answer to the question about it, by the end
of the message that asked for it, by its result. So a call that was refused was never begun. What it all cost is told once,
at the end, counted from the start of the process.
"""

from collections.abc import Callable, Sequence

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.claude import lines as wire
from runwire.agents.claude import shown
from runwire.agents.claude.calls import returned
from runwire.agents.claude.ends import Bill, outcome_of, overspent
from runwire.agents.claude.working import AT_ONCE, Work
from runwire.agents.dialect import Cancelled, Image, Outcome, Seen, StreamEnd, Telling
from runwire.agents.hearing import hear
from runwire.agents.telling import Teller
from runwire.host import Answer

_DECODER: "msgspec.json.Decoder[object]" = msgspec.json.Decoder(wire.Any)
_ENCODER = msgspec.json.Encoder()
_INITIALIZE = "initialize"
_INTERRUPT = "interrupt"
_SYNTHETIC = "<synthetic>"
_OWN_WORDS = ("<local-command-", "<command-")
"""How what it writes itself in the user's name begins: the output of its own commands."""


class ClaudeDialect:
    """Understands Claude Code, and speaks with it: one prompt at a time."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._bill = Bill(self.teller)
        self._work = Work(self.teller)
        self._message = ""
        self._is_streaming = False
        self._stop = ""
        self._is_greeted = False
        self._is_busy = False
        self._sent = 0

    # Hearing.

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        self._work.now_ns = at_ns
        return hear(self, _DECODER, _HEARD, data, at_ns)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        self._work.now_ns = at_ns
        self.teller.begin_frame(at_ns)
        if self.teller.outcome is None:
            # It broke off. A call that nobody refused may have been made, so it is not told as one that was not.
            self._work.begin_waiting()
        return self.teller.end(end)

    def _leg(self) -> None:
        """Another prompt is worked on."""
        self.teller.leg_begins()
        self._bill.leg_begins()
        self._message, self._stop, self._is_streaming = "", "", False
        self._work.leg_begins()

    def _system(self, message: wire.System) -> Seen:
        subtype, teller = message.subtype, self.teller
        if subtype == "init":
            if teller.outcome is not None or not teller.begun:
                self._leg()
            teller.model = message.model if isinstance(message.model, str) else teller.model
            teller.provider = teller.provider or "anthropic"
            self._work.cwd = message.cwd if isinstance(message.cwd, str) else self._work.cwd
        elif subtype == "api_retry":
            self._broke_off()
            status, attempt, of = message.error_status, message.attempt, message.max_retries
            teller.upstream(
                message.error if isinstance(message.error, str) else "the model did not answer",
                status=status if type(status) is int else None,
                retriable=True,
                attempt=attempt if type(attempt) is int else 1,
                of=of if type(of) is int else 1,
            )
        elif subtype == "permission_denied" and isinstance(message.tool_use_id, str):
            name = message.tool_name if isinstance(message.tool_name, str) else ""
            reason = message.message if isinstance(message.message, str) else "Claude Code refused it"
            self._work.refuse(message.tool_use_id, reason, name)
        elif subtype not in wire.ASIDE:
            teller.unknown("subtype of system", subtype)
        return shown.SYSTEM.get(subtype) or Seen(f"system/{subtype}")

    # What the model says.

    def _stream_event(self, message: wire.StreamEvent) -> Seen:
        event = message.event
        if message.parent_tool_use_id is not None:
            self._work.goes_on(message.parent_tool_use_id)
            return Seen(f"stream_event/{event.type}")
        heard = _STREAMED.get(event.type)
        if heard is not None:
            return heard(self, event)
        if event.type not in wire.QUIET_EVENTS:
            self.teller.unknown("stream event", event.type)
        return Seen(f"stream_event/{event.type}")

    def _message_start(self, event: wire.Event) -> Seen:
        started = event.message or wire.Message()
        ended = self.teller.is_in_turn
        self._broke_off()
        self._turn(started)
        self._is_streaming = True
        return shown.NEXT_MESSAGE_START if ended else shown.MESSAGE_START

    def _block_delta(self, event: wire.Event) -> Seen:
        delta = event.delta
        if delta is None:
            return shown.BLOCK_DELTA_NONE
        if delta.type == "text_delta":
            self.teller.text(delta.text, event.index)
        elif delta.type == "thinking_delta":
            self.teller.thought(delta.thinking, event.index)
        elif delta.type != "input_json_delta":
            if delta.type not in wire.QUIET_DELTAS:
                self.teller.unknown("delta", delta.type)
            return shown.BLOCK_DELTA_NONE
        return shown.BLOCK_DELTA

    def _block_stop(self, _: wire.Event) -> Seen:
        self.teller.block_ends()
        return shown.BLOCK_STOP

    def _message_delta(self, event: wire.Event) -> Seen:
        self._stop = (event.delta.stop_reason if event.delta else None) or self._stop
        if self._is_streaming and event.usage is not None:
            self._bill.answered(event.usage)
        return shown.MESSAGE_DELTA

    def _message_stop(self, _: wire.Event) -> Seen:
        self._is_streaming = False
        if not self.teller.telling.driven:
            # Driven, the question about a call may come before this or after.
            self._work.begin_waiting(AT_ONCE)
        return shown.MESSAGE_STOP

    def _assistant(self, message: wire.Assistant) -> Seen:
        said = message.message
        if message.parent_tool_use_id is not None:
            return self._subagent(message)
        if message.is_api_error_message or (said.model == _SYNTHETIC and message.error is not None):
            return self._api_error(message)
        blocks = [wire.Block(type="text", text=said.content)] if isinstance(said.content, str) else said.content
        is_next = said.id != self._message or not self.teller.is_in_turn
        ended = self.teller.is_in_turn
        if is_next:
            self._broke_off()
            self._turn(said)
        self._stop = said.stop_reason or self._stop
        name = self._blocks(blocks)
        if message.aborted:
            self.teller.cancelling = self.teller.cancelling or Cancelled()
        return shown.assistant(name, is_next=is_next, ended=ended)

    def _blocks(self, blocks: Sequence[wire.Block]) -> str:
        """What the model says; the name of what it ends with in the pane."""
        name = gp.MESSAGE_END
        for block in blocks:
            if block.type == "text":
                self.teller.whole_text(block.text)
            elif block.type == "thinking":
                self.teller.whole_thought(block.thinking)
            elif block.type == "tool_use":
                self._work.propose(block)
                name = gp.TOOL_START
            elif block.type not in wire.QUIET_BLOCKS:
                self.teller.unknown("block", block.type)
                name = gp.MESSAGE_UPDATE if len(blocks) == 1 else name
        return name

    def _turn(self, message: wire.Message) -> None:
        teller = self.teller
        if self._stop and teller.is_in_turn:
            teller.turn_ends(self._stop)
        teller.turn_begins(message.model if message.model != _SYNTHETIC else None)
        self._message, self._stop = message.id, ""
        if message.usage is not None:
            self._bill.asked(message.usage)

    def _broke_off(self) -> None:
        """The answer that was streaming will not go on: another one begins."""
        if self._is_streaming:
            self._is_streaming = False
            self.teller.turn_fails("interrupted", "the answer of the model broke off", will_retry=True)

    def _api_error(self, message: wire.Assistant) -> Seen:
        said, teller = message.message, self.teller
        blocks = () if isinstance(said.content, str) else said.content
        text = said.content if isinstance(said.content, str) else "\n".join(block.text for block in blocks)
        status = message.api_error_status
        teller.upstream(text, status=int(status) if isinstance(status, int) and 0 <= status < 1000 else None)
        if not self._is_streaming and teller.is_in_turn:
            teller.turn_ends(self._stop or "tool_use")
        self._is_streaming, self._stop = False, ""
        teller.turn_fails("model_error", text or "the model failed")
        return shown.API_ERROR

    def _subagent(self, message: wire.Assistant) -> Seen:
        """What an agent of the agent says. Its words end up in the result of the call that it works for."""
        self._work.goes_on(message.parent_tool_use_id or "")
        names: tuple[str, ...] = ()
        blocks = () if isinstance(message.message.content, str) else message.message.content
        for block in blocks:
            if block.type == "tool_use":
                self._work.propose(block)
                names = (gp.TOOL_START,)
            elif block.type not in wire.SUBAGENT_BLOCKS:
                self.teller.unknown("block", block.type)
        return Seen("assistant", names)

    # What the tools do.

    def _tool_progress(self, message: wire.ToolProgress) -> Seen:
        self._work.goes_on(message.tool_use_id)
        return shown.TOOL_PROGRESS

    def _user(self, message: wire.User) -> Seen:
        content = message.message.content
        if message.parent_tool_use_id is not None:
            self._work.goes_on(message.parent_tool_use_id)
        blocks = [wire.Block(type="text", text=content)] if isinstance(content, str) else content
        results = [block for block in blocks if block.type == "tool_result"]
        for block in blocks:
            if block.type not in wire.USER_BLOCKS:
                self.teller.unknown("block", block.type)
        for block in results:
            self._work.end(block.tool_use_id, returned(block, message))
        if results:
            return shown.USER_RESULT
        text = "\n".join(block.text for block in blocks if block.type == "text")
        if message.isReplay and message.parent_tool_use_id is None and not text.startswith(_OWN_WORDS):
            if self.teller.outcome is not None or not self.teller.begun:
                self._leg()
            self.teller.user(text)
            return shown.USER_REPLAY
        return shown.USER

    # What is asked and answered.

    def _control_request(self, message: wire.ControlRequest) -> Seen:
        request = message.request
        if request.subtype == "can_use_tool":
            self._work.ask(message.request_id, request)
        else:
            self.teller.unknown("request to the host", request.subtype)
            error = f"this host does not answer {request.subtype or 'that'}"
            self._respond({"subtype": "error", "request_id": message.request_id, "error": error})
        return shown.CONTROL_REQUEST

    def _control_cancel(self, message: wire.ControlCancel) -> Seen:
        self._work.withdraw(message.request_id)
        return shown.CONTROL_CANCEL

    def _control_response(self, message: wire.ControlResponse) -> Seen:
        response = message.response
        if response.subtype not in {"success", "error"}:
            self.teller.unknown("response", response.subtype)
        elif response.request_id == _INITIALIZE:
            self._is_greeted = True
        elif _is_interrupt(response) and self.teller.begun and self.teller.outcome is None:
            self.teller.cancelling = self.teller.cancelling or Cancelled()
            self._work.begin_waiting()
        return shown.CONTROL_RESPONSE

    def _result(self, message: wire.Result) -> Seen:
        teller = self.teller
        ended, is_error = teller.is_in_turn, message.is_error or message.subtype.startswith("error")
        text = message.result or ""
        if not self._message and not teller.is_in_turn and text and not is_error:
            # The one line of `--output-format json`: all that is known of the answer.
            teller.whole_text(text)
        elif not self._message and not teller.is_in_turn and self._bill.is_due(message.usage):
            # The model was called and had nothing to say.
            teller.turn_begins()
        self._bill.settled(message.usage, message.total_cost_usd)
        overspent(teller, message)
        outcome = outcome_of(message, teller)
        if teller.is_in_turn and not is_error:
            if text:
                teller.final(text)
            teller.turn_ends(message.stop_reason or self._stop or "end_turn")
        teller.leg_ends(outcome)
        self._is_busy = False
        names = ((gp.TURN_END,) if ended else ()) + ((gp.ERROR,) if is_error else ()) + (gp.AGENT_END,)
        if isinstance(teller.outcome, Cancelled):
            names = tuple(name for name in names if name != gp.ERROR)
        return Seen(f"result/{message.subtype}", names)

    def _noise(self, message: wire.Noise) -> Seen:
        return Seen(str(message.__struct_config__.tag))

    # Speaking.

    @property
    def ready(self) -> bool:
        """Whether it has answered our greeting, and the last prompt is over."""
        return self._is_greeted and not self._is_busy

    def hello(self) -> None:
        """Say that we are one who answers its questions."""
        self._send({"type": "control_request", "request_id": _INITIALIZE, "request": {"subtype": "initialize"}})

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for something."""
        self._leg()
        self._is_busy = True
        content: list[object] = [{"type": "text", "text": text}]
        for image in images:
            source = {"type": "base64", "media_type": image.mime, "data": image.base64}
            content.append({"type": "image", "source": source})
        self._send({"type": "user", "message": {"role": "user", "content": content}})

    def answer(self, question_id: str, answer: Answer) -> None:
        """Let a call go, with the input that was approved, or refuse it."""
        question = self.teller.answered(question_id, allowed=answer.allowed)
        if question is not None:
            reply = self._work.decide(question, answer)
            self._respond({"subtype": "success", "request_id": question_id, "response": reply})

    def cancel(self, by: str, reason: str) -> bool:
        """Interrupt it; it stays there for another prompt."""
        self.teller.cancelling = Cancelled(by, reason)
        self._sent += 1
        request_id = f"{_INTERRUPT}-{self._sent}"
        self._send({"type": "control_request", "request_id": request_id, "request": {"subtype": "interrupt"}})
        return True

    def _respond(self, response: dict[str, object]) -> None:
        self._send({"type": "control_response", "response": response})

    def _send(self, message: dict[str, object]) -> None:
        self.teller.reply(_ENCODER.encode(message) + b"\n")


def _is_interrupt(response: wire.Response) -> bool:
    """Whether it is the answer to an interruption, whoever asked for that."""
    return response.subtype == "success" and b'"still_queued"' in bytes(response.response)


_STREAMED: dict[str, Callable[[ClaudeDialect, wire.Event], Seen]] = {
    "message_start": ClaudeDialect._message_start,
    "content_block_delta": ClaudeDialect._block_delta,
    "content_block_stop": ClaudeDialect._block_stop,
    "message_delta": ClaudeDialect._message_delta,
    "message_stop": ClaudeDialect._message_stop,
}

_HEARD: dict[type, Callable[..., Seen]] = {
    wire.System: ClaudeDialect._system,
    wire.Assistant: ClaudeDialect._assistant,
    wire.User: ClaudeDialect._user,
    wire.StreamEvent: ClaudeDialect._stream_event,
    wire.ControlRequest: ClaudeDialect._control_request,
    wire.ControlCancel: ClaudeDialect._control_cancel,
    wire.ControlResponse: ClaudeDialect._control_response,
    wire.Result: ClaudeDialect._result,
    wire.ToolProgress: ClaudeDialect._tool_progress,
    wire.RateLimit: ClaudeDialect._noise,
    wire.AuthStatus: ClaudeDialect._noise,
    wire.KeepAlive: ClaudeDialect._noise,
    wire.ToolUseSummary: ClaudeDialect._noise,
    wire.PromptSuggestion: ClaudeDialect._noise,
}
