"""A run as Agno's clients follow it: read through the journal's ordinary reader, told by the translation."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from starlette.types import Send

from runwire.errors import NotFound, RunNotFound, ShuttingDown
from runwire.gateway.agno.frames import KEEP_ALIVE, Frame, encode_frame
from runwire.gateway.agno.sessions import told_session
from runwire.gateway.agno.translating import About, Translation
from runwire.gateway.call import Call, CallerGone
from runwire.gateway.services import Services
from runwire.gateway.sse import SLICE_BYTES, followed
from runwire.journal.frames import split
from runwire.journal.records import RunInfo

# The calls of one turn are asked about together. So long nothing may come before what was asked counts as all of it.
_SETTLE_S = 0.1
# The same while another call runs. It may be the one that asks, for a part of itself, and then it would wait for ever.
_SETTLE_BUSY_S = 1.0
# How soon to look again when the log is said to be longer than what could be read of it.
_LOOK_AGAIN_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Which part of a run a client is told."""

    continues_at: int | None = None
    """The sequence of the decision that it begins with; None: the run's beginning."""
    after: int = -1
    """The last frame that the client has."""
    history: bool = False
    """Whether pauses are told that are long over."""
    numbered: bool = False
    """Whether frames say in their JSON which they are."""


class Selection:
    """Picks what a client is told of a run."""

    def __init__(self, stretch: Stretch, translation: Translation) -> None:
        """Pick the frames of this stretch."""
        self._stretch = stretch
        self._translation = translation
        self._missed: list[tuple[int, Frame]] = []

    def pick(self, sequence: int, frames: Sequence[Frame]) -> list[Frame]:
        """What the client is told of this event."""
        stretch = self._stretch
        picked = [frame for frame in frames if frame.index > stretch.after and (stretch.history or not frame.aside)]
        if stretch.continues_at is None or sequence > stretch.continues_at:
            return picked
        if sequence < stretch.continues_at:
            # A call that ended while the client made up its mind ended behind the stream that it had.
            self._missed += [(sequence, frame) for frame in picked if frame.event == "ToolCallCompleted"]
            return []
        return picked + [frame for at, frame in self._missed if at > self._translation.asked_at]


BEGINNING = Stretch()


async def about_run(services: Services, info: RunInfo) -> About:
    """What every frame of a run carries."""
    birth, user_id = info.birth, None
    if birth.task_id is not None and info.story.run.kind == "agent_loop":
        try:
            given = (await services.runtime.tasks.get(birth.task_id)).input.get("user_id")
        except NotFound:
            given = None
        user_id = given if isinstance(given, str) else None
    return About(
        run_id=birth.run_id,
        agent_id=birth.agent,
        agent_name=agent_name(birth.agent),
        session_id=None if birth.session_id is None else told_session(birth.session_id),
        user_id=user_id,
    )


def agent_name(agent_id: str) -> str:
    """An agent's id as a title."""
    return agent_id.replace("_", " ").replace("-", " ").title()


async def stream(services: Services, call: Call, send: Send, about: About, stretch: Stretch = BEGINNING) -> None:
    """Tell a run until it pauses or ends. A slow client is waited for, and nothing is kept for it meanwhile."""
    translation = Translation(about, continues_at=stretch.continues_at)
    selection = Selection(stretch, translation)
    async with (
        followed(call, send, services.tally, services.tenures) as writer,
        aclosing(_steps(services, translation, about.run_id)) as steps,
    ):
        async for step in steps:
            told = [
                encode_frame(frame, numbered=stretch.numbered)
                for sequence, frames in step
                for frame in selection.pick(sequence, frames)
            ]
            if told:
                await writer.put(b"".join(told))
            elif writer.quiet_for(services.config.heartbeat_s) <= 0:
                await writer.put(KEEP_ALIVE)


async def collect(services: Services, call: Call, about: About) -> Translation:
    """Wait until a run pauses or ends, as long as the caller does."""
    translation, whole = Translation(about), False
    async with services.tenures.under(call.caller) as tenure:
        watch = asyncio.create_task(call.gone())
        watch.add_done_callback(hang_up := lambda _: tenure.end())
        try:
            async with aclosing(_steps(services, translation, about.run_id)) as steps:
                async for _ in steps:
                    pass
            whole = True
        finally:
            watch.remove_done_callback(hang_up)
            watch.cancel()
    if not whole:
        raise CallerGone
    if services.closing.is_set() and not translation.over:
        raise ShuttingDown
    return translation


async def glance(services: Services, about: About) -> Translation:
    """A run as it stands now."""
    translation, cursor = Translation(about), -1
    while (batch := await services.journal.reader.read(about.run_id, cursor, SLICE_BYTES)) is not None:
        for _, envelope in split(batch.frames):
            translation.feed(envelope)
        cursor = batch.last
    return translation


async def _steps(
    services: Services, translation: Translation, run_id: str
) -> AsyncGenerator[list[tuple[int, list[Frame]]]]:
    """What is told of each event, as it comes, until the run pauses or ends; an empty list now and then while nothing does."""
    reader, bell, beat_s = services.journal.reader, services.journal.bell, services.config.heartbeat_s
    cursor = -1
    while not services.closing.is_set():
        # Listen before reading: what lands between the two rings a bell we already hold.
        ring = bell.listen(run_id, beat_s)
        try:
            batch = await reader.read(run_id, cursor, SLICE_BYTES)
            if batch is not None:
                cursor = batch.last
                yield [(sequence, translation.feed(envelope)) for sequence, envelope in split(batch.frames)]
                if translation.over:
                    return
                continue
            info = await reader.run(run_id)
            if info.story.finished and info.head_sequence <= cursor:
                return
            behind = info.head_sequence > cursor
            rung, _ = await asyncio.wait([ring], timeout=_LOOK_AGAIN_S if behind else _patience_s(translation, beat_s))
        except RunNotFound:
            return
        finally:
            ring.cancel()
        if rung or behind:
            continue
        if translation.waiting:
            yield [(cursor, translation.rest())]
            return
        yield []


def _patience_s(translation: Translation, beat_s: float) -> float:
    """How long nothing may come before something is said."""
    if not translation.waiting:
        return beat_s
    return _SETTLE_BUSY_S if translation.busy else _SETTLE_S
