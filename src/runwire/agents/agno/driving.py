"""Drives an agent, team or workflow of an AgentOS over HTTP: a leg a request, a pause a decision, and never a call twice.

The server checks little and forgets nothing, so the care is ours. Runs have our own ids there; a pause outlives us at the
server, and whoever takes the run up asks it again what it waits for. What was told to go on and never answered is not told again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from runwire.agents.agno import requests
from runwire.agents.agno.deciding import RequestRefused
from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.agno.requests import Request, Target
from runwire.agents.codec.framing import Framer
from runwire.agents.dialect import Cancelled, Item, Outcome, Overspent, Price, Question, StreamEnd, Telling
from runwire.agents.permission import ask_about
from runwire.agents.recording import Recorder
from runwire.clock import Clock
from runwire.host import Answer, Ended, Failed, RunHost, left_behind

log = logging.getLogger("runwire.agents")

_CONNECT_S = 10.0
_CANCEL_PATIENCE_S = 10.0
_DETAIL_MAX = 500
_INTERRUPTED = (
    "the server was told to go on when our worker was lost: the call may have been made, and is not made again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgnoServer:
    """Where an AgentOS is, and what there is meant."""

    url: str
    target: Target
    key: str | None = None
    silent_s: float = 900.0
    """How long its stream may be silent: it sends nothing while a tool works."""


class AgnoExecutor:
    """Executes runs by an AgentOS."""

    def __init__(self, *, server: AgnoServer, clock: Clock, price: Price | None = None) -> None:
        """Have runs done by this server."""
        self._server = server
        self._clock = clock
        self._price = price

    async def run(self, host: RunHost) -> Ended:
        """Have the run's prompt answered."""
        facts = host.facts
        telling = Telling(
            agent=facts.agent,
            driven=True,
            experimental=facts.experimental,
            first_turn=0 if facts.fresh else await _next_turn(host),
            budget_micros_usd=facts.budget_micros_usd,
            spent_before_micros_usd=facts.spent_before_micros_usd,
            price=self._price,
        )
        headers = {} if self._server.key is None else {"authorization": f"Bearer {self._server.key}"}
        timeout = httpx2.Timeout(_CONNECT_S, read=self._server.silent_s)
        async with httpx2.AsyncClient(
            base_url=self._server.url, headers=headers, timeout=timeout, trust_env=False
        ) as http:
            visit = _Visit(host, self._server.target, http, AgnoDialect(telling), self._clock)
            return await visit.hold()


