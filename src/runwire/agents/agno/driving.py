"""Drives an agent, team or workflow of an AgentOS over HTTP: a leg a request, a pause a decision, and never a call twice.

The server checks little and forgets nothing, so the care is ours. Runs have our own ids there; a pause outlives us at the
server, and whoever takes the run up asks it again what it waits for. What was told to go on and never answered is not told again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from msgspec.structs import replace

from runwire.agents.agno import requests
from runwire.agents.agno.deciding import RequestRefused
from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.agno.requests import Request, Target
from runwire.agents.agno.taking_up import begun, name_of, said_later, told_to_go_on
from runwire.agents.codec.framing import Framer
from runwire.agents.dialect import Cancelled, Item, Outcome, Overspent, Price, Question, StreamEnd, Telling
from runwire.agents.permission import ask_about
from runwire.agents.recording import Recorder
from runwire.agents.tools import line
from runwire.clock import Clock
from runwire.host import Answer, Ended, Failed, RunHost, ToolAsk, left_behind

log = logging.getLogger("runwire.agents")

_CONNECT_S = 10.0
_RETURN_S = 60.0
"""So long a server that is being started again is waited for, when there is something to tell it."""
_RETURN_LOOK_S = 0.5
_CANCEL_PATIENCE_S = 3.0
_DETAIL_MAX = 500
_HEALTH = "/health"
_OK = 200
_ASKS_MAX = 3
"""So often a person is asked for an answer that fits."""
_INTERRUPTED = "the server was told to go on when our worker was lost: what it did then is not done again"


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
        self._session_id = host.facts.session_id or host.facts.task_id
        self._said = 0
        self._lost = "the stream ended without saying how the run did"

    async def hold(self) -> Ended:
        """Go from leg to leg until there is nothing more to say."""
        try:
            request = self._start(self._host.facts.prompt) if self._host.facts.fresh else await self._take_up()
            while request is not None:
                await self._leg(request)
                request = await self._next()
        except asyncio.CancelledError:
            await self._cancel()
            await self._close()
            raise
        except RequestRefused as refused:
            self._failure = self._failure or Failed("agno_refused", str(refused))
        return self._failure or _ended(await self._close())

    # Legs.

    def _start(self, prompt: str) -> Request:
        self._dialect.teller.leg_begins()
        return requests.start(self._target, prompt, session_id=self._session_id, run_id=self._run_id)

    async def _leg(self, request: Request) -> None:
        """Send a request and hear all that comes of it."""
        framer = Framer()
        try:
            async with self._sent(request) as response:
                if response.status_code != _OK:
                    detail = await _detail(response)
                    self._failure = Failed(f"http_{response.status_code}", f"the server refuses: {detail}")
                    return
                async for piece in response.aiter_bytes():
                    await self._hear(framer, piece)
                    if self._failure is not None:
                        await self._cancel()
                        return
        except httpx2.HTTPError as broken:
            why = f"{type(broken).__name__}: {broken}".rstrip(": ")
            if not self._dialect.teller.turns and not self._dialect.teller.tools.open:
                where = self._http.base_url
                self._failure = Failed(
                    "agent_unreachable",
                    f"no AgentOS answers at {where} ({why}); start it, or mend its url",
                    retriable=True,
                )
                return
            log.info("the stream of run %s broke off: %s", self._run_id, why)
            self._lost = f"the stream broke off: {why}"
        for frame in framer.end():
            self._dialect.feed(frame.data, self._clock.now_ns(), frame.name)
        await self._act()
        if self._dialect.teller.outcome is None and not self._questions:
            await self._look()

    @asynccontextmanager
    async def _sent(self, request: Request) -> AsyncGenerator[httpx2.Response]:
        form = {"content-type": request.content_type} if request.form else {}
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
        if response.status_code == _OK:
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
        self._said += len(said)
        self._name()
        return self._start("\n\n".join(one.text for one in said))

    def _name(self) -> None:
        """What people say later is another run of the same session there; its id tells which."""
        self._run_id = self._host.facts.run_id + (f"-{self._said}" if self._said else "")

    async def _answered(self) -> Request | None:
        """Have everything decided that the run waits for, all at once, and tell it to go on."""
        questions, self._questions = self._questions, []
        # Nothing of it is lost with us: the server keeps the run as it is.
        answers = await asyncio.gather(*(self._decide(question) for question in questions))
        for answer in answers:
            if answer.stop and not answer.allowed:
                self._failure = Failed("approval_denied", answer.told or "stopped by a denial")
        if self._failure is not None or self._dialect.pause is None:
            await self._cancel()
            return None
        if not await self._is_there():
            self._failure = Failed("agent_unreachable", "the server did not come back to be told", retriable=True)
            return None
        self._begin_allowed(questions, answers)
        await self._act()
        # Durable before the server is told: what it was told once it is never told again.
        await self._host.emit(told_to_go_on(questions))
        self._dialect.pause.session_id = self._dialect.pause.session_id or self._session_id
        return requests.go_on(self._target, self._dialect.pause)

    async def _decide(self, question: Question) -> Answer:
        """Have one thing decided. An answer that does not fit is asked for again, and never sent."""
        ask, tries = self._ask(question), 1
        while True:
            answer = await self._host.ask(ask, parks=True)
            try:
                self._dialect.answer(question.question_id, answer)
            except RequestRefused as refused:
                if not answer.allowed:
                    self._failure = Failed("approval_denied", answer.told or str(refused))
                elif tries == _ASKS_MAX:
                    self._failure = Failed("answer_refused", str(refused))
                else:
                    tries += 1
                    ask = replace(ask, summary=line(f"{refused} - {question.summary}"))
                    continue
            return answer

    def _ask(self, question: Question) -> ToolAsk:
        ask = ask_about(question, self._dialect.teller.turn_index)
        if question.kind == "permission":
            return ask

        def recheck(given: Mapping[str, object]) -> ToolAsk:
            # Whether it fits is seen where it is used: there it can be asked for again.
            return replace(ask, input=given, recheck=recheck)

        return replace(ask, recheck=recheck)

    def _begin_allowed(self, questions: list[Question], answers: list[Answer]) -> None:
        for question, answer in zip(questions, answers, strict=True):
            call = self._dialect.teller.tools.call(question.tool_call_id or "")
            if call is not None and answer.allowed:
                self._dialect.teller.tool_begins(call)

    async def _take_up(self) -> Request | None:
        """Go on with a run whose worker was lost: with what it waits for, or with how it ended meanwhile."""
        past = await self._host.past()
        left = left_behind(past, self._run_id)
        told = begun(past, self._run_id)
        self._said = said_later(past, self._run_id)
        self._name()
        self._dialect.teller.leg_begins()
        if left.calls and not left.questions:
            self._failure = Failed("interrupted", _INTERRUPTED)
            return None
        await self._look()
        if any(name_of(question) in told for question in self._questions):
            # It waits, for it does not know any more what it did.
            self._failure = Failed("interrupted", _INTERRUPTED)
        elif self._questions:
            return await self._answered()
        elif self._dialect.teller.outcome is None:
            self._failure = Failed("agent_gone", "the server does not tell how the run ended", retriable=True)
        elif isinstance(self._dialect.teller.outcome, Cancelled):
            self._failure = Failed(
                "agent_gone", "the run was stopped at its server when our worker went", retriable=True
            )
        if self._failure is not None:
            await self._cancel()
        return None

    async def _is_there(self) -> bool:
        """Whether the server can be told anything. Who decides takes hours, and servers are started again meanwhile."""
        try:
            async with asyncio.timeout(_RETURN_S):
                while True:
                    try:
                        await self._http.get(_HEALTH)
                    except httpx2.HTTPError:
                        await asyncio.sleep(_RETURN_LOOK_S)
                    else:
                        return True
        except TimeoutError:
            return False

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

    async def _close(self) -> Outcome:
        outcome = self._dialect.end(StreamEnd(lost=self._lost), self._clock.now_ns())
        await self._act()
        return outcome


async def _detail(response: httpx2.Response) -> str:
    """The beginning of what the server says about its refusal."""
    found = b""
    async for piece in response.aiter_bytes():
        found += piece
        if len(found) >= _DETAIL_MAX:
            break
    return found[:_DETAIL_MAX].decode("utf-8", "replace")


async def _next_turn(host: RunHost) -> int:
    run_id = host.facts.run_id
    return sum(1 for one in await host.past() if one.run_id == run_id and one.payload.type == "turn.started")


def _ended(outcome: Outcome) -> Ended:
    if isinstance(outcome, Cancelled):
        return Failed("agent_stopped", outcome.reason or "the run was cancelled at its server")
    return outcome
