"""opencode as a server, `opencode serve`: what it tells at `/event`, of all of its sessions at once.

Only one session is ours: the first that is nobody's helper, or the one that was named. It is over when it is first idle;
what is told of it later was known before, or came too late. A tool shows all of its output again and again.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Cancelled, Outcome, Seen, StreamEnd, Telling
from runwire.agents.kept import no_such
from runwire.agents.money import count
from runwire.agents.opencode import frames as wire
from runwire.agents.opencode import parts
from runwire.agents.opencode.asking import choice, permission
from runwire.agents.opencode.parts import Fault, Part
from runwire.agents.opencode.steps import Steps
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall
from runwire.host import Finished

_Names = tuple[str, ...]
_FRAME = msgspec.json.Decoder(wire.Frame)
_ABORTED = "MessageAbortedError"


class ServeDialect:
    """Understands the events of `opencode serve`. `session` may name the `session` that is ours."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self.session = telling.session.get("session", "")
        self._steps = Steps(self.teller)
        self._helpers: set[str] = set()
        self._users: set[str] = set()
        self._thoughts: set[str] = set()
        self._streamed: set[str] = set()
        self._done: set[str] = set()
        self._held: dict[str, ToolCall] = {}
        self._error: Fault | None = None

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - the frames name themselves
        """Take one frame."""
        teller = self.teller
        teller.begin_frame(at_ns)
        frame = read(_FRAME, data)
        if isinstance(frame, Unreadable):
            teller.unparsed(data, frame.why)
            return Seen(frame.raw_type)
        known = _HEARD.get(frame.type)
        if known is None:
            if not frame.type.startswith(_QUIET):
                teller.unparsed(data, no_such("event", frame.type))
            return Seen(frame.type)
        decoder, hear = known
        try:
            properties = decoder.decode(frame.properties)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
            teller.unparsed(data, str(wrong))
            return Seen(frame.type)
        names = hear(self, properties)
        return Seen(frame.type, () if teller.keep(data) else names)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and self._error is not None and teller.cancelling is None:
            teller.leg_ends(self._error.failure())
        return teller.end(end)

    # Sessions.

    def _is_ours(self, session: str) -> bool:
        if not self.session and session not in self._helpers:
            self.session = session
        return session == self.session

    def _is_family(self, session: str) -> bool:
        return self._is_ours(session) or session in self._helpers

    def _session_changed(self, told: wire.SessionChanged) -> _Names:
        session, parent = told.info.id or told.session_id, told.info.parent_id
        if parent is None:
            self._is_ours(session)
            return ()
        if session == self.session and not self.teller.telling.session.get("session"):
            # It was taken for ours before it was known whose helper it is.
            self.session = parent
        if parent == self.session or parent in self._helpers or not self.session:
            self._helpers.add(session)
        return ()

    def _status_changed(self, told: wire.StatusChanged) -> _Names:
        if not self._is_ours(told.session_id):
            return ()
        if told.status.type not in {"busy", "idle", "retry"}:
            self.teller.unknown("status of a session", told.status.type)
        elif told.status.type == "retry":
            attempt = count(told.status.attempt)
            # There is no last attempt: it goes on for ever.
            self.teller.upstream(told.status.message, retriable=True, attempt=attempt, of=attempt + 1)
        return ()

    def _session_error(self, told: wire.SessionError) -> _Names:
        teller = self.teller
        if told.session_id and not self._is_ours(told.session_id):
            return ()
        if told.error.name == _ABORTED:
            if teller.outcome is None:
                teller.cancelling = teller.cancelling or Cancelled()
            return ()
        teller.upstream(told.error.message, status=told.error.status, retriable=told.error.is_passing)
        if teller.outcome is None:
            teller.begun, self._error = True, told.error
        return (gp.ERROR,)

    def _idle(self, told: wire.Quiet) -> _Names:
        teller = self.teller
        if not self._is_ours(told.session_id):
            return ()
        self._held.clear()
        # A session may be idle before it was asked for anything, and says twice that it is.
        if not teller.begun or teller.outcome is not None:
            return ()
        if teller.cancelling is not None:
            teller.leg_ends(teller.cancelling)
        elif self._error is not None:
            teller.leg_ends(self._error.failure())
        else:
            teller.leg_ends(Finished(teller.words.said[:200]))
        return (gp.AGENT_END,)

    # Messages.

    def _message_updated(self, told: wire.MessageUpdated) -> _Names:
        info = told.info
        if not self._is_ours(told.session_id or info.session_id):
            return ()
        if info.role == "user" and info.id not in self._users:
            self._users.add(info.id)
            self._leg()
        elif info.role == "assistant" and self.teller.outcome is None:
            self.teller.model = info.model_id or self.teller.model
            self.teller.provider = info.provider_id or self.teller.provider
        elif info.role not in {"user", "assistant"}:
            self.teller.unknown("role", info.role)
        return ()

    def _leg(self) -> None:
        """Another prompt is worked on; or one more beside that which is."""
        if self.teller.outcome is None and self.teller.begun:
            return
        self.teller.leg_begins()
        self._error = None
        for known in (self._thoughts, self._streamed, self._done, self._held):
            known.clear()

    def _part_updated(self, told: wire.PartUpdated) -> _Names:
        part = told.part
        if not self._is_ours(told.session_id or part.session_id):
            return ()
        if part.message_id in self._users:
            if part.type == "text" and not part.synthetic and self._first(part):
                self.teller.user(part.text)
            return ()
        self._go_on(part)
        hear = _PARTS.get(part.type)
        if hear is not None:
            return hear(self, part)
        if part.type not in parts.QUIET:
            self.teller.unknown("part", part.type)
        return ()

    def _first(self, part: Part) -> bool:
        """Whether this is the first time that the end of a part is told."""
        if part.id in self._done:
            return False
        self._done.add(part.id)
        return True

    def _step_start(self, part: Part) -> _Names:
        if not self._first(part):
            return ()
        self._steps.begin()
        return (gp.TURN_START,)

    def _step_finish(self, part: Part) -> _Names:
        if not self._first(part):
            return ()
        self._steps.finish(part)
        return (gp.TURN_END,)

    def _text(self, part: Part) -> _Names:
        if part.time is None or part.time.end is None:
            return () if part.text else (gp.MESSAGE_START,)
        if not self._first(part):
            return ()
        self._steps.said()
        if part.id in self._streamed:
            self.teller.block_ends()
        else:
            self.teller.whole_text(part.text)
        return (gp.MESSAGE_END,)

    def _reasoning(self, part: Part) -> _Names:
        self._thoughts.add(part.id)
        if part.time is None or part.time.end is None or not self._first(part):
            return ()
        if part.id in self._streamed:
            self.teller.block_ends()
        else:
            self.teller.whole_thought(part.text)
        return (gp.MESSAGE_UPDATE,)

    def _delta(self, told: wire.PartDelta) -> _Names:
        if not self._is_ours(told.session_id):
            return ()
        if told.field != "text":
            self.teller.unknown("field of a part", told.field)
            return ()
        self._streamed.add(told.part_id)
        if told.part_id in self._thoughts:
            self.teller.thought(told.delta, told.part_id)
        else:
            self._steps.said()
            self.teller.text(told.delta, told.part_id)
        return _UPDATES

    # Tools.

    def _tool(self, part: Part) -> _Names:
        status = parts.status_of(part)
        if status == "running" and part.id not in self._done:
            return self._running(part, self._steps.call_id(part.call_id))
        if status in parts.ENDED and self._first(part):
            self._held.pop(part.call_id, None)
            self._steps.tool(part)
            return (gp.TOOL_END,)
        if status not in {"pending", "running", *parts.ENDED}:
            self.teller.unknown("status of a call", status)
        return ()

    def _running(self, part: Part, call_id: str) -> _Names:
        if self.teller.tools.is_open(call_id):
            self._steps.show(part, call_id)
            return (gp.TOOL_UPDATE,)
        call = parts.call_of(part, call_id)
        is_first = part.call_id not in self._held
        self.teller.proposes(call)
        if not self.teller.is_late:
            # Whether it may be done is asked next, if it is asked.
            self._held[part.call_id] = call
        return (gp.TOOL_START,) if is_first else (gp.TOOL_UPDATE,)

    def _go_on(self, part: Part) -> None:
        """Calls about which nothing was asked are at work, now that something else is told."""
        for name, call in list(self._held.items()):
            is_ending = name == part.call_id and part.state is not None and part.state.status == "error"
            if not is_ending and self.teller.questions.of_call(call.call_id) is None:
                self.teller.tool_begins(self._held.pop(name))

    # Questions.

    def _permission_asked(self, told: wire.PermissionAsked) -> _Names:
        if self._is_family(told.session_id):
            self.teller.asks(permission(told, self._known(told.tool)))
        return ()

    def _question_asked(self, told: wire.QuestionAsked) -> _Names:
        if self._is_family(told.session_id):
            self.teller.asks(choice(told, self._known(told.tool)))
        return ()

    def _known(self, tool: wire.ToolRef | None) -> ToolCall | None:
        return self.teller.tools.call(self._steps.call_id(tool.call_id)) if tool is not None else None

    def _replied(self, told: wire.Replied) -> _Names:
        allowed = told.reply != "reject"
        question = self.teller.answered(told.request_id, allowed=allowed)
        if question is not None and question.tool_call_id is not None and allowed:
            for name, call in list(self._held.items()):
                if call.call_id == question.tool_call_id:
                    self.teller.tool_begins(self._held.pop(name))
        return ()

    def _rejected(self, told: wire.Replied) -> _Names:
        self.teller.answered(told.request_id, allowed=False)
        return ()


