"""zot: `zot rpc` and `zot --json`. One JSON object a line, told apart by `type`.

A turn ends before its tools run, and they run one after the other in the order of the calls. A call may be begun and never
ended; an abort may leave no trace but a failed result, so it is remembered that one was asked for.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.dialect import Cancelled, Image, Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.hearing import hear
from runwire.agents.money import count, micros
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, ToolEnding
from runwire.agents.zot import lines as wire
from runwire.host import Answer, Failed, Finished

_EXIT = re.compile(r"\[exit (-?\d+)\](?: \(full output: .+?\))?  Took ([\d.]+)s\Z")
_EXIT_MAX = 8 * 1024
"""The line that tells of the exit is the last one, and holds no more than a path."""
_HTTP = re.compile(r"\bhttp (\d{3})\b")
_KINDS = {
    "bash": "shell",
    "read": "file",
    "write": "edit",
    "edit": "edit",
    "ls": "search",
    "grep": "search",
    "find": "search",
}
_STOPS = {"end": "end_turn", "length": "max_tokens"}


_DECODER: "msgspec.json.Decoder[object]" = msgspec.json.Decoder(wire.Message)
_ENCODER = msgspec.json.Encoder()


class ZotDialect:
    """Understands zot, and speaks it: one prompt at a time."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._calls: deque[ToolCall] = deque()
        self._streamed = False
        self._error = ""
        self._is_rejected = ""
        self._sent = 0
        self._billed: int | None = None
        self._is_busy = False
        self._is_greeted = False

    # Hearing.

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        return hear(self, _DECODER, _HEARD, data, at_ns)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and self._error:
            # `zot --json` says no more than the error when it fails.
            teller.leg_ends(_failure(self._error))
        elif teller.outcome is None and self._is_rejected and not teller.turns:
            teller.leg_ends(Failed("rejected", self._is_rejected))
        return teller.end(end)

    def _response(self, message: wire.Response) -> Seen:
        if message.command == "hello" and message.success:
            self._is_greeted = True
            self._greeted(message.data)
        elif message.command == "hello" and not message.success:
            self._is_rejected = message.error or "hello was refused"
        elif message.command == "abort" and message.success:
            if self._is_busy and self.teller.cancelling is None:
                self.teller.cancelling = Cancelled()
        elif message.command == "prompt":
            self._is_busy = message.success
            if message.success:
                self._leg()
            else:
                self._is_rejected = message.error or "the prompt was refused"
                if self.teller.telling.driven:
                    self.teller.leg_begins()
                    self.teller.leg_ends(Failed("rejected", self._is_rejected))
                return _REFUSED
        return _RESPONSE

    def _greeted(self, data: msgspec.Raw) -> None:
        try:
            greeting = msgspec.json.decode(data, type=dict[str, object])
        except msgspec.DecodeError:
            return
        model, provider = greeting.get("model"), greeting.get("provider")
        self.teller.model = model if isinstance(model, str) else None
        self.teller.provider = provider if isinstance(provider, str) else None

    def _leg(self) -> None:
        """Another prompt is worked on."""
        self.teller.leg_begins()
        self._calls.clear()
        self._error = ""
        self._is_busy = True

    def _user_message(self, message: wire.UserMessage) -> Seen:
        if self.teller.outcome is not None or not self.teller.begun:
            self._leg()
        self.teller.user("\n".join(block.text for block in message.content if block.type == "text"))
        return _USER

    def _turn_start(self, _: wire.TurnStart) -> Seen:
        self._skip_calls()
        self.teller.turn_begins()
        return _TURN_START

    def _assistant_start(self, _: wire.AssistantStart) -> Seen:
        self._streamed = False
        return _ASSISTANT_START

    def _text_delta(self, message: wire.TextDelta) -> Seen:
        self._streamed = True
        self.teller.text(message.delta)
        return _TEXT_DELTA

    def _tool_use_start(self, _: wire.ToolUseStart) -> Seen:
        self.teller.block_ends()
        return _TOOL_USE_START

    def _tool_use_args(self, _: wire.ToolUseArgs) -> Seen:
        return _TOOL_USE_ARGS

    def _tool_use_end(self, _: wire.ToolUseEnd) -> Seen:
        return _TOOL_USE_END

    def _usage(self, message: wire.Usage) -> Seen:
        cached = count(message.cache_read)
        self.teller.use(
            Usage(
                # zot counts what was read from a cache, or written to one, beside the input.
                input_tokens=count(message.input) + cached + count(message.cache_write),
                output_tokens=count(message.output),
                cached_input_tokens=cached,
                cost_micros_usd=self._cost(message),
            )
        )
        return _USAGE

    def _cost(self, message: wire.Usage) -> int:
        """What the call cost. The sums are what zot bills by, so rounding must not let ours drift from them."""
        own = micros(message.cost_usd) or 0
        if message.cumulative is None:
            return own
        total = micros(message.cumulative.cost_usd) or 0
        before, self._billed = total - own if self._billed is None else self._billed, total
        return max(0, total - before)

    def _assistant_message(self, message: wire.AssistantMessage) -> Seen:
        if not self._streamed:
            for block in message.content:
                if block.type == "text":
                    self.teller.whole_text(block.text)
        self.teller.block_ends()
        return _ASSISTANT_MESSAGE

    def _tool_call(self, message: wire.ToolCall) -> Seen:
        call = _call(message.id, message.name, message.args or {})
        self.teller.proposes(call)
        if self.teller.outcome is None:
            self._calls.append(call)
        return _TOOL_CALL

    def _turn_end(self, message: wire.TurnEnd) -> Seen:
        teller = self.teller
        if message.stop == "tool_use":
            teller.turn_ends("tool_use")
            self._begin_next()
        elif message.stop == "aborted":
            teller.cancelling = teller.cancelling or Cancelled()
            teller.turn_fails("cancelled", message.error or "aborted")
            self._calls.clear()
        elif message.stop == "error":
            found = _HTTP.search(message.error)
            status = int(found[1]) if found else None
            if found:
                teller.upstream(message.error, status=status)
            teller.turn_fails("model_error", message.error or "the model failed")
            self._error = message.error or "the model failed"
            self._calls.clear()
        else:
            if message.stop == "end" and not self._calls:
                teller.final()
            teller.turn_ends(_STOPS.get(message.stop, message.stop or "end_turn"))
            self._calls.clear()
        return _TURN_END

    def _begin_next(self) -> None:
        if self._calls:
            self.teller.tool_begins(self._calls[0])

    def _skip_calls(self) -> None:
        """Calls that the model asked for and that nobody made."""
        self._calls.clear()

    def _tool_progress(self, message: wire.ToolProgress) -> Seen:
        self._require(message.id)
        self.teller.tool_prints(message.id, message.text)
        return _TOOL_PROGRESS

    def _tool_result(self, message: wire.ToolResult) -> Seen:
        call = self._require(message.id)
        text = "\n".join(block.text for block in message.content if block.type == "text")
        self.teller.tool_ends(message.id, self._ending(call, text, is_error=message.is_error))
        if self._calls and self._calls[0].call_id == message.id:
            self._calls.popleft()
        self._begin_next()
        return _TOOL_RESULT

    def _require(self, call_id: str) -> ToolCall:
        """The call that a frame speaks of, at work: whoever speaks of it has begun it."""
        found = self.teller.tools.call(call_id)
        call = found or _call(call_id, "unknown", {})
        if not self.teller.tools.is_open(call_id):
            self.teller.tool_begins(call)
        return call

    def _ending(self, call: ToolCall, text: str, *, is_error: bool) -> ToolEnding:
        found = _EXIT.search(text, max(0, len(text) - _EXIT_MAX)) if call.kind == "shell" else None
        exit_code = int(found[1]) if found else None
        cancelled = self.teller.cancelling
        if is_error and cancelled is not None:
            return ToolEnding(
                outcome="cancelled",
                by=cancelled.by,
                message=cancelled.reason,
                signal="SIGKILL" if exit_code == -1 else None,
            )
        return ToolEnding(
            outcome="failed" if is_error else "completed",
            output=_printed(call, text) if found else text,
            exit_code=exit_code if exit_code is not None and exit_code >= 0 else None,
            signal="SIGKILL" if exit_code is not None and exit_code < 0 else None,
            duration_ms=round(float(found[2]) * 1000) if found else None,
            summary=f"exited with status {exit_code}" if found else "",
            truncated="... [truncated at" in text,
        )

    def _fault(self, message: wire.Error) -> Seen:
        self._error = message.message or "the agent failed"
        if self.teller.is_in_turn:
            self.teller.turn_fails("agent_error", self._error)
        return _ERROR

    def _done(self, _: wire.Done) -> Seen:
        self._is_busy = False
        cancelled, error = self.teller.cancelling, self._error
        if cancelled is not None:
            self.teller.leg_ends(cancelled)
        elif error:
            self.teller.leg_ends(_failure(error))
        else:
            self.teller.leg_ends(Finished(self.teller.words.said[:200]))
        return _DONE

    def _compacted(self, _: wire.CompactDone) -> Seen:
        return _COMPACT_DONE

    def _notified(self, _: wire.ExtNotify) -> Seen:
        return _EXT_NOTIFY

    def _displayed(self, _: wire.ExtDisplay) -> Seen:
        return _EXT_DISPLAY

    # Speaking.

    @property
    def ready(self) -> bool:
        """Whether the last prompt is over."""
        return not self._is_busy

    def hello(self) -> None:
        """Greet it; a token is needed only where one was set, and does no harm elsewhere."""
        greeting = {"type": "hello", "id": "hello"}
        if token := self.teller.telling.session.get("token"):
            greeting["token"] = token
        self._send(greeting)

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for something; not before the last prompt is done, for zot keeps no order among several."""
        self._sent += 1
        self._is_busy = True
        asked: dict[str, object] = {"type": "prompt", "id": str(self._sent), "message": text}
        if images:
            asked["images"] = [{"mime_type": image.mime, "data": image.base64} for image in images]
        self._send(asked)

    def answer(self, question_id: str, answer: Answer) -> None:
        """Nothing: zot never asks."""

    def cancel(self, by: str, reason: str) -> bool:
        """Abort; whatever comes of it, it was asked for."""
        self.teller.cancelling = Cancelled(by, reason)
        self._send({"type": "abort", "id": "abort"})
        return True

    def _send(self, message: dict[str, object] | dict[str, str]) -> None:
        self.teller.reply(_ENCODER.encode(message) + b"\n")


def _call(call_id: str, name: str, args: dict[str, object]) -> ToolCall:
    command = args.get("command")
    is_shell = name == "bash"
    return ToolCall(
        call_id=call_id,
        name=name,
        kind=_KINDS.get(name, "tool"),
        input=args,
        argv=["bash", "-c", command] if is_shell and isinstance(command, str) else None,
    )


def _printed(call: ToolCall, text: str) -> str:
    """What a command printed, without the frame that zot puts around it."""
    text = text[: text.rindex("\n\n[exit ")] if "\n\n[exit " in text else text
    return text.removeprefix(f"$ {call.input.get('command', '')}\n\n")


def _failure(error: str) -> Failed:
    if error.startswith("max steps"):
        return Failed("max_steps", error)
    return Failed("model_error" if _HTTP.search(error) else "agent_error", error)


_RESPONSE = Seen("response")
_REFUSED = Seen("response", (gp.ERROR,))
_USER = Seen("user_message", (gp.MESSAGE_UPDATE,))
_TURN_START = Seen("turn_start", (gp.TURN_START,))
_ASSISTANT_START = Seen("assistant_start", (gp.MESSAGE_START,))
_TEXT_DELTA = Seen("text_delta", (gp.MESSAGE_UPDATE,))
# The model begins to write a call here. This alone starts a tool in the pane: the later `tool_call` repeats it.
_TOOL_USE_START = Seen("tool_use_start", (gp.TOOL_START,))
_TOOL_USE_ARGS = Seen("tool_use_args", (gp.TOOL_UPDATE,))
_TOOL_USE_END = Seen("tool_use_end", (gp.TOOL_UPDATE,))
_USAGE = Seen("usage")
_ASSISTANT_MESSAGE = Seen("assistant_message", (gp.MESSAGE_END,))
_TOOL_CALL = Seen("tool_call")
_TURN_END = Seen("turn_end", (gp.TURN_END,))
_TOOL_PROGRESS = Seen("tool_progress", (gp.TOOL_UPDATE,))
_TOOL_RESULT = Seen("tool_result", (gp.TOOL_END,))
_ERROR = Seen("error", (gp.ERROR,))
_DONE = Seen("done", (gp.AGENT_END,))
_COMPACT_DONE = Seen("compact_done")
_EXT_NOTIFY = Seen("ext_notify")
_EXT_DISPLAY = Seen("ext_display")

_HEARD: dict[type, Callable[..., Seen]] = {
    wire.Response: ZotDialect._response,
    wire.UserMessage: ZotDialect._user_message,
    wire.TurnStart: ZotDialect._turn_start,
    wire.AssistantStart: ZotDialect._assistant_start,
    wire.TextDelta: ZotDialect._text_delta,
    wire.ToolUseStart: ZotDialect._tool_use_start,
    wire.ToolUseArgs: ZotDialect._tool_use_args,
    wire.ToolUseEnd: ZotDialect._tool_use_end,
    wire.Usage: ZotDialect._usage,
    wire.AssistantMessage: ZotDialect._assistant_message,
    wire.ToolCall: ZotDialect._tool_call,
    wire.TurnEnd: ZotDialect._turn_end,
    wire.ToolProgress: ZotDialect._tool_progress,
    wire.ToolResult: ZotDialect._tool_result,
    wire.Error: ZotDialect._fault,
    wire.Done: ZotDialect._done,
    wire.CompactDone: ZotDialect._compacted,
    wire.ExtNotify: ZotDialect._notified,
    wire.ExtDisplay: ZotDialect._displayed,
}
