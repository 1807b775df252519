"""Codex as a command, `codex exec --json`: one JSON object a line, told apart by `type`.

A turn is a whole prompt, however often the model is called for it. Texts come whole. Tokens are counted for the thread, so a
turn has used what was added since the last one. A word that it reconnects is not yet a failure.
"""

from collections.abc import Callable

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.codex import items
from runwire.agents.codex.faults import failure, plain, retry_of, status_of
from runwire.agents.codex.items import ExecItem
from runwire.agents.dialect import Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.hearing import hear
from runwire.agents.money import count
from runwire.agents.telling import Teller
from runwire.host import Finished


class Line(msgspec.Struct, tag_field="type"):
    """One line."""


class ThreadStarted(Line, tag="thread.started"):
    """The conversation has a name."""

    thread_id: str = ""


class TurnStarted(Line, tag="turn.started"):
    """A prompt is worked on."""


class Tokens(msgspec.Struct):
    """Tokens of a thread since it began; the cached ones are among the input."""

    input_tokens: int | float = 0
    cached_input_tokens: int | float = 0
    output_tokens: int | float = 0


class TurnCompleted(Line, tag="turn.completed"):
    """A prompt is done."""

    usage: Tokens | None = None


class TurnFailed(Line, tag="turn.failed"):
    """A prompt has failed."""

    error: items.Fault | None = None


class ItemStarted(Line, tag="item.started"):
    """Something begins."""

    item: ExecItem


class ItemUpdated(Line, tag="item.updated"):
    """Something goes on."""

    item: ExecItem


class ItemCompleted(Line, tag="item.completed"):
    """Something is done."""

    item: ExecItem


class Error(Line, tag="error"):
    """Something went wrong, perhaps not for good."""

    message: str = ""


_Message = ThreadStarted | TurnStarted | TurnCompleted | TurnFailed | ItemStarted | ItemUpdated | ItemCompleted | Error
_DECODER: "msgspec.json.Decoder[object]" = msgspec.json.Decoder(_Message)


class ExecDialect:
    """Understands `codex exec --json`."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._thread = ""
        self._used = Usage()
        self._error = ""

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        return hear(self, _DECODER, _HEARD, data, at_ns)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        self.teller.begin_frame(at_ns)
        if self.teller.outcome is None and self._error and self.teller.cancelling is None:
            self.teller.leg_ends(failure(self._error))
        return self.teller.end(end)

    def _thread_started(self, message: ThreadStarted) -> Seen:
        if message.thread_id != self._thread:
            self._thread, self._used = message.thread_id, Usage()
        return _THREAD_STARTED

    def _turn_started(self, _: TurnStarted) -> Seen:
        self._error = ""
        if self.teller.outcome is not None or not self.teller.begun:
            self.teller.leg_begins()
        self.teller.turn_begins()
        return _TURN_STARTED

    def _turn_completed(self, message: TurnCompleted) -> Seen:
        teller = self.teller
        if message.usage is not None and teller.outcome is None:
            teller.use(self._added(message.usage))
        if teller.words.said or teller.words.is_open:
            teller.final()
        teller.turn_ends("end_turn")
        teller.leg_ends(Finished(teller.words.said[:200]))
        return _TURN_COMPLETED

    def _added(self, tokens: Tokens) -> Usage:
        """What was used since the last time that it was told."""
        total = Usage(count(tokens.input_tokens), count(tokens.output_tokens), count(tokens.cached_input_tokens))
        before, self._used = self._used, total
        return since(before, total)

    def _turn_failed(self, message: TurnFailed) -> Seen:
        failed = failure(message.error.message if message.error is not None else self._error)
        self.teller.turn_fails(failed.code, failed.message)
        self.teller.leg_ends(failed)
        return _TURN_FAILED

    def _fault(self, message: Error) -> Seen:
        retry = retry_of(message.message)
        if retry is not None:
            status = status_of(retry.why)
            self.teller.upstream(plain(retry.why), status=status, retriable=True, attempt=retry.attempt, of=retry.of)
            return _RECONNECTING
        self._error = message.message or "the agent failed"
        self.teller.upstream(plain(self._error), status=status_of(self._error))
        return _ERROR

    def _item_started(self, message: ItemStarted) -> Seen:
        item = message.item
        if item.type not in items.TOOLS:
            return self._aside("item.started", item)
        self._begin(item)
        self._show(item)
        return Seen(f"item.started/{item.type}", (gp.TOOL_START,))

    def _item_updated(self, message: ItemUpdated) -> Seen:
        item = message.item
        if item.type not in items.TOOLS:
            return self._aside("item.updated", item)
        self._begin(item)
        self._show(item)
        return Seen(f"item.updated/{item.type}", (gp.TOOL_UPDATE,))

    def _item_completed(self, message: ItemCompleted) -> Seen:
        item, teller = message.item, self.teller
        if item.type == "agent_message":
            teller.whole_text(item.text or "")
            return _AGENT_MESSAGE
        if item.type == "reasoning":
            teller.whole_thought(item.text or "")
            return _REASONING
        if item.type not in items.TOOLS:
            return self._aside("item.completed", item)
        names = (gp.TOOL_END,) if teller.tools.is_open(item.id) else (gp.TOOL_START, gp.TOOL_END)
        self._begin(item)
        self._show(item)
        teller.tool_ends(item.id, items.ending_of(item))
        return Seen(f"item.completed/{item.type}", names)

    def _aside(self, stage: str, item: ExecItem) -> Seen:
        if item.type not in items.WORDS and item.type not in items.ASIDE:
            self.teller.unknown("item", item.type)
        return Seen(f"{stage}/{item.type}")

    def _begin(self, item: ExecItem) -> None:
        if self.teller.tools.is_open(item.id):
            return
        self.teller.tool_begins(items.call_of(item, item.id))

    def _show(self, item: ExecItem) -> None:
        if item.aggregated_output:
            self.teller.tool_shows(item.id, item.aggregated_output)
        if item.type in items.PLANS:
            self.teller.say(items.plan_of(item, item.id))


def since(before: Usage, total: Usage) -> Usage:
    """What was used between two counts; counting that began anew has used what it counts."""
    if total.input_tokens < before.input_tokens or total.output_tokens < before.output_tokens:
        return total
    return Usage(
        total.input_tokens - before.input_tokens,
        total.output_tokens - before.output_tokens,
        max(0, total.cached_input_tokens - before.cached_input_tokens),
    )


_THREAD_STARTED = Seen("thread.started")
_TURN_STARTED = Seen("turn.started", (gp.TURN_START,))
# The process may stay for a while, but it will do nothing more.
_TURN_COMPLETED = Seen("turn.completed", (gp.TURN_END, gp.AGENT_END))
_TURN_FAILED = Seen("turn.failed", (gp.TURN_END, gp.ERROR, gp.AGENT_END))
_AGENT_MESSAGE = Seen("item.completed/agent_message", (gp.MESSAGE_START, gp.MESSAGE_END))
_REASONING = Seen("item.completed/reasoning", (gp.MESSAGE_UPDATE,))
_RECONNECTING = Seen("error")
_ERROR = Seen("error", (gp.ERROR,))

_HEARD: dict[type, Callable[..., Seen]] = {
    ThreadStarted: ExecDialect._thread_started,
    TurnStarted: ExecDialect._turn_started,
    TurnCompleted: ExecDialect._turn_completed,
    TurnFailed: ExecDialect._turn_failed,
    ItemStarted: ExecDialect._item_started,
    ItemUpdated: ExecDialect._item_updated,
    ItemCompleted: ExecDialect._item_completed,
    Error: ExecDialect._fault,
}