class _Visit:
    """One run's stay with a server."""

    def __init__(
        self, host: RunHost, target: Target, http: httpx2.AsyncClient, dialect: AgnoDialect, clock: Clock
    ) -> None:
        self._host = host
        self._target = target
        self._http = http
        self._dialect = dialect
        self._clock = clock
        self._recorder = Recorder(host)
        self._questions: list[Question] = []
        self._failure: Failed | None = None
        # Ours, so that whoever comes after us finds the run again.
        self._run_id = host.facts.run_id
        self._session_id = host.facts.session_id or host.facts.run_id

    async def hold(self) -> Ended:
        """Go from leg to leg until there is nothing more to say."""
        try:
            request = self._start(self._host.facts.prompt) if self._host.facts.fresh else await self._take_up()
            while request is not None:
                await self._leg(request)
                request = await self._next()
        except asyncio.CancelledError:
            await self._cancel()
            await self._close(StreamEnd())
            raise
        except RequestRefused as refused:
            self._failure = self._failure or Failed("agno_refused", str(refused))
        return self._failure or _ended(await self._close(StreamEnd()))

    # Legs.

    def _start(self, prompt: str) -> Request:
        self._dialect.teller.leg_begins()
        return requests.start(self._target, prompt, session_id=self._session_id, run_id=self._run_id)

    async def _leg(self, request: Request) -> None:
        """Send a request and hear all that comes of it."""
        framer = Framer()
        try:
            async with self._sent(request) as response:
                if response.status_code >= 400:
                    detail = (await response.aread())[:_DETAIL_MAX].decode("utf-8", "replace")
                    self._failure = Failed(f"http_{response.status_code}", f"the server refuses: {detail}")
                    return
                async for piece in response.aiter_raw():
                    await self._hear(framer, piece)
                    if self._failure is not None:
                        await self._cancel()
                        return
        except httpx2.HTTPError as broken:
            why = f"{type(broken).__name__}: {broken}".rstrip(": ")
            if not self._dialect.teller.turns and not self._dialect.teller.tools.open:
                self._failure = Failed("agent_unreachable", f"{self._target.name}: {why}", retriable=True)
                return
            log.info("the stream of run %s broke off: %s", self._run_id, why)
        for frame in framer.end():
            self._dialect.feed(frame.data, self._clock.now_ns(), frame.name)
        await self._act()
        if self._dialect.teller.outcome is None and not self._questions:
            await self._look()

    @asynccontextmanager
    async def _sent(self, request: Request) -> AsyncGenerator[httpx2.Response]:
        form = {"content-type": "application/x-www-form-urlencoded"} if request.form else {}
        body = request.body if request.form else None
        async with self._http.stream(request.method, request.url, content=body, headers=form) as response:
            yield response

    async def _hear(self, framer: Framer, piece: bytes) -> None:
        now_ns = self._clock.now_ns()
        for frame in framer.feed(piece):
            self._dialect.feed(frame.data, now_ns, frame.name)
        await self._act()
        if self._dialect.teller.turns > self._host.facts.max_turns:
            most = self._host.facts.max_turns
            self._failure = self._failure or Failed("max_turns", f"the agent took more than {most} turns")

    async def _act(self) -> None:
        items: list[Item] = self._dialect.teller.take()
        await self._recorder.record(items)
        for item in items:
            if isinstance(item, Question):
                self._questions.append(item)
            elif isinstance(item, Overspent):
                self._failure = self._failure or Failed("budget_exceeded", "the budget is spent")

    async def _look(self) -> None:
        """Ask the server what became of a run whose stream said no end."""
        request = requests.poll(self._target, self._run_id, session_id=self._session_id)
        try:
            response = await self._http.request(request.method, request.url)
        except httpx2.HTTPError:
            return
        if response.status_code == 200:
            self._dialect.feed(response.content, self._clock.now_ns())
            await self._act()

    # Between legs.

    async def _next(self) -> Request | None:
        """What to send next: the answers to what the run waits for, or what people have said; None when all is said."""
        if self._failure is not None:
            return None
        if self._questions:
            return await self._answered()
        said = await self._host.said() if self._dialect.teller.outcome is not None else ()
        if not said:
            return None
        # Another run of the same session there; only the first has our id.
        text = "\n\n".join(one.text for one in said)
        self._dialect.teller.leg_begins()
        return requests.start(self._target, text, session_id=self._session_id)

    async def _answered(self) -> Request | None:
        """Have everything decided that the run waits for, all at once, and tell it to go on."""
        questions, self._questions = self._questions, []
        turn = self._dialect.teller.turn_index
        # Nothing of it is lost with us: the server keeps the run as it is.
        answers = await asyncio.gather(*(self._host.ask(ask_about(one, turn), parks=True) for one in questions))
        for question, answer in zip(questions, answers, strict=True):
            try:
                self._dialect.answer(question.question_id, answer)
            except RequestRefused as refused:
                self._failure = Failed("approval_denied" if not answer.allowed else "answer_refused", str(refused))
            if answer.stop and not answer.allowed:
                self._failure = Failed("approval_denied", answer.told or "stopped by a denial")
        if self._failure is not None or self._dialect.pause is None:
            await self._cancel()
            return None
        self._begin_allowed(questions, answers)
        await self._act()
        # Durable before the server is told: what was begun and not ended is never begun again.
        await self._host.emit()
        return requests.go_on(self._target, self._dialect.pause)

    def _begin_allowed(self, questions: list[Question], answers: list[Answer]) -> None:
        for question, answer in zip(questions, answers, strict=True):
            call = self._dialect.teller.tools.call(question.tool_call_id or "")
            if call is not None and answer.allowed and question.kind == "permission":
                self._dialect.teller.tool_begins(call)

    async def _take_up(self) -> Request | None:
        """Go on with a run whose worker was lost: with what it waits for, or with how it ended meanwhile."""
        left = left_behind(await self._host.past(), self._run_id)
        self._dialect.teller.leg_begins()
        if left.calls and not left.questions:
            self._failure = Failed("interrupted", _INTERRUPTED)
            return None
        await self._look()
        if self._questions:
            return await self._answered()
        if self._dialect.teller.outcome is None:
            self._failure = Failed("agent_gone", "the server does not know the run any more", retriable=True)
        return None

    # Ends.

    async def _cancel(self) -> None:
        """Ask the server to stop the run. That it says yes means nothing; hanging up ends what it streams."""
        self._dialect.cancel("system", self._failure.message if self._failure else "")
        request = requests.cancel(self._target, self._run_id, session_id=self._session_id)
        try:
            async with asyncio.timeout(_CANCEL_PATIENCE_S):
                await self._http.request(request.method, request.url)
        except (httpx2.HTTPError, TimeoutError) as broken:
            log.info("run %s could not be cancelled at its server: %r", self._run_id, broken)

    async def _close(self, end: StreamEnd) -> Outcome:
        outcome = self._dialect.end(end, self._clock.now_ns())
        await self._act()
        return outcome


async def _next_turn(host: RunHost) -> int:
    run_id = host.facts.run_id
    return sum(1 for one in await host.past() if one.run_id == run_id and one.payload.type == "turn.started")


def _ended(outcome: Outcome) -> Ended:
    if isinstance(outcome, Cancelled):
        return Failed("agent_stopped", outcome.reason or "the run was cancelled at its server")
    return outcome
