"""Agno: the runs of agents, teams and workflows of an AgentOS, 2.3 to 3.x, streamed or whole.

Runs within the run are told by what they do and use. What they say is theirs: it comes back as a call's result, or as a
step's. They neither end the run nor make it wait. Releases before 2.4 do not tell when the model is called: there a leg is
one turn.
"""

from collections.abc import Callable

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.agno import frames as wire
from runwire.agents.agno import outputs
from runwire.agents.agno.deciding import RequestRefused, decision_of
from runwire.agents.agno.literals import readable
from runwire.agents.agno.pausing import Of
from runwire.agents.agno.story import Known, Story
from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Cancelled, Outcome, Seen, StreamEnd
from runwire.agents.kept import no_such
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.external import external


class AgnoDialect(Story):
    """Understands the stream of a run."""

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:
        """Take one event."""
        teller = self.teller
        teller.begin_frame(at_ns)
        known = _KNOWN.get(name)
        if known is None:
            named = _named(data)
            if isinstance(named, Unreadable):
                teller.unparsed(data, named.why)
                return Seen(named.raw_type or name)
            known = named
        frame = read(known.decoder, data, tag="event")
        if isinstance(frame, Unreadable):
            teller.unparsed(data, frame.why)
            return Seen(frame.raw_type or name)
        if frame.event and frame.event != known.seen.raw_type:
            return self.feed(data, at_ns, frame.event if frame.event in _KNOWN else "")
        if (self._following.left or frame.event_index is not None) and not self._is_news(frame, known):
            return known.none
        self._data = data
        seen = self._child(frame, known) if frame.is_childs else known.hear(self, frame, known)
        return known.none if teller.keep(data) else seen

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over. A run that waits goes on waiting at its server, but here nobody answers any more."""
        teller = self.teller
        teller.begin_frame(at_ns)
        if teller.outcome is None and teller.cancelling is None:
            waits = bool(self.asking)
            self.asking.drop("the stream ended before anybody had decided")
            if self._error is not None:
                teller.leg_ends(self._error)
            elif waits:
                teller.leg_ends(Failed("unanswered", "the run waits for a decision", retriable=True))
            else:
                self._reconcile()
        return teller.end(end)

    def _reconcile(self) -> None:
        """What the server said about the run when it was asked again counts where no event tells."""
        match self._following.status.upper():
            case "COMPLETED":
                self.teller.leg_ends(Finished())
            case "CANCELLED":
                self.teller.leg_ends(Cancelled())
            case "ERROR":
                self.teller.leg_ends(Failed("agno_error", "the run failed"))

    def _is_news(self, frame: wire.Frame, known: Known) -> bool:
        following = self._following
        if known.name in wire.CONTROL:
            return True
        if following.is_known(frame, known.name):
            return False
        if frame.event_index is not None:
            missing = following.missing(frame.event_index)
            if missing is not None and self.teller.outcome is None:
                first, last = missing
                gap = msgspec.json.encode({"run_id": frame.run_id, "first": first, "last": last})
                self.teller.say(external("external.agno.events_missing", gap))
        return True

    # Speaking. What is sent are requests; in here is only what they leave behind.

    def answer(self, question_id: str, answer: Answer) -> None:
        """Keep an answer for the pause at hand. One that does not fit is a RequestRefused, and nothing is decided then."""
        wait = self.asking.waiting(question_id)
        if wait is None or self.pause is None:
            raise RequestRefused(f"{question_id[:64]!r} is not what the run waits for")
        self.pause.decide(wait.key, decision_of(wait, answer))
        self.asking.settles(wait, allowed=answer.allowed, by=answer.by or "operator", comment=answer.told)

    def cancel(self, by: str, reason: str) -> bool:
        """Remember that the run is asked to stop."""
        self.teller.cancelling = Cancelled(by, reason)
        return True

    # Runs within the run.

    def _child(self, frame: wire.Frame, known: Known) -> Seen:
        match frame:
            case wire.ToolEvent():
                known.hear(self, frame, known)
            case wire.Answered():
                self.asking.member_goes_on(frame.run_id)
                self.teller.use(self._counting.call(frame.run_id, frame))
            case wire.Started() if known.name == "RunStarted":
                self._counting.begins(frame.run_id)
            case wire.Completed():
                self.asking.member_goes_on(frame.run_id)
                self._count(frame.run_id, frame.metrics)
            case _:
                pass
        return known.childs

    # What the server says about the stream, and whole runs.

    def _replayed(self, frame: wire.Replay, known: Known) -> Seen:
        self._following.replay(frame)
        self._check(frame.status)
        self.run_id = self.run_id or frame.run_id
        return known.none

    def _check(self, status: str | None) -> None:
        if status and status.upper() not in wire.STATUSES:
            self.teller.unknown("status of a run", status)

    def _refused(self, frame: wire.Broken, known: Known) -> Seen:
        told = frame.error if isinstance(frame.error, str) else readable(frame.error)
        self._error = Failed("agno_error", told or "the stream could not be taken up again")
        return known.seen

    def _not_taken(self, frame: wire.Refusal, known: Known) -> Seen:
        if self.teller.outcome is not None:
            self.teller.is_late = True
            return known.none
        told = frame.detail if isinstance(frame.detail, str) else readable(frame.detail)
        self._error = Failed("agno_refused", told or "the server did not take the request")
        return known.seen

    def _aside(self, _: wire.Frame, known: Known) -> Seen:
        return known.none

    def _output(self, frame: wire.Output, known: Known) -> Seen:
        ending = outputs.ending(frame)
        self._check(frame.status)
        # A run that an earlier stay has told of, or this one, is not told again: only how it stands is news.
        telling = self.teller.telling
        is_seen = (telling.driven and telling.first_turn > 0) or (
            frame.run_id is not None and frame.run_id == self.run_id and bool(self.teller.turns)
        )
        if ending is None or (is_seen and self.teller.outcome is not None):
            self.teller.begun = True
            self.run_id = frame.run_id
            return known.none
        if not is_seen:
            if self.teller.outcome is not None or not self.teller.begun:
                self._leg()
            self.teller.user(outputs.prompt_of(frame))
            for event in outputs.beginning(frame):
                self._hear(*event)
        return Seen(known.seen.raw_type, self._hear(*ending).names)

    def _hear(self, name: str, frame: wire.Frame) -> Seen:
        known = _KNOWN[name]
        return self._child(frame, known) if frame.is_childs else known.hear(self, frame, known)


def _named(data: bytes) -> Known | Unreadable:
    """What an event calls itself, when its framing does not say."""
    named = read(wire.NAMED, data, tag="event")
    if isinstance(named, Unreadable):
        return named
    status = named.status if isinstance(named.status, str) else ""
    if not named.event and isinstance(named.run_id, str) and status in wire.STATUSES:
        return _KNOWN[wire.OUTPUT]
    if not named.event and named.detail is not None:
        return _KNOWN[wire.REFUSAL]
    known = _KNOWN.get(named.event)
    if named.event:
        return known or Unreadable(no_such("event", named.event), named.event)
    return Unreadable(no_such("status of a run", status) if status else "it does not say what it is")


_Hear = Callable[..., Seen]

_HEARD: dict[str, tuple[_Hear, str | None]] = {
    "RunStarted": (AgnoDialect._started, gp.TURN_START),
    "RunContinued": (AgnoDialect._continued, gp.TURN_START),
    "ModelRequestStarted": (AgnoDialect._called, gp.TURN_START),
    "ModelRequestCompleted": (AgnoDialect._answered, gp.TURN_END),
    "RunContent": (AgnoDialect._content, gp.MESSAGE_UPDATE),
    "RunIntermediateContent": (AgnoDialect._draft, gp.MESSAGE_UPDATE),
    "RunContentCompleted": (AgnoDialect._content_done, gp.MESSAGE_END),
    "ReasoningContentDelta": (AgnoDialect._thought, gp.MESSAGE_UPDATE),
    "ReasoningStep": (AgnoDialect._thought_step, None),
    "ToolCallStarted": (AgnoDialect._tool_started, gp.TOOL_START),
    "ToolCallCompleted": (AgnoDialect._tool_done, gp.TOOL_END),
    "ToolCallError": (AgnoDialect._tool_done, gp.TOOL_END),
    "RunPaused": (AgnoDialect._paused, gp.TURN_END),
    "RunCompleted": (AgnoDialect._completed, gp.AGENT_END),
    "RunCancelled": (AgnoDialect._cancelled, gp.AGENT_END),
    "RunError": (AgnoDialect._broken, gp.ERROR),
    "CustomEvent": (AgnoDialect._custom, gp.TOOL_UPDATE),
    "WorkflowStarted": (AgnoDialect._flow_started, gp.TURN_START),
    "WorkflowPaused": (AgnoDialect._paused, gp.TURN_END),
    "WorkflowCompleted": (AgnoDialect._completed, gp.AGENT_END),
    "WorkflowCancelled": (AgnoDialect._cancelled, gp.AGENT_END),
    "WorkflowError": (AgnoDialect._broken, gp.ERROR),
    "StepContinued": (AgnoDialect._flow_continued, None),
    "StepExecutorContinued": (AgnoDialect._flow_continued, None),
    "StepStarted": (AgnoDialect._stepped, None),
    "StepCompleted": (AgnoDialect._stepped, None),
    "replay": (AgnoDialect._replayed, None),
    "catch_up": (AgnoDialect._replayed, None),
    "error": (AgnoDialect._refused, gp.ERROR),
    wire.OUTPUT: (AgnoDialect._output, None),
    wire.REFUSAL: (AgnoDialect._not_taken, gp.ERROR),
}


def _known(raw: str, name: str, shape: type[wire.Frame], of: Of) -> Known:
    hear, canonical = _HEARD.get(name, (AgnoDialect._aside, None))
    return Known(
        decoder=msgspec.json.Decoder(shape),
        hear=hear,
        name=name,
        seen=Seen(raw, (canonical,) if canonical else ()),
        none=Seen(raw),
        childs=Seen(raw, (gp.TOOL_UPDATE,)),
        first=Seen(raw, (gp.MESSAGE_START,)),
        of=of,
    )


_KNOWN: dict[str, Known] = {
    **{name: _known(name, name, shape, "agent") for name, shape in wire.AGENT.items()},
    **{f"Team{name}": _known(f"Team{name}", name, shape, "team") for name, shape in wire.AGENT.items()},
    **{name: _known(name, name, shape, "team") for name, shape in wire.TEAM.items()},
    **{name: _known(name, name, shape, "workflow") for name, shape in (wire.WORKFLOW | wire.CONTROL).items()},
    wire.OUTPUT: _known(wire.OUTPUT, wire.OUTPUT, wire.Output, "agent"),
    wire.REFUSAL: _known(wire.REFUSAL, wire.REFUSAL, wire.Refusal, "agent"),
}
