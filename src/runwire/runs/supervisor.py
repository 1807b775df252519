"""One run's stay with a worker: its executor under a host, what stops it, and how the stay ends."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from runwire.host import Ended, Executor, Failed, Past, RunFacts, Stopped
from runwire.journal.bell.topics import QUEUE, control
from runwire.journal.journal import Journal
from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.run import RunQueued
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Payload
from runwire.runs.ending import ApprovalsMoved, cancelled, denials, over, pending_approvals, terminal, totals
from runwire.runs.hosting import Deciding, Ground, Held, Host, Parenting, Terms, Ties
from runwire.runs.past import birth_of, read_chain, read_run, resumed_from, waited_ns
from runwire.runs.recovering import left_open
from runwire.runs.rows.queue import find_entry, give_back, park
from runwire.runs.task import Task

_NS = 1_000_000_000
_CLEAN_UP_S = 6.0
_PATIENCE_S = 3_600.0
_RESTING = "the worker stops; the run waits for another"

Outcome = Ended | Stopped


@dataclass(frozen=True, slots=True)
class Manners:
    """How patient a worker is."""

    park_after_s: float = 60.0
    close_grace_s: float = 10.0


class Control:
    """Listens for one run from before it is claimed, so that no word about it is missed."""

    def __init__(self, *, journal: Journal, run_id: str) -> None:
        """Begin to listen."""
        self._journal = journal
        self._run_id = run_id
        self._ring = journal.bell.listen(control(run_id), _PATIENCE_S)
        self._looking: set[asyncio.Task[None]] = set()
        self._closed = False

    def watch(self, host: Host) -> None:
        """Tell the host of what is said to its run, and stop it when somebody asks for that."""
        self._ring.add_done_callback(lambda ring: self._rung(ring, host))

    def close(self) -> None:
        """Listen no more."""
        self._closed = True
        for task in self._looking:
            task.cancel()
        self._journal.bell.signal(control(self._run_id))

    def _rung(self, ring: "asyncio.Future[bool]", host: Host) -> None:
        if self._closed or ring.cancelled():
            return
        # Listen before reading: what is said meanwhile rings a bell we already hold.
        self._ring = self._journal.bell.listen(control(self._run_id), _PATIENCE_S)
        self.watch(host)
        if ring.result():
            # Few runs are ever spoken to, so that a task for each to wait in would be for nothing.
            looking = asyncio.get_running_loop().create_task(self._look(host))
            self._looking.add(looking)
            looking.add_done_callback(self._looking.discard)

    async def _look(self, host: Host) -> None:
        entry = await self._journal.reader.query(lambda db: find_entry(db, self._run_id))
        host.ring()
        if entry is not None and entry.cancel_by is not None:
            host.stop("cancelled", by=entry.cancel_by, reason=entry.cancel_reason or "")


class Supervisor:
    """Carries runs through their stay with this worker, whatever happens to their executors."""

    def __init__(
        self,
        *,
        ground: Ground,
        executors: Mapping[str, Executor],
        deciding: Deciding,
        unsealed: Callable[[Task], Awaitable[Task]],
        children: Parenting,
        manners: Manners = Manners(),  # noqa: B008 - it is frozen
    ) -> None:
        """Carry runs of these executors; `unsealed` gives a task its secrets."""
        self._ground = ground
        self._executors = executors
        self._deciding = deciding
        self._unsealed = unsealed
        self._children = children
        self._manners = manners
        self._hosts: dict[str, Host] = {}
        self._closing = False
        self._graces: dict[str, asyncio.TimerHandle] = {}

    async def carry(self, held: Held, alive: Callable[[], bool], word: Control) -> Awaitable[None]:
        """Work on a run until its stay is over; what comes back ends the stay and may be left to itself."""
        host, own = await self._open(held, alive)
        self._hosts[held.run_id] = host
        if self._closing:
            # It was being claimed when that began.
            self._let_rest(host)
        limit = None if host.facts.timeout_s is None else _Limit(host, self._left_s(host, own))
        word.watch(host)
        try:
            outcome = await self._work(host)
        finally:
            word.close()
            if limit is not None:
                limit.cancel()
            del self._hosts[held.run_id]
            if (grace := self._graces.pop(held.run_id, None)) is not None:
                grace.cancel()
        return self._conclude(host, outcome)

    def lose(self) -> None:
        """The lease is gone: every executor stops, and nothing more is told."""
        for host in list(self._hosts.values()):
            host.stop("lost", reason="the lease ran out")

    def close(self) -> None:
        """Let every run come to rest, and those that come after: first at a place of its own choice, then wherever it is."""
        self._closing = True
        for host in list(self._hosts.values()):
            self._let_rest(host)

    def _let_rest(self, host: Host) -> None:
        host.close()
        stop = partial(host.stop, "closing", by="system", reason=_RESTING)
        loop = asyncio.get_running_loop()
        self._graces[host.held.run_id] = loop.call_later(self._manners.close_grace_s, stop)

    async def _open(self, held: Held, alive: Callable[[], bool]) -> tuple[Host, list[Past]]:
        past = list(held.known) if held.known is not None else await read_chain(self._ground.journal, held.run_id)
        task = await self._unsealed(held.task)
        own = [one for one in past if one.run_id == held.run_id]
        facts = _facts(held, task, own, self._deciding.terms(held.task))
        ties = Ties(alive=alive, spawn=self._children.spawn, park_after_s=self._manners.park_after_s)
        host = Host(held=held, ground=self._ground, deciding=self._deciding, facts=facts, ties=ties)
        host.begin(past)
        return host, own

    def _left_s(self, host: Host, own: list[Past]) -> float:
        """What is left of the run's time. Waiting for people is not the run's own time."""
        started_ns = host.held.info.story.run.started_ns
        used_ns = 0 if started_ns is None else self._ground.clock.now_ns() - started_ns - waited_ns(own)
        return (host.facts.timeout_s or 0.0) - used_ns / _NS

    async def _work(self, host: Host) -> Outcome:
        executor = executor_for(self._executors, host.facts.agent, host.facts.kind)
        if executor is None:
            missing = f"this worker has no executor for {host.facts.agent}:{host.facts.kind}"
            return Failed("agent_unavailable", missing)
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        working = loop.create_task(_outcome(executor, host, self._children, over))
        # One that is cancelled before it begins says nothing.
        working.add_done_callback(lambda _: _settle(over))
        host.execute(working)
        # Waited for and not awaited: one that was cancelled at its very last step would pass for a cancellation of ours.
        try:
            await over
        except asyncio.CancelledError:
            working.cancel()
            await asyncio.wait([working], timeout=_CLEAN_UP_S)
            raise
        return Stopped(host.stopping.why or "closing") if working.cancelled() else working.result()

    async def _conclude(self, host: Host, outcome: Outcome) -> None:
        """End the stay as it has to be: with the run's end, or so that another worker goes on."""
        stopping = host.stopping
        if stopping.why == "lost" or (isinstance(outcome, Stopped) and outcome.why == "lost"):
            return
        try:
            if stopping.mistake is not None:
                await self._fail_after_mistake(host, stopping.mistake)
            elif isinstance(outcome, Stopped):
                await self._stopped(host, outcome)
            else:
                await self._end(host, outcome)
        except Stopped:
            # Lost at the last moment: another worker tells how it ends.
            return
        finally:
            host.let_go()
        if host.held.parent_run_id is not None:
            self._ground.journal.signal(QUEUE)

    async def _stopped(self, host: Host, outcome: Stopped) -> None:
        stopping = host.stopping
        if stopping.why == "cancelled":
            await self._end(host, None)
        elif stopping.timed_out:
            limit = host.facts.timeout_s
            await self._end(host, Failed("run_timed_out", f"the run took longer than {limit:g} s"))
        elif outcome.why == "parked" and not host.left.calls and not host.left.turns:
            held = host.held
            await host.emit()
            await self._ground.journal.write(lambda db: park(db, held.run_id, held.generation))
            self._ground.journal.signal(QUEUE)
        else:
            await self._release(host)

    async def _release(self, host: Host) -> None:
        held, now_ns = host.held, self._ground.clock.now_ns()
        if await self._was_cancelled(host):
            await self._end(host, None)
            return
        ends = host.left.cancelled(now_ns, "system", _RESTING, will_retry=True)
        resting = AgentStateChanged(from_="working", to="idle", reason=_RESTING)
        await host.emit(*ends, resting, also=lambda db: give_back(db, held.run_id, held.generation))
        self._ground.journal.signal(QUEUE)

    async def _was_cancelled(self, host: Host) -> bool:
        """Whether somebody asked to cancel a run that is about to be given back: nobody would look at that again."""
        run_id = host.held.run_id
        entry = await self._ground.journal.reader.query(lambda db: find_entry(db, run_id))
        if entry is None or entry.cancel_by is None:
            return False
        host.stopping.why, host.stopping.by, host.stopping.reason = (
            "cancelled",
            entry.cancel_by,
            entry.cancel_reason or "",
        )
        return True

    async def _end(self, host: Host, ended: Ended | None) -> None:
        """Tell the run's end; None when it was cancelled. Whatever it left open ends first."""
        held, now_ns, stopping = host.held, self._ground.clock.now_ns(), host.stopping
        sums = totals(turns=host.turns, cost_micros_usd=host.cost_micros_usd, started_ns=host.started_ns, now_ns=now_ns)
        ends: list[Payload]
        if ended is None:
            by, comment = stopping.by, "run cancelled"
            ends = host.left.cancelled(now_ns, stopping.by, stopping.reason)
            last = cancelled(stopping.by, stopping.reason, sums)
        else:
            by, comment, code = "system", "the run ended", "run_ended"
            if isinstance(ended, Failed):
                comment, code = f"the run failed: {ended.message}", ended.code
            ends = host.left.interrupted(now_ns, code=code, message="the run ended", will_retry=False)
            last = terminal(ended, sums)
        pending: list[str] = []
        while True:
            effect = over(held.run_id, pending, by=by, comment=comment, now_ns=now_ns)
            try:
                await host.emit(*ends, *denials(pending, by=by, comment=comment), last, also=effect)
            except ApprovalsMoved:
                pending = await self._ground.journal.reader.query(lambda db: pending_approvals(db, held.run_id))
            else:
                return

    async def _fail_after_mistake(self, host: Host, mistake: BaseException) -> None:
        """The executor emitted what cannot be stored, and with it some that could: the log alone knows what is open."""
        held, journal, now_ns = host.held, self._ground.journal, self._ground.clock.now_ns()
        own = await read_run(journal, held.run_id)
        left = left_open(own, held.run_id)
        info = await journal.reader.run(held.run_id)
        state = info.story.run
        sums = totals(
            turns=state.turns, cost_micros_usd=state.cost_micros_usd, started_ns=state.started_ns, now_ns=now_ns
        )
        pending = await journal.reader.query(lambda db: pending_approvals(db, held.run_id))
        ends = left.interrupted(now_ns, code="internal_error", message="the run ended", will_retry=False)
        last = terminal(Failed("internal_error", f"an event could not be stored: {mistake}"), sums)
        effect = over(held.run_id, pending, by="system", comment="run ended", now_ns=now_ns)
        told = [*ends, *denials(pending, by="system", comment="run ended"), last]
        await journal.append_all(held.run_id, told, lease=held.generation, also=effect)


