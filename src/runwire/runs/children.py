"""Children: runs that a run starts for parts of its work and waits for. They live in the same task and the same place."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from runwire.host import ChildEnd, Stopped
from runwire.journal.records import RunInfo
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.experimental import RunChildFinished, RunChildStarted
from runwire.runs.cancelling import Cancelling
from runwire.runs.errors import ChildRefused
from runwire.runs.hosting import Ground, Host
from runwire.runs.past import stored_events
from runwire.runs.starting import Starter

_PATIENCE_S = 3_600.0
_SUMMARY_MAX = 200


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
            if host.stopping.why == "cancelled":
                await self._cancelling.ask(run_id, by=host.stopping.by, reason=host.stopping.reason)
            raise
        state = info.story.run
        end = ChildEnd(run_id, state.status, await self._answer(run_id), state.cost_micros_usd)
        host.spend_elsewhere(state.cost_micros_usd)
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
