"""The story of one run, event by event: what each means, for an agent, a team or a workflow alike."""

import re
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from runwire.agents import glasspane as gp
from runwire.agents.agno import frames as wire
from runwire.agents.agno.asking import Asking
from runwire.agents.agno.calls import call_of, ending_of
from runwire.agents.agno.counting import Counting
from runwire.agents.agno.following import Following
from runwire.agents.agno.literals import readable
from runwire.agents.agno.pausing import Of
from runwire.agents.agno.requests import Pause
from runwire.agents.dialect import Cancelled, Seen, Telling
from runwire.agents.kept import RAW_MAX
from runwire.agents.telling import Teller
from runwire.host import Failed, Finished
from runwire.protocol.events.external import external

_STATUS = re.compile(r"\bError code: (\d{3})\b")
_PROVIDER = "model_provider_error"
_DRAFT = "draft"


class Known(Struct, frozen=True):
    """An event that is understood."""

    decoder: msgspec.json.Decoder[wire.Frame]
    hear: Callable[..., Seen]
    name: str
    """Its name without the `Team` of teams."""
    seen: Seen
    none: Seen
    childs: Seen
    """As the pane shows it when a run within the run says it."""
    first: Seen
    of: Of


class Story:
    """Hears the events of a run. Each is handed over with what is known of its kind."""

    def __init__(self, telling: Telling) -> None:
        """Begin with nothing heard."""
        self.teller = Teller(telling)
        self.run_id: str | None = None
        """The run that the stream is about."""
        self.asking = Asking(self.teller)
        self.pause: Pause | None = None
        """The last pause. One that is told again is the same, so that it is not answered again."""
        self._following = Following()
        self._counting = Counting()
        self._said: list[str] = []
        self._ended: set[str] = set()
        self._error: Failed | None = None
        self._is_modern = False
        self._is_fresh = False
        self._in_message = False
        self._data = b""

    # Runs.

    def _started(self, frame: wire.Started, known: Known) -> Seen:
        if self.asking and frame.run_id != self.run_id:
            self.asking.drop("another run began before anybody had decided")
        if self.teller.outcome is not None or not self.teller.begun:
            self._leg()
        self._said.clear()
        self._ended.clear()
        self._counting.begins(frame.run_id)
        self._turn(frame)
        return known.seen

    def _continued(self, frame: wire.Started, known: Known) -> Seen:
        self.teller.questions.go_on()
        if self.teller.outcome is not None or not self.teller.begun:
            self._leg()
        self._turn(frame)
        return known.seen

    def _leg(self) -> None:
        asked = self.teller.cancelling if self.teller.outcome is None else None
        self.teller.leg_begins()
        self.teller.cancelling = asked
        self._said.clear()
        self._ended.clear()
        self._error = None

    def _turn(self, frame: wire.Started) -> None:
        """A leg begins. Where calls of the model are told, they are the turns; elsewhere this is one."""
        self.run_id = frame.run_id
        self._error = None
        self._in_message = False
        self._following.begins(frame.run_id, frame.event_index)
        self.teller.model = frame.model or self.teller.model
        self.teller.provider = frame.model_provider or self.teller.provider
        if frame.nested_depth is None and not self._is_modern:
            self.teller.turn_begins()
            self._is_fresh = True

    def _flow_started(self, frame: wire.Started, known: Known) -> Seen:
        self._started(frame, known)
        if not self.teller.is_in_turn:
            # A workflow has no model: all of it is one turn.
            self.teller.turn_begins()
        return known.seen

    def _flow_continued(self, frame: wire.StepEvent, known: Known) -> Seen:
        if self.teller.outcome is not None or not self.teller.begun:
            self._leg()
        self.run_id = frame.run_id or self.run_id
        self.teller.questions.go_on()
        if not self.teller.is_in_turn:
            self.teller.turn_begins()
        return self._stepped(frame, known)

    def _stepped(self, frame: wire.StepEvent, known: Known) -> Seen:
        self.asking.steps_on(frame.step_id, frame.step_name)
        return known.seen

    # The model.

    def _called(self, frame: wire.Started, known: Known) -> Seen:
        self._goes_on()
        self._is_modern = True
        self._in_message = False
        if self._is_fresh and self.teller.is_in_turn:
            self._is_fresh = False
        else:
            self.teller.turn_begins(frame.model, frame.model_provider)
        return known.seen

    def _answered(self, frame: wire.Answered, known: Known) -> Seen:
        # The turn ends with what comes next, which tells why the model stopped.
        self._is_modern = True
        self.teller.block_ends()
        self.teller.use(self._counting.call(frame.run_id, frame))
        return known.seen

    def _goes_on(self) -> None:
        if self.asking:
            self.asking.goes_on()

    def _content(self, frame: wire.Content, known: Known) -> Seen:
        content, thought = frame.content, frame.reasoning_content
        if thought:
            self._goes_on()
            self.teller.thought(thought)
        text = content if isinstance(content, str) else readable(content)
        if not text:
            return known.seen if thought else known.none
        if self.asking:
            self.asking.goes_on()
        self._is_fresh = False
        self.teller.text(text)
        self._said.append(text)
        if self._in_message:
            return known.seen
        self._in_message = True
        return known.first

    def _draft(self, frame: wire.Content, known: Known) -> Seen:
        """What one model said before another, which is to put it in its own words. It is no part of the answer."""
        text = frame.content if isinstance(frame.content, str) else readable(frame.content)
        if not text:
            return known.none
        self._goes_on()
        self._is_fresh = False
        self.teller.text(text, _DRAFT)
        return known.seen

    def _content_done(self, _: wire.Frame, known: Known) -> Seen:
        self._in_message = False
        self.teller.block_ends()
        return known.seen

    def _thought(self, frame: wire.Content, known: Known) -> Seen:
        if frame.reasoning_content:
            self.teller.thought(frame.reasoning_content)
        return known.seen

    def _thought_step(self, frame: wire.Content, known: Known) -> Seen:
        # Its `reasoning_content` repeats the steps before.
        step = frame.content if isinstance(frame.content, dict) else {}
        parts = [step.get(name) for name in ("title", "reasoning", "action", "result")]
        self.teller.whole_thought("\n".join(part for part in parts if isinstance(part, str)))
        return known.none

    # Tools.

    def _tool_started(self, frame: wire.ToolEvent, known: Known) -> Seen:
        if frame.tool is None:
            return self._without_tool(known)
        self._in_message = self._is_fresh = False
        self._begin(frame.tool)
        return known.seen

    def _begin(self, tool: wire.Tool) -> str:
        key = _call_id(tool)
        self.asking.begins(key, tool)
        call_id = self.asking.told_as(key)
        self._ended.discard(call_id)
        self.teller.tool_begins(call_of(tool, call_id))
        return call_id

    def _tool_done(self, frame: wire.ToolEvent, known: Known) -> Seen:
        tool = frame.tool
        if tool is None:
            return self._without_tool(known)
        call_id = self.asking.told_as(_call_id(tool))
        if call_id in self._ended:
            # A failure is told twice: as a call that ended, and as an error.
            return known.none
        if not self.teller.tools.is_open(call_id):
            call_id = self._begin(tool)
        self._ended.add(call_id)
        self.teller.tool_ends(call_id, ending_of(tool, frame.error))
        return known.seen

    def _without_tool(self, known: Known) -> Seen:
        self.teller.unparsed(self._data, "no call is in it")
        return known.none

    def _custom(self, _: wire.Custom, known: Known) -> Seen:
        if len(self._data) <= RAW_MAX and self.teller.outcome is None:
            try:
                self.teller.say(external("external.agno.custom", self._data))
            except ValueError:
                self.teller.unparsed(self._data, "not UTF-8")
        return known.seen

    # Pauses and ends.

    def _paused(self, frame: wire.Paused, known: Known) -> Seen:
        if self.teller.outcome is not None:
            self.teller.block_ends()
            return known.none
        self.run_id = frame.run_id or self.run_id
        self._error = None
        pause = Pause.seen(frame, known.of, run_id=self.run_id or "")
        self.asking.pauses(pause.waits.values(), frame.content)
        if self.pause is None or not pause.approvals <= self.pause.approvals:
            self.pause = pause
        return known.seen

    def _completed(self, frame: wire.Completed, known: Known) -> Seen:
        self._following.ends(frame.run_id)
        self._goes_on()
        self._count(frame.run_id, frame.metrics)
        failed = list(_failed(frame.step_results))
        self._conclude(frame.content, is_answer=not failed)
        if not failed:
            self.teller.leg_ends(Finished(self.teller.words.said[:200]))
            return known.seen
        for name, error in failed:
            self.teller.upstream(f"step {name} failed: {error}")
        name, error = failed[0]
        self.teller.leg_ends(Failed("step_failed", f"step {name} failed: {error}"))
        return Seen(known.seen.raw_type, (gp.ERROR, gp.AGENT_END))

    def _conclude(self, content: object, *, is_answer: bool) -> None:
        """The last words: those that were streamed, or else the ones that come with the end."""
        if not self._said:
            text = content if isinstance(content, str) else readable(content)
            if not text:
                return
            self.teller.whole_text(text)
        if is_answer:
            self.teller.final()

    def _count(self, run_id: str | None, metrics: wire.Metrics | None) -> None:
        rest = self._counting.whole(run_id, metrics, self.teller.model, self.teller.provider)
        if rest is not None:
            self.teller.use(rest)

    def _cancelled(self, frame: wire.Stopped, known: Known) -> Seen:
        self._following.ends(frame.run_id)
        said = "".join(self._said)
        if said and isinstance(frame.content, str) and frame.content.startswith(said):
            # What the model had said and nobody was sent.
            self.teller.text(frame.content[len(said) :])
        self._drop("the run was cancelled")
        self.teller.leg_ends(self.teller.cancelling or Cancelled(reason=frame.reason or ""))
        return known.seen

    def _broken(self, frame: wire.Broken, known: Known) -> Seen:
        told = frame.content if frame.content is not None else frame.error
        message = told if isinstance(told, str) else readable(told)
        failed = Failed(frame.error_type or "agno_error", message or "the run failed")
        if not frame.run_id and self.asking:
            # What was sent to go on with was refused: the run still waits.
            self.teller.questions.wait_on()
            self.teller.turn_fails(failed.code, failed.message)
            self._error = failed
            return known.seen
        self._following.ends(frame.run_id)
        found = _STATUS.search(failed.message)
        if found or frame.error_type == _PROVIDER:
            self.teller.upstream(failed.message, status=int(found[1]) if found else None)
        self._drop("the run failed")
        self.teller.leg_ends(failed)
        return known.seen

    def _drop(self, why: str) -> None:
        if self.teller.outcome is None:
            self.asking.drop(why)


def _call_id(tool: wire.Tool) -> str:
    return tool.tool_call_id or tool.tool_name or "unknown"


def _failed(steps: list[wire.Step] | None) -> Iterator[tuple[str, str]]:
    """The steps that failed, also those within others, and why."""
    for step in steps or ():
        if step.success is False:
            yield step.step_name or "unnamed", str(step.error or "it does not say why")
        else:
            yield from _failed(step.steps)