def executor_for(executors: Mapping[str, Executor], agent: str, kind: str) -> Executor | None:
    """What does the work of an agent: known for it and the kind, for it alone, or for the family that it names (`acp:…`)."""
    family = agent.partition(":")[0]
    return executors.get(f"{agent}:{kind}") or executors.get(agent) or executors.get(family)


class _Limit:
    """Ends a run that has taken all its time."""

    def __init__(self, host: Host, left_s: float) -> None:
        self._host = host
        self._left_s = left_s
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._timer = self._loop.call_later(max(0.0, left_s), self._look)

    def cancel(self) -> None:
        """The run is over."""
        self._timer.cancel()

    def _look(self) -> None:
        left_s = self._left_s - (self._loop.time() - self._began - self._host.waited_s())
        if left_s > 0:
            self._timer = self._loop.call_later(left_s, self._look)
        else:
            self._host.time_out()


def _settle(over: "asyncio.Future[None]") -> None:
    if not over.done():
        over.set_result(None)


async def _outcome(executor: Executor, host: Host, children: Parenting, over: "asyncio.Future[None]") -> Outcome:
    """What became of the executor, as a value. This is a task's root: whatever it raises, the run is told of it.

    The last thing it does is to say that it is `over`: who waits for that goes on a round sooner than who waits for the task.
    """
    try:
        await children.take_up(host)
        return await executor.run(host)
    except Stopped as stopped:
        return stopped
    except asyncio.CancelledError:
        return Stopped(host.stopping.why or "closing")
    except BaseExceptionGroup as group:
        found = group.subgroup(Stopped)
        stopped_one = _first(found) if found is not None else None
        return stopped_one if isinstance(stopped_one, Stopped) else _mistake(_first(group))
    except Exception as failure:  # noqa: BLE001 - see above
        return _mistake(failure)
    finally:
        _settle(over)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _mistake(failure: BaseException) -> Failed:
    return Failed("internal_error", f"{type(failure).__name__}: {failure}")


