"""Codex as a server, `codex app-server`: a conversation over JSON-RPC, one object a line.

What a command prints comes in pieces, but not all of them; the rest is in the output at its end. A decision is not told:
what follows shows it. A turn that is interrupted leaves its items open. Threads of helpers are not ours, and end nothing.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.codex import frames as wire
from runwire.agents.codex import items
from runwire.agents.codex.exec import since
from runwire.agents.codex.faults import failure, plain, retry_of, status_of
from runwire.agents.codex.holding import Holding
from runwire.agents.dialect import Cancelled, Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.money import count
from runwire.agents.telling import Teller
from runwire.host import Failed, Finished

_FRAME = msgspec.json.Decoder(wire.Frame)
_THREAD = msgspec.json.Decoder(wire.ThreadResult)


class AppServerDialect:
    """Understands `codex app-server`."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self.holding = Holding(self.teller)
        self.thread = telling.session.get("thread", "")
        self.turn = ""
        self._never_asks = False
        self._used: Usage | None = None
        self._printed: dict[str, list[str]] = {}
        self._streamed: set[str] = set()
        self._rejected = ""
        self._is_opening = False

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        teller = self.teller
        teller.begin_frame(at_ns)
        frame = read(_FRAME, data, tag="method")
        if isinstance(frame, Unreadable):
            teller.unparsed(data, frame.why)
            return Seen(frame.raw_type)
        if frame.method is None:
            return self._response(frame, data)
        known = _HEARD.get(frame.method)
        if known is None:
            return self._unknown(frame, frame.method, data)
        decoder, hear = known
        try:
            params = decoder.decode(frame.params)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
            teller.unparsed(data, str(wrong))
            return Seen(frame.method)
        names = hear(self, params) if frame.id is None else self._asked(frame.method, frame.id, params)
        return Seen(frame.method, () if teller.keep(data) else names)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and self._rejected and not teller.turns:
            teller.leg_ends(Failed("rejected", self._rejected))
        self._open_turn()
        self.holding.forget()
        return teller.end(end)

    def responded(self, frame: wire.Frame) -> None:
        """A request was answered. Who only watches does not know which."""
        if frame.error is not None:
            self._rejected = frame.error.message or "a request was refused"
        else:
            self.threaded(frame.result)

    def threaded(self, result: msgspec.Raw) -> None:
        """A request was answered, perhaps with a conversation."""
        try:
            told = _THREAD.decode(result)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if told.thread is None or not told.thread.id:
            return
        self._take(told.thread)
        self._never_asks = told.approval_policy == "never"
        self.teller.model = told.model or self.teller.model
        self.teller.provider = told.model_provider or self.teller.provider

    def turn_over(self) -> None:
        """The turn is over. Who only watches has nothing to do about it."""

    def unasked(self, request_id: wire.RequestId) -> None:
        """The server asked for something that nobody here can do. Who only watches leaves it to others."""

    def _response(self, frame: wire.Frame, data: bytes) -> Seen:
        if frame.id is None or (not frame.result and frame.error is None):
            self.teller.unparsed(data, "neither a notification, nor a request, nor an answer")
            return _RESPONSE
        self.responded(frame)
        return _REFUSED if frame.error is not None and not self.teller.is_in_turn else _RESPONSE

    def _unknown(self, frame: wire.Frame, method: str, data: bytes) -> Seen:
        if frame.id is not None:
            self.unasked(frame.id)
            self.teller.unknown("request", method)
        elif method not in wire.QUIET and not method.startswith(wire.QUIET_KINDS):
            self.teller.unknown("notification", method)
        self.teller.keep(data)
        return Seen(method)

    def _asked(self, method: str, request_id: wire.RequestId, params: object) -> tuple[str, ...]:
        if isinstance(params, wire.ApprovalAsked):
            self.holding.ask(request_id, params, is_patch=method == _PATCH_APPROVAL)
        else:
            self.unasked(request_id)
        return ()

    # Threads and turns.

    def _take(self, thread: wire.Thread) -> None:
        if thread.parent_thread_id is not None or (self.thread and self.teller.is_in_turn):
            return
        if thread.id != self.thread:
            self.thread = thread.id
            self._used = None
        self.teller.model = thread.model or self.teller.model
        self.teller.provider = thread.model_provider or self.teller.provider

    def _is_ours(self, thread: str) -> bool:
        if not self.thread:
            self.thread = thread
        return thread == self.thread or not thread

    def _thread_started(self, told: wire.ThreadStarted) -> tuple[str, ...]:
        self._take(told.thread)
        return ()

    def _status_changed(self, told: wire.StatusChanged) -> tuple[str, ...]:
        # A thread that waits for no decision has made those that it waited for.
        if self._is_ours(told.thread_id) and told.status.type == "active" and not told.status.active_flags:
            self.holding.go_on(waits=False)
        return ()

    def _turn_started(self, told: wire.TurnChanged) -> tuple[str, ...]:
        if not self._is_ours(told.thread_id):
            return ()
        if self.teller.outcome is not None or not self.teller.begun:
            self.teller.leg_begins()
        self.turn = told.turn.id
        self._streamed.clear()
        self._printed.clear()
        self.holding.forget()
        # The prompt is told first of all that a turn has, and stands before it.
        self._is_opening = not self.teller.is_in_turn
        if not self._is_opening:
            self.teller.turn_begins()
        return (gp.TURN_START,)

    def _open_turn(self) -> None:
        if self._is_opening and not self.teller.is_in_turn:
            self.teller.turn_begins()
        self._is_opening = False

    def _turn_completed(self, told: wire.TurnChanged) -> tuple[str, ...]:
        if not self._is_ours(told.thread_id):
            return ()
        teller, error = self.teller, told.turn.error
        self._open_turn()
        self.turn = ""
        self.turn_over()
        self._settle()
        match told.turn.status:
            case "failed":
                failed = failure(error.message, _status(error)) if error is not None else failure("")
                teller.turn_fails(failed.code, failed.message)
                teller.leg_ends(failed)
                return (gp.TURN_END, gp.ERROR, gp.AGENT_END)
            case "interrupted":
                teller.leg_ends(teller.cancelling or Cancelled())
            case "completed" | "":
                if teller.words.said or teller.words.is_open:
                    teller.final()
                teller.turn_ends("end_turn")
                teller.leg_ends(Finished(teller.words.said[:200]))
            case status:
                teller.unknown("end of a turn", status)
                teller.leg_ends(Failed("agent_error", f"the turn ended as {status[:64]!r}"))
                return (gp.TURN_END, gp.ERROR, gp.AGENT_END)
        return (gp.TURN_END, gp.AGENT_END)

    def _settle(self) -> None:
        """The turn is over: what was asked and is still open was never allowed."""
        for question_id in self.teller.questions.open:
            self.teller.answered(question_id, allowed=False, by="system", comment="the turn ended")
        self.holding.forget()

    def _usage(self, told: wire.UsageUpdated) -> tuple[str, ...]:
        if self._is_ours(told.thread_id) and self.teller.outcome is None:
            self._open_turn()
            self.holding.go_on(waits=True)
            total, last = _counted(told.token_usage.total), _counted(told.token_usage.last)
            # Of a thread that goes on from an earlier time only the last call is new.
            before = self._used if self._used is not None else since(last, total)
            self._used = total
            added = since(before, total)
            if added != Usage():
                self.teller.use(added)
        return ()

    def _fault(self, told: wire.ErrorTold) -> tuple[str, ...]:
        error, ours = told.error, self._is_ours(told.thread_id)
        if not ours:
            return ()
        self._open_turn()
        why = error.additional_details or error.message
        retry = retry_of(error.message)
        self.teller.upstream(
            plain(why),
            status=_status(error),
            retriable=told.will_retry,
            attempt=retry.attempt if retry else 1,
            of=retry.of if retry else 1,
        )
        return () if told.will_retry else (gp.ERROR,)

    def _resolved(self, told: wire.Resolved) -> tuple[str, ...]:
        self.holding.resolved(told.request_id)
        return ()

    def _approval(self, _: wire.ApprovalAsked) -> tuple[str, ...]:
        return ()

    # Items.

    def _item_started(self, told: wire.ItemChanged) -> tuple[str, ...]:
        item = told.item
        if not self._is_ours(told.thread_id):
            return ()
        self.holding.go_on(waits=True)
        if item.type == "userMessage":
            self.teller.user(_said(item.content))
        self._open_turn()
        if item.type == "agentMessage":
            return (gp.MESSAGE_START,)
        if item.type in items.TOOLS:
            if self._may_be_asked(item):
                self.holding.hold(item)
            else:
                self.holding.begin(item)
            return (gp.TOOL_START,)
        self._aside(item)
        return ()

    def _aside(self, item: items.AppItem) -> None:
        if item.type not in items.WORDS and item.type not in items.ASIDE:
            self.teller.unknown("item", item.type)

    def _may_be_asked(self, item: items.AppItem) -> bool:
        asks = item.type in items.CHANGES or (item.type in items.COMMANDS and item.process_id is None)
        return asks and not self._never_asks

    def _item_completed(self, told: wire.ItemChanged) -> tuple[str, ...]:
        item, teller = told.item, self.teller
        if not self._is_ours(told.thread_id):
            return ()
        if item.type == "agentMessage":
            if item.id in self._streamed:
                teller.block_ends()
            else:
                teller.whole_text(item.text or "")
            return (gp.MESSAGE_END,)
        if item.type == "reasoning":
            if item.id in self._streamed:
                teller.block_ends()
            else:
                teller.whole_thought(_said(item.summary) or _said(item.content))
            return (gp.MESSAGE_UPDATE,)
        if item.type not in items.TOOLS:
            self._aside(item)
            return ()
        self._tool_ended(item)
        return (gp.TOOL_END,)

    def _tool_ended(self, item: items.AppItem) -> None:
        told = self._printed.pop(item.id, [])
        if item.status == "declined" and self.holding.refuse(item, "it was declined"):
            return
        call_id = self.holding.begin(item)
        if told and item.aggregated_output:
            self.teller.tool_prints(call_id, items.missing(told, item.aggregated_output))
        self.teller.tool_ends(call_id, items.ending_of(item))

    def _text(self, told: wire.Delta) -> tuple[str, ...]:
        if self._is_ours(told.thread_id):
            self._streamed.add(told.item_id)
            self.teller.text(told.delta, told.item_id)
            return _UPDATES
        return ()

    def _thought(self, told: wire.Delta) -> tuple[str, ...]:
        if self._is_ours(told.thread_id):
            self._streamed.add(told.item_id)
            self.teller.thought(told.delta, f"{told.item_id}/{told.summary_index}")
            return _UPDATES
        return ()

    def _output(self, told: wire.Delta) -> tuple[str, ...]:
        if not self._is_ours(told.thread_id):
            return ()
        self.holding.release(told.item_id)
        call_id = self.holding.call_id(told.item_id)
        # What comes after the end of the command was in its output already.
        if self.teller.tools.is_open(call_id):
            self._printed.setdefault(told.item_id, []).append(told.delta)
            self.teller.tool_prints(call_id, told.delta)
        return (gp.TOOL_UPDATE,)


