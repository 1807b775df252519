"""One conversation with an agent that runs: its words become events, its questions become approvals, its end is ours to see."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from runwire.agents.dialect import Cancelled, Image, Item, Outcome, Overspent, Question, Reply, Speaker, StreamEnd
from runwire.agents.launching import Started
from runwire.agents.normalising import Normaliser
from runwire.agents.permission import ask_about
from runwire.agents.recording import Ended, Recorder
from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.host import Answer, Failed, RunHost
from runwire.host import Ended as RunEnded
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.workspace.conversing import TalkOver

_CANCEL_PATIENCE_S = 5.0
_GOODBYE_S = 2.0
_LATE_S = 0.2
_LOOK_S = 1.0
_DEAF_S = 60.0
_CALLS_A_TURN = 8
_HARMLESS = frozenset({"file", "search", "todo", "web"})
OVERSPENT = "the budget is spent"

log = logging.getLogger("runwire.agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """When an agent has had enough time."""

    silent_s: float = 900.0
    """How long it may say nothing while neither a tool nor a person is waited for."""
    hello_s: float = 60.0
    """How long it may take until it can be asked anything."""
    wall_clock_s: float = 4 * 3600.0
    """How long it may work in all where the run says nothing about that: some agents loop for ever. Waiting for people does not count."""
    stays: bool = False
    """Whether it lives on when it has answered, for whoever speaks to its run next."""


class Visit:
    """Speaks with one agent for one run."""

    def __init__(self, *, host: RunHost, started: Started, speaker: Speaker, clock: Clock, patience: Patience) -> None:
        """Speak with an agent that was started."""
        self._host = host
        self._talk = started.talk
        self._watch = started.watch
        self._speaker = speaker
        self._clock = clock
        self._patience = patience
        self._normaliser = Normaliser(speaker)
        self._recorder = Recorder(host, tool_ended=self._tool_ended)
        self._reading: asyncio.Task[bytes] | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._acting = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._heard_s = self._loop.time()
        self._worked_s = 0.0
        self._failure: Failed | None = None
        self._has_asked = False
        self._last_call = ""

    async def hold(self, prompt: str, images: Sequence[Image]) -> RunEnded:
        """Have the prompt answered, and whatever is said to the run meanwhile."""
        try:
            async with asyncio.TaskGroup() as group:
                await self._converse(group, prompt, images)
                for asking in self._asking.values():
                    asking.cancel()
        except (asyncio.CancelledError, BaseExceptionGroup):
            # The run is stopped, or a question of it ended otherwise than with an answer.
            await self._break_off()
            raise
        return await self._part()

    # The conversation.

    async def _converse(self, group: asyncio.TaskGroup, prompt: str, images: Sequence[Image]) -> None:
        self._speaker.hello()
        await self._act(self._speaker.teller.take(), group)
        while True:
            if not self._has_asked and self._speaker.ready:
                self._has_asked = True
                await self._prompt(prompt, images, group)
            began_s, was_asking = self._loop.time(), bool(self._asking)
            if not await self._hear(group, _LOOK_S):
                return
            if not was_asking:
                self._worked_s += self._loop.time() - began_s
            if self._failure is None:
                self._failure = self._too_much()
            if self._failure is not None:
                await self._interrupt()
                return
            # One that refuses to begin is over before it was asked anything.
            if self._speaker.teller.outcome is not None and not (self._has_asked and await self._go_on(group)):
                return

    async def _prompt(self, text: str, images: Sequence[Image], group: asyncio.TaskGroup) -> None:
        self._speaker.teller.leg_begins()
        self._speaker.prompt(text, images)
        await self._act(self._speaker.teller.take(), group)

    async def _go_on(self, group: asyncio.TaskGroup) -> bool:
        """The agent has answered: say what people have said meanwhile, if anything; whether the conversation goes on."""
        said = await self._host.said()
        if said:
            await self._prompt("\n\n".join(one.text for one in said), (), group)
            return True
        return self._patience.stays

    async def _hear(self, group: asyncio.TaskGroup | None, patience_s: float) -> bool:
        """Take the next piece of what it says, so long; False when it says no more."""
        if self._reading is None:
            self._reading = self._loop.create_task(self._talk.read())
        await asyncio.wait({self._reading}, timeout=patience_s)
        if not self._reading.done():
            return True
        piece, self._reading = self._reading.result(), None
        if not piece:
            return False
        self._heard_s = self._loop.time()
        await self._act(self._normaliser.feed(piece, self._clock.now_ns()), group)
        return True

    async def _act(self, items: Sequence[Item], group: asyncio.TaskGroup | None) -> None:
        # One at a time: answers to questions come from tasks of their own, and order is what a log is about.
        async with self._acting:
            while items:
                await self._recorder.record(items)
                for item in items:
                    match item:
                        case Reply():
                            await self._send(item.data)
                        case Question():
                            self._ask(item, group)
                        case Overspent():
                            self._failure = self._failure or Failed("budget_exceeded", OVERSPENT)
                        case _:
                            pass
                items = self._speaker.teller.take()

    async def _send(self, data: bytes) -> None:
        try:
            async with asyncio.timeout(_DEAF_S):
                await self._talk.write(data)
        except TalkOver:
            # One that listens no more is seen by the end of its words.
            return
        except TimeoutError:
            self._failure = self._failure or Failed(
                "agent_deaf", f"the agent took nothing in for {_DEAF_S:g} s", retriable=True
            )

    # Questions.

    def _ask(self, question: Question, group: asyncio.TaskGroup | None) -> None:
        if group is None or self._failure is not None:
            told = (
                OVERSPENT if self._failure is not None and self._failure.code == "budget_exceeded" else "the run ends"
            )
            self._speaker.answer(question.question_id, Answer(allowed=False, input=question.input, told=told))
            return
        asking = group.create_task(self._decide(question, group))
        self._asking[question.question_id] = asking
        asking.add_done_callback(lambda _: self._asking.pop(question.question_id, None))

    async def _decide(self, question: Question, group: asyncio.TaskGroup) -> None:
        answer = await self._host.ask(ask_about(question, self._speaker.teller.turn_index))
        self._heard_s = self._loop.time()
        self._speaker.answer(question.question_id, answer)
        await self._act(self._speaker.teller.take(), group)
        if answer.stop and not answer.allowed:
            self._failure = Failed("approval_denied", answer.told or "stopped by a denial")

    # Limits.

    def _too_much(self) -> Failed | None:
        teller, facts = self._speaker.teller, self._host.facts
        if self._worked_s > self._patience.wall_clock_s and facts.timeout_s is None and not self._patience.stays:
            return Failed("run_timed_out", f"the agent worked for more than {self._patience.wall_clock_s:g} s")
        if teller.turns > facts.max_turns:
            return Failed("max_turns", f"the agent took more than {facts.max_turns} turns")
        if teller.tools.begun > facts.max_turns * _CALLS_A_TURN:
            # Some agents never say when their model is called.
            return Failed("max_turns", f"the agent made more than {facts.max_turns * _CALLS_A_TURN} calls")
        quiet_s = self._loop.time() - self._heard_s
        if not self._has_asked:
            if quiet_s > self._patience.hello_s:
                return Failed(
                    "agent_silent", f"the agent was not ready after {self._patience.hello_s:g} s", retriable=True
                )
        elif (
            teller.outcome is None and not self._asking and not teller.tools.open and quiet_s > self._patience.silent_s
        ):
            return Failed("agent_silent", f"the agent said nothing for {self._patience.silent_s:g} s", retriable=True)
        return None

    # Partings.

    async def _interrupt(self) -> None:
        """Ask it to stop, and hear it out for a moment."""
        teller = self._speaker.teller
        for asking in list(self._asking.values()):
            asking.cancel()
        if not self._is_over() and self._speaker.cancel("system", self._failure.message if self._failure else ""):
            await self._act(teller.take(), None)
            until_s = self._loop.time() + _CANCEL_PATIENCE_S
            while not self._is_over() and self._loop.time() < until_s:
                if not await self._hear(None, until_s - self._loop.time()):
                    break

    def _is_over(self) -> bool:
        return self._speaker.teller.outcome is not None

    async def _break_off(self) -> None:
        """The run is stopped from outside: leave in order, in bounded time."""
        await self._interrupt()
        await self._part()

    async def _part(self) -> RunEnded:
        """See the agent off, tell what it left open, and say how its work ended."""
        teller = self._speaker.teller
        self._talk.close_stdin()
        until_s = self._loop.time() + (_GOODBYE_S if teller.outcome is not None else _LATE_S)
        while self._loop.time() < until_s:
            if not await self._hear(None, until_s - self._loop.time()):
                break
        stopping = self._loop.create_task(self._talk.stop())
        while not stopping.done():
            if not await self._hear(None, _LATE_S):
                break
        survivors = await stopping
        if self._reading is not None:
            self._reading.cancel()
        report = await self._talk.wait()
        left = f"{survivors.count} processes of it could not be ended" if survivors.count else ""
        complaints = self._talk.stderr_tail()
        end = StreamEnd(
            exit_code=report.exit_code, signal=report.signal, stderr=self._host.redact(complaints), lost=left
        )
        rest, outcome = self._normaliser.end(end, self._clock.now_ns())
        await self._act(rest, None)
        await self._look(self._last_call or None)
        ended = self._failure or _ended(outcome)
        if not self._has_asked and not isinstance(ended, Failed):
            ended = Failed("agent_exited", "the agent ended before it could be asked anything", retriable=True)
        if isinstance(ended, Failed) or left:
            await self._keep_complaints("\n".join(part for part in (left, complaints) if part.strip()))
        return ended

    async def _keep_complaints(self, text: str) -> None:
        """What the agent wrote to its standard error, and who of it would not go: kept for whoever looks for the cause."""
        if not text:
            return
        meta = ArtifactMeta(mime="text/plain; charset=utf-8", summary="what the agent complained about")
        try:
            draft = await self._host.draft(NewArtifact("command_output", meta), text.encode("utf-8", "replace"))
        except RunwireError as wrong:
            log.info("the complaints of run %s could not be kept: %s", self._host.facts.run_id, wrong.message)
            return
        self._host.emit(kept=(draft,))

    async def _tool_ended(self, ended: Ended) -> None:
        if ended.kind not in _HARMLESS:
            self._last_call = ended.tool_call_id
            await self._look(ended.tool_call_id)

    async def _look(self, tool_call_id: str | None) -> None:
        try:
            await self._watch.look(tool_call_id)
        except RunwireError as wrong:
            # Somebody else is at the files, or there is no room: the next look tells what this one could not.
            log.info("the edits of run %s could not be told yet: %s", self._host.facts.run_id, wrong.message)


def _ended(outcome: Outcome) -> RunEnded:
    if isinstance(outcome, Cancelled):
        # Nobody here asked it to: had they, the run would have been stopped.
        return Failed("agent_stopped", outcome.reason or "the agent was stopped from elsewhere")
    return outcome