def _facts(held: Held, task: Task, own: list[Past], terms: Terms) -> RunFacts:
    """What is settled about a run: its task's settings, and what its own birth says otherwise."""
    birth = birth_of(own, held.run_id)
    return RunFacts(
        run_id=held.run_id,
        task_id=task.task_id,
        session_id=task.session_id,
        agent=held.info.birth.agent,
        kind=task.kind,
        prompt=next((one.payload.text for one in own if isinstance(one.payload, UserMessage)), task.prompt),
        model=task.model if birth is None else _model(birth),
        input=task.input,
        workspace=held.workspace,
        workspace_mode=held.mode,
        experimental=frozenset(task.experimental),
        env=task.env,
        timeout_s=task.timeout_s,
        mcp_servers=task.mcp_servers,
        rewrites=terms.rewrites,
        auto_apply=terms.auto_apply,
        allow_unconfined=terms.allow_unconfined,
        allow_hosts=terms.allow_hosts,
        allow_network=terms.allow_network,
        max_turns=task.max_turns or terms.max_turns,
        budget_micros_usd=held.task.budget_micros_usd,
        spent_before_micros_usd=held.spent_before_micros_usd,
        fresh=held.info.story.run.started_ns is None and resumed_from(own) is None,
    )


def _model(birth: RunQueued) -> str | None:
    return birth.model if birth.provider is None else f"{birth.provider}:{birth.model}"