def _counted(tokens: wire.Tokens) -> Usage:
    return Usage(count(tokens.input_tokens), count(tokens.output_tokens), count(tokens.cached_input_tokens))


def _status(error: wire.ErrorInfo) -> int | None:
    """The HTTP status that an error carries, or names."""
    info = error.codex_error_info
    if isinstance(info, dict):
        for inner in info.values():
            status = inner.get("httpStatusCode") if isinstance(inner, dict) else None
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599:
                return status
    return status_of(error.additional_details or error.message)


def _said(content: list[object]) -> str:
    """The text of a message or of a piece of reasoning."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


_RESPONSE = Seen("response")
_REFUSED = Seen("response", (gp.ERROR,))
_UPDATES = (gp.MESSAGE_UPDATE,)
_PATCH_APPROVAL = "item/fileChange/requestApproval"

_HEARD: dict[str, tuple["msgspec.json.Decoder[Any]", Callable[..., tuple[str, ...]]]] = {
    "thread/started": (msgspec.json.Decoder(wire.ThreadStarted), AppServerDialect._thread_started),
    "thread/status/changed": (msgspec.json.Decoder(wire.StatusChanged), AppServerDialect._status_changed),
    "thread/tokenUsage/updated": (msgspec.json.Decoder(wire.UsageUpdated), AppServerDialect._usage),
    "turn/started": (msgspec.json.Decoder(wire.TurnChanged), AppServerDialect._turn_started),
    "turn/completed": (msgspec.json.Decoder(wire.TurnChanged), AppServerDialect._turn_completed),
    "item/started": (msgspec.json.Decoder(wire.ItemChanged), AppServerDialect._item_started),
    "item/completed": (msgspec.json.Decoder(wire.ItemChanged), AppServerDialect._item_completed),
    "item/agentMessage/delta": (msgspec.json.Decoder(wire.Delta), AppServerDialect._text),
    "item/reasoning/summaryTextDelta": (msgspec.json.Decoder(wire.Delta), AppServerDialect._thought),
    "item/reasoning/textDelta": (msgspec.json.Decoder(wire.Delta), AppServerDialect._thought),
    "item/commandExecution/outputDelta": (msgspec.json.Decoder(wire.Delta), AppServerDialect._output),
    "item/commandExecution/requestApproval": (msgspec.json.Decoder(wire.ApprovalAsked), AppServerDialect._approval),
    _PATCH_APPROVAL: (msgspec.json.Decoder(wire.ApprovalAsked), AppServerDialect._approval),
    "serverRequest/resolved": (msgspec.json.Decoder(wire.Resolved), AppServerDialect._resolved),
    "error": (msgspec.json.Decoder(wire.ErrorTold), AppServerDialect._fault),
}
