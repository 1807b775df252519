"""opencode as a command, `opencode run --format json`: one JSON object a line, told apart by `type`.

Everything comes when it is over: whole texts, ended calls. Nothing says that the run is done but the end of the process.
"""

from collections.abc import Callable

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Outcome, Seen, StreamEnd, Telling
from runwire.agents.opencode.parts import ENDED, Fault, Part, status_of
from runwire.agents.opencode.steps import Steps
from runwire.agents.telling import Teller
from runwire.host import Finished

_UNFINISHED = frozenset({"tool-calls", "unknown"})
"""After a step that stopped for these another one is to come."""


class Line(msgspec.Struct, tag_field="type"):
    """One line."""


class StepStart(Line, tag="step_start"):
    """The model is called."""


class Text(Line, tag="text"):
    """A whole text."""

    part: Part


class Reasoning(Line, tag="reasoning"):
    """A whole piece of reasoning."""

    part: Part


class ToolUse(Line, tag="tool_use"):
    """A call that has ended."""

    part: Part


class StepFinish(Line, tag="step_finish"):
    """The model has answered."""

    part: Part


class Error(Line, tag="error"):
    """Why the run failed."""

    error: Fault = msgspec.field(default_factory=Fault)


_DECODER = msgspec.json.Decoder(StepStart | Text | Reasoning | ToolUse | StepFinish | Error)


class RunDialect:
    """Understands `opencode run --format json`."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._steps = Steps(self.teller)
        self._error: Fault | None = None

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        teller = self.teller
        teller.begin_frame(at_ns)
        message = read(_DECODER, data)
        if isinstance(message, Unreadable):
            teller.unparsed(data, message.why)
            return Seen(message.raw_type)
        seen = _HEARD[type(message)](self, message)
        return Seen(seen.raw_type) if teller.keep(data) else seen

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The process is gone: that is the only word about how it went."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and teller.cancelling is None:
            if self._error is not None:
                teller.leg_ends(self._error.failure())
            elif self._is_done(end):
                teller.leg_ends(Finished(teller.words.said[:200]))
        return teller.end(end)

    def _is_done(self, end: StreamEnd) -> bool:
        if not self.teller.begun or end.lost or end.signal is not None or self.teller.is_in_turn:
            return False
        if end.exit_code is None:
            # Nobody saw it end: it is done if its last step was.
            return self._steps.last_reason is not None and self._steps.last_reason not in _UNFINISHED
        return end.exit_code == 0

    def _step_start(self, _: StepStart) -> Seen:
        self._steps.begin()
        return _STEP_START

    def _text(self, message: Text) -> Seen:
        self._steps.said()
        self.teller.whole_text(message.part.text)
        return _TEXT

    def _reasoning(self, message: Reasoning) -> Seen:
        self.teller.whole_thought(message.part.text)
        return _REASONING

    def _tool_use(self, message: ToolUse) -> Seen:
        part = message.part
        if status_of(part) not in ENDED:
            self.teller.unknown("status of a call", status_of(part))
            self._steps.wants(part)
            return _TOOL_USE_OPEN
        self._steps.tool(part)
        return _TOOL_USE

    def _step_finish(self, message: StepFinish) -> Seen:
        self._steps.finish(message.part)
        return _STEP_FINISH

    def _fault(self, message: Error) -> Seen:
        # The same error may be printed twice.
        if message.error != self._error:
            error = self._error = message.error
            self.teller.upstream(error.message, status=error.status, retriable=error.is_passing)
        self.teller.begun = True
        return _ERROR


_STEP_START = Seen("step_start", (gp.TURN_START,))
_TEXT = Seen("text", (gp.MESSAGE_START, gp.MESSAGE_END))
_REASONING = Seen("reasoning", (gp.MESSAGE_UPDATE,))
_TOOL_USE = Seen("tool_use", (gp.TOOL_START, gp.TOOL_END))
_TOOL_USE_OPEN = Seen("tool_use")
_STEP_FINISH = Seen("step_finish", (gp.TURN_END,))
_ERROR = Seen("error", (gp.ERROR,))

_HEARD: dict[type, Callable[..., Seen]] = {
    StepStart: RunDialect._step_start,
    Text: RunDialect._text,
    Reasoning: RunDialect._reasoning,
    ToolUse: RunDialect._tool_use,
    StepFinish: RunDialect._step_finish,
    Error: RunDialect._fault,
}
