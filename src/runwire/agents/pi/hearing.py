"""What pi tells of its work, the same with `--mode json` and `--mode rpc`, from 0.73 on.

A turn ends after its tools have run. An error has no event of its own: it is how a message ended, and whether pi tries again is
said later, or only by its doing so. Work on a prompt is over when pi says that it has settled; before 0.87 it does not say so, and
the end of the agent is the end unless something follows.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import msgspec

from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Body, Cancelled, Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.money import count, micros
from runwire.agents.pi import lines as wire
from runwire.agents.pi import shown
from runwire.agents.pi.asking import Asking
from runwire.agents.pi.faults import is_abort, is_called_off, is_tried_again, may_pass, status_of
from runwire.agents.pi.tooling import Printing, call_of, ending_of, printed, shown_so_far, text_of
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, line
from runwire.host import Failed, Finished

_STOPS = {"stop": "end_turn", "length": "max_tokens", "toolUse": "tool_use"}
_BLOCK_ENDS = frozenset({"text_end", "thinking_end", "toolcall_start"})

_DECODER = msgspec.json.Decoder(wire.Message)
_ENCODER = msgspec.json.Encoder()

Hear = Callable[..., Seen]


class Hearing:
    """Understands what pi tells of its work."""

    _heard: ClassVar[Mapping[type, Hear]]

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._is_fresh = True
        """Whether no turn has begun since the last prompt."""
        self._is_opening = False
        """A turn was announced that is not told yet: what it answers, or who, is not known."""
        self._streamed: set[int] = set()
        self._printing: dict[str, Printing] = {}
        self._asking = Asking(self.teller)
        self._fault = ""
        """Why the turn at hand failed, while nobody knows whether it will be tried again."""
        self._stop, self._error = "", ""
        self._attempt, self._attempts = 0, 0
        self._is_working = False
        self._is_resting = False
        """Whether it has said that it will go on, and has not yet."""
        self._settles = False
        """Whether this pi says when it has settled."""
        self._is_shown_ended = False
        self._is_rejected = ""

    # Hearing.

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        teller = self.teller
        teller.begin_frame(at_ns)
        message = read(_DECODER, data)
        if isinstance(message, Unreadable):
            teller.unparsed(data, message.why)
            return Seen(message.raw_type)
        seen = self._heard[type(message)](self, message)
        if teller.is_late and type(message) is wire.MessageUpdate:
            # Only what is new in a piece is kept: older versions repeat everything before it.
            data = _ENCODER.encode(message)
        return Seen(seen.raw_type) if teller.keep(data) else seen

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and not self._is_working and self._stop:
            self._settle()
        elif teller.outcome is None and self._is_rejected and not teller.turns:
            teller.leg_ends(Failed("rejected", self._is_rejected))
        self._open_turn()
        self._turn_failed(will_retry=False)
        return teller.end(end)

    # Work on a prompt.

    def _leg(self) -> None:
        self.teller.leg_begins()
        self._stop = self._error = self._fault = ""
        self._attempt = self._attempts = 0
        self._is_resting = False
        self._is_fresh, self._is_opening = True, False
        self._printing.clear()
        self._asking.called = None

    def _agent_start(self, _: wire.AgentStart) -> Seen:
        if self.teller.outcome is not None or not self.teller.begun:
            self._leg()
        self._turn_failed(will_retry=True)
        self._is_working, self._is_resting = True, False
        self._is_shown_ended = False
        return shown.AGENT_START

    def _agent_end(self, message: wire.AgentEnd) -> Seen:
        self._is_working = False
        self._settles = message.will_retry is not None
        self._asking.passed()
        if message.will_retry is True:
            return shown.AGENT_RESTS
        if message.will_retry is None and self._fault:
            return self._agent_failed()
        self._turn_failed(will_retry=False)
        if message.will_retry is None:
            self._settle()
        self._is_shown_ended = True
        return shown.AGENT_END

    def _agent_failed(self) -> Seen:
        """It ended with an error and does not say whether it tries again: what follows shows it."""
        if is_tried_again(self._fault) and (not self._attempts or self._attempt < self._attempts):
            return shown.AGENT_RESTS
        self._is_shown_ended = True
        return shown.AGENT_END

    def _agent_settled(self, message: wire.AgentSettled) -> Seen:
        self._is_working = False
        if message.aborted and self.teller.outcome is None and self.teller.cancelling is None:
            self.teller.cancelling = Cancelled()
        self._settle()
        is_known, self._is_shown_ended = self._is_shown_ended, True
        return shown.SETTLED if is_known else shown.SETTLED_AS_END

    def _settle(self) -> None:
        """The work is over."""
        teller = self.teller
        if teller.outcome is not None:
            return
        self._open_turn()
        self._turn_failed(will_retry=False)
        cancelled = teller.cancelling
        if cancelled is not None:
            teller.leg_ends(cancelled)
        elif self._stop == "error":
            teller.leg_ends(Failed("model_error", self._error, retriable=may_pass(self._error)))
        else:
            teller.leg_ends(Finished(teller.words.said[:200]))

    def _retry_start(self, message: wire.RetryStart) -> Seen:
        self._attempt, self._attempts = message.attempt, message.max_attempts
        self._is_resting = True
        self._turn_failed(will_retry=True)
        return shown.RETRY_START

    def _retry_end(self, message: wire.RetryEnd) -> Seen:
        self._is_resting = False
        if not message.success:
            if is_called_off(message.final_error) and self.teller.outcome is None:
                self.teller.cancelling = self.teller.cancelling or Cancelled()
            self._gave_up()
        return shown.RETRY_END

    def _gave_up(self) -> None:
        """Nothing more is tried; a pi that does not say when it has settled says it so."""
        if not self._is_working and not self._is_resting and not self._settles and self._stop == "error":
            self._settle()

    def _compaction_start(self, message: wire.CompactionStart) -> Seen:
        self._is_resting = message.reason == "overflow"
        self._turn_failed(will_retry=self._is_resting)
        return shown.COMPACTION_START

    def _compaction_end(self, message: wire.CompactionEnd) -> Seen:
        self._is_resting = message.will_retry
        if not message.will_retry:
            self._gave_up()
        return shown.COMPACTION_END

    # Turns.

    def _turn_start(self, _: wire.TurnStart) -> Seen:
        self._turn_failed(will_retry=False)
        self._asking.passed()
        self._open_turn()
        fresh, self._is_fresh = self._is_fresh, False
        if self.teller.outcome is None and (fresh or self.teller.model is None):
            self._is_opening = True
        else:
            self.teller.turn_begins()
        return shown.TURN_START

    def _open_turn(self) -> None:
        if self._is_opening:
            self._is_opening = False
            self.teller.turn_begins()

    def _turn_end(self, message: wire.TurnEnd) -> Seen:
        self._open_turn()
        stop, error = message.message.stop_reason or "", message.message.error_message or ""
        self._stop, self._error = stop, error or "the model failed"
        if stop == "aborted" or (stop == "error" and is_abort(error)):
            if self.teller.outcome is None:
                self.teller.cancelling = self.teller.cancelling or Cancelled()
            self.teller.turn_fails("cancelled", error or "aborted")
        elif stop == "error":
            self._fault = self._error
        else:
            self.teller.turn_ends(_STOPS.get(stop, stop or "end_turn"))
        return shown.TURN_END

    def _turn_failed(self, *, will_retry: bool) -> None:
        """Tell that the turn has failed, now that it is known what comes of it."""
        fault, self._fault = self._fault, ""
        if not fault:
            return
        number = self._attempt if will_retry and self._attempt else self._attempt + 1
        self.teller.upstream(
            fault,
            status=status_of(fault),
            retriable=will_retry or may_pass(fault),
            attempt=number,
            of=max(number, self._attempts + 1),
        )
        self.teller.turn_fails("model_error", fault, will_retry=will_retry)

    # Messages.

    def _message_start(self, message: wire.MessageStart) -> Seen:
        opening = message.message
        if opening.role == "assistant":
            self._asking.passed()
            self._streamed.clear()
            teller = self.teller
            teller.model, teller.provider = opening.model or teller.model, opening.provider or teller.provider
            self._open_turn()
            return shown.MESSAGE_START
        if opening.role == "user":
            return shown.MESSAGE_START
        if opening.role not in wire.ROLES:
            self.teller.unknown("role", opening.role)
        return shown.MESSAGE_START_ASIDE

    def _message_update(self, message: wire.MessageUpdate) -> Seen:
        piece = message.assistant_message_event
        kind = piece.type
        if kind == "text_delta":
            self._streamed.add(piece.content_index)
            self.teller.text(piece.delta, piece.content_index)
        elif kind == "thinking_delta":
            self._streamed.add(piece.content_index)
            self.teller.thought(piece.delta, piece.content_index)
        elif kind in _BLOCK_ENDS:
            self.teller.block_ends()
        elif kind not in wire.PIECES:
            self.teller.unknown("piece of a message", kind)
            return shown.MESSAGE_UPDATE_ASIDE
        return shown.MESSAGE_UPDATE

    def _message_end(self, message: wire.MessageEnd) -> Seen:
        role, content = message.message.role, message.message.content
        if isinstance(content, list):
            self._look(content)
        if role == "assistant":
            return self._answered(message.message)
        if role == "user":
            self.teller.user(_text(content))
            if self.teller.model is not None or self.teller.telling.driven:
                self._open_turn()
            return shown.MESSAGE_END
        if role not in wire.ROLES:
            self.teller.unknown("role", role)
        return shown.MESSAGE_END_ASIDE

    def _look(self, blocks: Sequence[wire.Block | wire.Part]) -> None:
        """Notice what is of no known kind."""
        for block in blocks:
            if block.type not in wire.BLOCKS:
                self.teller.unknown("block", block.type)

    def _answered(self, message: wire.Closing) -> Seen:
        teller = self.teller
        self._open_turn()
        blocks = message.content if isinstance(message.content, list) else [wire.Block("text", message.content)]
        for index, block in enumerate(blocks):
            if index in self._streamed:
                continue
            if block.type == "text" and block.text:
                teller.whole_text(block.text)
            elif block.type == "thinking":
                teller.whole_thought(block.thinking)
        teller.block_ends()
        stop = message.stop_reason or ""
        calls = [block for block in blocks if block.type == "toolCall"]
        if stop not in {"error", "aborted"}:
            for block in calls:
                teller.proposes(call_of(block.id, block.name, block.arguments))
        self._use(message.usage)
        if stop == "stop" and not calls:
            teller.final(_text(blocks))
        if stop == "error" and teller.cancelling is None and not is_abort(message.error_message or ""):
            return shown.MESSAGE_FAILED
        return shown.MESSAGE_END

    def _use(self, usage: wire.Usage | None) -> None:
        if usage is None:
            return
        cached = count(usage.cache_read)
        used = Usage(
            # pi counts what was read from a cache, or written to one, beside the input.
            input_tokens=count(usage.input) + cached + count(usage.cache_write),
            output_tokens=count(usage.output),
            cached_input_tokens=cached,
            cost_micros_usd=micros(usage.cost.total) if usage.cost is not None else None,
        )
        if used.input_tokens or used.output_tokens or used.cost_micros_usd:
            self.teller.use(used)

    # Tools.

    def _tool_start(self, message: wire.ToolStart) -> Seen:
        self._open_turn()
        call = call_of(message.tool_call_id, message.tool_name, message.args)
        self.teller.tool_begins(call)
        self._asking.called = call.call_id
        return shown.TOOL_START

    def _tool_update(self, message: wire.ToolUpdate) -> Seen:
        call = self._require(message.tool_call_id, message.tool_name)
        self._asking.decided(call.call_id, allowed=True)
        if call.kind == "shell":
            self._print(call.call_id, *shown_so_far(message.partial_result))
        return shown.TOOL_UPDATE

    def _tool_end(self, message: wire.ToolEnd) -> Seen:
        call = self._require(message.tool_call_id, message.tool_name)
        allowed = not message.is_error
        self._asking.decided(call.call_id, allowed=allowed, comment="" if allowed else line(text_of(message.result)))
        if call.kind == "shell":
            self._print(call.call_id, *printed(message))
        printing = self._printing.pop(call.call_id, None)
        content = message.result.content if message.result is not None else []
        self._look(content)
        for block in content:
            if block.type == "image" and block.data:
                self.teller.say(
                    Body(tool_call_id=call.call_id, mime=block.mime_type, base64=block.data, summary="a picture")
                )
        left_out = printing is not None and printing.has_left_out
        self.teller.tool_ends(call.call_id, ending_of(call, message, self.teller.cancelling, left_out=left_out))
        return shown.TOOL_END

    def _require(self, call_id: str, name: str) -> ToolCall:
        """The call that a line speaks of, at work: whoever speaks of it has begun it."""
        call = self.teller.tools.call(call_id) or call_of(call_id, name, None)
        if not self.teller.tools.is_open(call_id):
            self.teller.tool_begins(call)
        return call

    def _print(self, call_id: str, text: str, total_bytes: int | None) -> None:
        if not text or self.teller.outcome is not None:
            return
        printing = self._printing.setdefault(call_id, Printing())
        skipped, new = printing.fresh(text, total_bytes)
        self.teller.tools.skip(call_id, skipped)
        self.teller.tool_prints(call_id, new)

    def _aside(self, message: object) -> Seen:
        """A line that changes nothing."""
        return shown.ASIDE[type(message)]


def _text(content: str | list[wire.Block]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if block.type == "text")


HEARD: Mapping[type, Hear] = MappingProxyType(
    {
        **dict.fromkeys(shown.ASIDE, Hearing._aside),
        wire.AgentStart: Hearing._agent_start,
        wire.AgentEnd: Hearing._agent_end,
        wire.AgentSettled: Hearing._agent_settled,
        wire.TurnStart: Hearing._turn_start,
        wire.TurnEnd: Hearing._turn_end,
        wire.MessageStart: Hearing._message_start,
        wire.MessageUpdate: Hearing._message_update,
        wire.MessageEnd: Hearing._message_end,
        wire.ToolStart: Hearing._tool_start,
        wire.ToolUpdate: Hearing._tool_update,
        wire.ToolEnd: Hearing._tool_end,
        wire.RetryStart: Hearing._retry_start,
        wire.RetryEnd: Hearing._retry_end,
        wire.CompactionStart: Hearing._compaction_start,
        wire.CompactionEnd: Hearing._compaction_end,
    }
)
