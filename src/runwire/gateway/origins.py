"""Where runs come from: what each is called, whether it is a demonstration, and which run it takes up. None of it changes."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from runwire.errors import RunNotFound
from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal
from runwire.journal.records import RunInfo
from runwire.protocol.events.run import RunResumedFromEvent
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload
from runwire.runs.past import told
from runwire.runs.rows.tasks import Label, labels_of
from runwire.runs.task import title_of

_KNOWN_MAX = 8_192
# Enough for what stands before the first thing that was said.
_BEGINNING_BYTES = 16 * 1024
_UNNAMED = Label("", demo=False)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a run."""

    run_id: str
    sequence: int


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run comes from."""

    title: str
    demo: bool
    resumed_from: Place | None = None
    branched_from: Place | None = None


class Origins:
    """Looks origins up, each once."""

    def __init__(self, journal: Journal) -> None:
        """Look into this journal."""
        self._journal = journal
        self._known: dict[str, Origin] = {}

    async def of(self, infos: Iterable[RunInfo]) -> Mapping[str, Origin]:
        """The origins of some runs, by their ids."""
        infos = list(infos)
        unknown = [info for info in infos if info.birth.run_id not in self._known]
        tasks = {info.birth.task_id for info in unknown if info.birth.task_id is not None}
        labels = await self._journal.reader.query(lambda db: labels_of(db, tasks)) if tasks else {}
        found = {info.birth.run_id: await self._look(info, labels) for info in unknown}
        wanted = {info.birth.run_id: self._known.get(info.birth.run_id) for info in infos}
        if len(self._known) + len(found) > _KNOWN_MAX:
            self._known.clear()
        # One that has said nothing yet may still be given a name.
        self._known |= {run_id: origin for run_id, origin in found.items() if origin.title}
        return {run_id: known or found[run_id] for run_id, known in wanted.items()}

    async def _look(self, info: RunInfo, labels: Mapping[str, Label]) -> Origin:
        run, label = info.story.run, labels.get(info.birth.task_id or "", _UNNAMED)
        if run.prior_run_id is None and run.parent_run_id is None and label.title:
            return Origin(title=label.title, demo=label.demo)
        beginning = await self._beginning(info.birth.run_id)
        title = label.title
        if run.parent_run_id is not None or not title:
            title = next((title_of(one.text) for one in beginning if isinstance(one, UserMessage)), title)
        first = beginning[0] if beginning else None
        if not isinstance(first, RunResumedFromEvent):
            return Origin(title=title, demo=label.demo)
        place = Place(run_id=first.from_run_id, sequence=first.from_sequence)
        if await self._task_of(first.from_run_id) in {None, info.birth.task_id}:
            return Origin(title=title, demo=label.demo, resumed_from=place)
        return Origin(title=title, demo=label.demo, branched_from=place)

    async def _beginning(self, run_id: str) -> Sequence[Payload | Opaque]:
        try:
            batch = await self._journal.reader.read(run_id, -1, _BEGINNING_BYTES)
        except RunNotFound:
            return []
        found = [] if batch is None else [told(envelope) for envelope in envelopes(batch.frames)]
        return [payload for payload in found if payload is not None]

    async def _task_of(self, run_id: str) -> str | None:
        try:
            return (await self._journal.reader.run(run_id)).birth.task_id
        except RunNotFound:
            return None