_UPDATES = (gp.MESSAGE_UPDATE,)
_PARTS: dict[str, Callable[[ServeDialect, Part], _Names]] = {
    "step-start": ServeDialect._step_start,
    "step-finish": ServeDialect._step_finish,
    "text": ServeDialect._text,
    "reasoning": ServeDialect._reasoning,
    "tool": ServeDialect._tool,
}
_HEARD: dict[str, tuple["msgspec.json.Decoder[Any]", Callable[..., _Names]]] = {
    "session.created": (msgspec.json.Decoder(wire.SessionChanged), ServeDialect._session_changed),
    "session.updated": (msgspec.json.Decoder(wire.SessionChanged), ServeDialect._session_changed),
    "session.status": (msgspec.json.Decoder(wire.StatusChanged), ServeDialect._status_changed),
    "session.error": (msgspec.json.Decoder(wire.SessionError), ServeDialect._session_error),
    "session.idle": (msgspec.json.Decoder(wire.Quiet), ServeDialect._idle),
    "message.updated": (msgspec.json.Decoder(wire.MessageUpdated), ServeDialect._message_updated),
    "message.part.updated": (msgspec.json.Decoder(wire.PartUpdated), ServeDialect._part_updated),
    "message.part.delta": (msgspec.json.Decoder(wire.PartDelta), ServeDialect._delta),
    "permission.asked": (msgspec.json.Decoder(wire.PermissionAsked), ServeDialect._permission_asked),
    "permission.replied": (msgspec.json.Decoder(wire.Replied), ServeDialect._replied),
    "question.asked": (msgspec.json.Decoder(wire.QuestionAsked), ServeDialect._question_asked),
    "question.replied": (msgspec.json.Decoder(wire.Replied), ServeDialect._replied),
    "question.rejected": (msgspec.json.Decoder(wire.Replied), ServeDialect._rejected),
}

# What is understood, and tells nothing of the work.
_QUIET = (
    "server.connected",
    "server.heartbeat",
    "server.instance.disposed",
    "session.diff",
    "session.compacted",
    "session.deleted",
    "message.removed",
    "message.part.removed",
    "plugin.",
    "catalog.",
    "reference.",
    "integration.",
    "installation.",
    "file.",
    "lsp.",
    "mcp.",
    "todo.",
    "tui.",
    "vcs.",
    "pty.",
    "project.",
    "command.",
    "worktree.",
    "workspace.",
)
