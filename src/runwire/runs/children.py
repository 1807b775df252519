"""Children: runs that a run starts for parts of its work and waits for. They live in the same task and the same place.

None outlives the run that it works for: when that ends, is stopped, or is taken over from a lost worker, they end first.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from runwire.errors import RunFinished
from runwire.host import ChildEnd, Stopped
from runwire.journal.records import RunInfo
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.experimental import RunChildFinished, RunChildStarted
from runwire.runs.cancelling import Cancelling
from runwire.runs.errors import ChildRefused
from runwire.runs.hosting import Ground, Host
from runwire.runs.past import read_run, stored_events
from runwire.runs.rows.queue import children_of
from runwire.runs.starting import Starter

_PATIENCE_S = 3_600.0
_SUMMARY_MAX = 200
_ORPHANED = "the worker of the run that it worked for was lost"


class Children:
    """Starts children and waits for them."""

    def __init__(
        self,
        *,
        ground: Ground,
        starter: Starter,
        cancelling: Cancelling,
        lend: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        """`lend` gives a slot for as long as a parent only waits: with one slot alone, nobody would work on the child."""
        self._ground = ground
        self._starter = starter
        self._cancelling = cancelling
        self._lend = lend

    async def spawn(self, host: Host, agent: str, prompt: str, tool_call_id: str) -> ChildEnd:
        """Start a child and wait for its end; when the parent is stopped, so is the child."""
        held = host.held
        if not host.may_emit(RunChildStarted.type):
            raise ChildRefused("the task did not ask for child runs")
        if held.parent_run_id is not None:
            raise ChildRefused("a child starts no children of its own")
        child = await self._starter.child(held.info, held.task, agent=agent, prompt=prompt)
        run_id = child.birth.run_id
        summary = prompt.strip().partition("\n")[0][:_SUMMARY_MAX]
        host.emit(RunChildStarted(child_run_id=run_id, agent=agent, summary=summary, tool_call_id=tool_call_id))
        try:
            async with self._lend():
                info = await self._end_of(run_id)
        except (asyncio.CancelledError, Stopped):
            # A run that goes on elsewhere is taken up with its children; nobody else will ever look at them again.
            if host.stopping.why in {None, "cancelled"}:
                reason = host.stopping.reason or "the run that it worked for has ended"
                await self._cancelling.ask(run_id, by=host.stopping.by, reason=reason)
            raise
        host.spend_elsewhere(info.story.run.cost_micros_usd)
        return await self._tell_end(host, info)

    async def take_up(self, host: Host) -> None:
        """End what an earlier stay of a run had started and could not wait for, and tell how each of them ended.

        The calls that they worked for are over, so nobody would hear of what they find out.
        """
        if host.facts.fresh or not host.may_emit(RunChildStarted.type):
            return
        run_id, journal = host.held.run_id, self._ground.journal
        told: dict[str, bool] = {}
        for past in await read_run(journal, run_id):
            match past.payload:
                case RunChildStarted(child_run_id=child):
                    told[child] = True
                case RunChildFinished(child_run_id=child):
                    told.pop(child, None)
                case _:
                    pass
        for child in await journal.reader.query(lambda db: children_of(db, run_id)):
            told.setdefault(child, False)
        for child, was_told in told.items():
            if not was_told:
                info = await journal.reader.run(child)
                host.emit(RunChildStarted(child_run_id=child, agent=info.birth.agent, summary="started unseen"))
            await self._tell_end(host, await self._stopped(host, child))

    async def _stopped(self, host: Host, run_id: str) -> RunInfo:
        info = await self._ground.journal.reader.run(run_id)
        before_micros_usd = info.story.run.cost_micros_usd
        if not info.story.finished:
            # It may end by itself meanwhile.
            with suppress(RunFinished):
                await self._cancelling.cancel(run_id, by="system", reason=_ORPHANED)
            info = await self._end_of(run_id)
        host.spend_elsewhere(info.story.run.cost_micros_usd - before_micros_usd)
        return info

    async def _tell_end(self, host: Host, info: RunInfo) -> ChildEnd:
        state, run_id = info.story.run, info.birth.run_id
        end = ChildEnd(run_id, state.status, await self._answer(run_id), state.cost_micros_usd)
        host.emit(
            RunChildFinished(
                child_run_id=run_id,
                final_status=state.status,
                summary=end.summary[:_SUMMARY_MAX],
                cost_micros_usd=state.cost_micros_usd,
            )
        )
        return end

    async def _end_of(self, run_id: str) -> RunInfo:
        while True:
            # Listen before reading: the end may come between the two.
            ring = self._ground.journal.bell.listen(run_id, _PATIENCE_S)
            info = await self._ground.journal.reader.run(run_id)
            if info.story.finished:
                return info
            await ring

    async def _answer(self, run_id: str) -> str:
        """What the child said last."""
        answer = ""
        async for envelope in stored_events(self._ground.journal, run_id):
            if type_of(envelope) == AssistantTextComplete.type:
                payload = decode_payload(AssistantTextComplete.type, data_of(envelope))
                answer = payload.text if isinstance(payload, AssistantTextComplete) else answer
        return answer
