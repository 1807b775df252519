"""Every way a run is born: first, again, resumed, continued, branched, as a child. Its first events and its row are one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import apsw
from msgspec import UNSET
from msgspec.structs import replace

from runwire.errors import RunActive, RunFinished, TaskNotFound
from runwire.journal.artifact import ArtifactMeta, Kind, NewArtifact
from runwire.journal.bell.topics import QUEUE
from runwire.journal.effects import together
from runwire.journal.records import Effect, RunBirth, RunInfo
from runwire.protocol.catalogue import may_emit
from runwire.protocol.events.experimental import RunBranched
from runwire.protocol.events.run import RunQueued, RunResumedFromEvent
from runwire.protocol.events.user import UserAttachment, UserMessage
from runwire.protocol.payload import Payload
from runwire.runs.budget import raised, spent_by_others
from runwire.runs.checkpoints import resume_point
from runwire.runs.errors import NotResumable, TaskInvalid
from runwire.runs.hosting import Ground
from runwire.runs.past import next_turn, read_chain, read_run
from runwire.runs.rows.messages import hand_on_messages
from runwire.runs.rows.queue import NewEntry, active_run, insert_entry
from runwire.runs.rows.tasks import (
    Workplace,
    find_task,
    find_workplace,
    insert_task,
    insert_workplace,
    is_demo,
    raise_budget,
)
from runwire.runs.task import Attachment, Task, decode_task, encode_task, split_model
from runwire.runs.vault import Vault


class Workplaces(Protocol):
    """Makes the places where runs work, and removes them."""

    async def make(self, *, task_id: str, run_id: str, path: Path | None, mode: str) -> Workplace:
        """A place of the mode, out of `path`; one that cannot be is a WorkspaceInvalid."""
        ...

    async def remove(self, place: Workplace) -> None:
        """Remove what `make` has made; a place that was there before stays."""
        ...


Replay = Callable[[str, int, Path], Awaitable[None]]
"""Does the patches that a run had applied up to a sequence once more, in another place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """How a run is taken up: from where, and what changes."""

    from_sequence: int | None = None
    checkpoint_id: str | None = None
    prompt: str | None = None
    attachments: Sequence[Attachment] = ()
    """Files that go with the prompt."""
    model: str | None = None
    budget_micros_usd: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Birth:
    """A run that is about to be born."""

    run_id: str
    task: Task
    place: Workplace
    payloads: Sequence[Payload]
    agent: str = ""
    parent_run_id: str | None = None


class Starter:
    """Starts runs. What it returns has been accepted for good."""

    def __init__(self, *, ground: Ground, workplaces: Workplaces, vault: Vault, replay: Replay | None = None) -> None:
        """Start runs in places that `workplaces` makes; `replay` brings a branch's place to where it left."""
        self._ground = ground
        self._workplaces = workplaces
        self._vault = vault
        self._replay = replay

    async def first(
        self,
        task: Task,
        *,
        prompt: str | None = None,
        attachments: Sequence[Attachment] = (),
        also: Effect | None = None,
    ) -> RunInfo:
        """A run of a task from its beginning; `also` may store the task itself."""
        return await self._fresh(task, prompt, None, attachments, also)

    async def another(
        self, task_id: str, *, prompt: str | None = None, model: str | None = None, also: Effect | None = None
    ) -> RunInfo:
        """One more run of a task, from its beginning."""
        task = await self._task(task_id)
        await self._require_idle(task_id)
        return await self._fresh(_with_model(task, model), prompt, None, (), also)

    async def retry(self, run_id: str, again: Again = Again(), *, also: Effect | None = None) -> RunInfo:  # noqa: B008 - frozen
        """A run of the same task from its beginning, in a place of its own. Nothing of the old conversation counts."""
        info = await self._ground.journal.reader.run(run_id)
        task = await self._task(info.birth.task_id or "")
        await self._require_idle(task.task_id)
        task, budget = _with_budget(_with_model(task, again.model), again.budget_micros_usd)
        own = await read_run(self._ground.journal, run_id)
        said = next((one.payload.text for one in own if isinstance(one.payload, UserMessage)), None)
        return await self._fresh(task, said, run_id, (), together(budget, also))

    async def resume(self, run_id: str, again: Again = Again(), *, also: Effect | None = None) -> RunInfo:  # noqa: B008 - frozen
        """A new run that goes on where another was, or with a prompt: continues from there. Same task, same place."""
        info = await self._ground.journal.reader.run(run_id)
        task = await self._task(info.birth.task_id or "")
        _require_conversation(task)
        await self._require_idle(task.task_id)
        task, budget = _with_budget(_with_model(task, again.model), again.budget_micros_usd)
        place = await self._place_of(run_id)
        new_id = self._ground.ids.new("run")
        spent = await spent_by_others(self._ground.journal, task)
        payloads = await self._taken_up(task, place, info, again, spent)
        said = payloads[-1]
        turn = said.turn_index if isinstance(said, UserMessage) else 0
        attached, keeping = await self._attached(new_id, task, again.attachments, turn_index=turn)
        payloads += attached
        birth = _Birth(run_id=new_id, task=task, place=place, payloads=payloads, agent=info.birth.agent)
        return await self._born(birth, together(budget, _handing_on(run_id, new_id), keeping, also))

    async def branch(self, run_id: str, again: Again = Again(), *, also: Effect | None = None) -> RunInfo:  # noqa: B008 - frozen
        """A new task whose first run goes its own way from a place in another run, which may still be alive."""
        journal, ids = self._ground.journal, self._ground.ids
        info = await journal.reader.run(run_id)
        old = await self._task(info.birth.task_id or "")
        _require_conversation(old)
        spent = await spent_by_others(journal, old)
        task, _ = _with_budget(_with_model(old, again.model), again.budget_micros_usd)
        task = replace(
            task, task_id=ids.new("task"), created_ns=self._ground.clock.now_ns(), inherited_cost_micros_usd=spent
        )
        new_id = ids.new("run")
        place = await self._make(task, new_id)
        try:
            payloads = await self._taken_up(task, place, info, again, spent)
            shared = _shared(payloads)
            if self._replay is not None and place.mode != "in_place":
                await self._replay(run_id, shared, place.path)
            if task.vaulted:
                await self._vault.copy(old.task_id, task.task_id)
            birth = _Birth(run_id=new_id, task=task, place=place, payloads=payloads, agent=info.birth.agent)
            demo = await journal.reader.query(lambda db: is_demo(db, old.task_id))
            born = await self._born(birth, together(self.storing(task, demo=demo), also))
        except BaseException:
            await self._workplaces.remove(place)
            raise
        await self._tell_parent(info, old, new_id, shared)
        return born

    async def child(self, parent: RunInfo, task: Task, *, agent: str, prompt: str) -> RunInfo:
        """A run for a part of another's work, in the same task and the same place."""
        run_id = self._ground.ids.new("run")
        place = await self._place_of(parent.birth.run_id)
        queued = replace(_queued(task, place), agent=agent, parent_run_id=parent.birth.run_id)
        birth = _Birth(
            run_id=run_id,
            task=task,
            place=place,
            payloads=[queued, UserMessage(turn_index=0, text=prompt)],
            agent=agent,
            parent_run_id=parent.birth.run_id,
        )
        return await self._born(birth, None)

    def storing(self, task: Task, *, demo: bool = False) -> Effect:
        """The row of a new task, without secrets."""
        # The vault has been through variables and servers, and its placeholders tell more than the redactor's.
        rest = encode_task(replace(task, env={}, mcp_servers={}))
        clean = decode_task(self._ground.journal.redactor.redact(rest))
        body = encode_task(replace(clean, env=task.env, mcp_servers=task.mcp_servers))
        return lambda db: insert_task(db, clean, body, demo=demo)

    async def _fresh(
        self,
        task: Task,
        prompt: str | None,
        prior_run_id: str | None,
        attachments: Sequence[Attachment],
        also: Effect | None,
    ) -> RunInfo:
        run_id = self._ground.ids.new("run")
        place = await self._make(task, run_id)
        try:
            text = task.prompt if prompt is None else prompt
            said: list[Payload] = [UserMessage(turn_index=0, text=text)] if text.strip() else []
            attached, keeping = await self._attached(run_id, task, attachments, turn_index=0)
            payloads = [_queued(task, place, prior_run_id), *said, *attached]
            birth = _Birth(run_id=run_id, task=task, place=place, payloads=payloads)
            return await self._born(birth, together(also, keeping))
        except BaseException:
            if place.mode != "in_place":
                await self._workplaces.remove(place)
            raise

    async def _attached(
        self, run_id: str, task: Task, attachments: Sequence[Attachment], *, turn_index: int
    ) -> tuple[list[Payload], Effect | None]:
        """What was sent with a prompt, as artifacts of the run that is about to be born: what tells of them and keeps them."""
        birth = RunBirth(run_id, task.task_id, task.session_id, task.agent)
        told: list[Payload] = []
        effects: list[Effect | None] = []
        for one in attachments:
            kind: Kind = "image" if one.mime.startswith("image/") else "file_snapshot"
            new = NewArtifact(kind, ArtifactMeta(mime=one.mime, summary=f"attached {one.mime}"))
            draft = await self._ground.artifacts.prepare(run_id, new, one.body(), birth=birth)
            shown = "image" if kind == "image" else "file"
            artifact_id = draft.artifact.artifact_id
            told += (
                draft.event,
                UserAttachment(turn_index=turn_index, kind=shown, mime=one.mime, artifact_id=artifact_id),
            )
            effects.append(draft.effect)
        return told, together(*effects)

    async def _born(self, birth: _Birth, also: Effect | None) -> RunInfo:
        journal, now_ns, task = self._ground.journal, self._ground.clock.now_ns(), birth.task
        entry = NewEntry(
            run_id=birth.run_id,
            task_id=task.task_id,
            place=birth.place,
            priority=task.priority,
            concurrency=task.concurrency,
            parent_run_id=birth.parent_run_id,
        )

        def rows(db: apsw.Connection) -> None:
            insert_entry(db, entry, now_ns)
            insert_workplace(db, birth.run_id, task.task_id, birth.place, now_ns)

        born = RunBirth(birth.run_id, task.task_id, task.session_id, birth.agent or task.agent)
        await journal.create_run(born, birth.payloads, also=together(also, rows))
        journal.signal(QUEUE)
        return await journal.reader.run(birth.run_id)

    async def _taken_up(self, task: Task, place: Workplace, info: RunInfo, again: Again, spent: int) -> list[Payload]:
        """The first events of a run that takes another up."""
        journal, old_id = self._ground.journal, info.birth.run_id
        if again.prompt is not None and not again.prompt.strip():
            raise TaskInvalid("to go on with a prompt, say something", field="prompt")
        sequence, checkpoint_id = await resume_point(
            journal, old_id, from_sequence=again.from_sequence, checkpoint_id=again.checkpoint_id
        )
        chain = await read_chain(journal, old_id)
        own = [one for one in chain if one.run_id == old_id]
        if not own or not isinstance(own[0].payload, (RunQueued, RunResumedFromEvent)):
            raise NotResumable(f"the beginning of {old_id} has been pruned")
        resumed = RunResumedFromEvent(
            from_run_id=old_id,
            from_sequence=sequence,
            prior_cost_micros_usd=spent,
            checkpoint_id=UNSET if checkpoint_id is None else checkpoint_id,
        )
        payloads: list[Payload] = [resumed, _queued(task, place, old_id)]
        if again.prompt is not None:
            counted = [one for one in chain if one.run_id != old_id or one.sequence <= sequence]
            payloads.append(UserMessage(turn_index=next_turn(counted), text=again.prompt))
        return payloads

    async def _tell_parent(self, info: RunInfo, task: Task, branch_run_id: str, shared: int) -> None:
        if info.story.finished or not may_emit(RunBranched.type, task.experimental):
            return
        try:
            told = RunBranched(branch_run_id=branch_run_id, from_sequence=shared)
            await self._ground.journal.append(info.birth.run_id, told)
        except RunFinished:
            # It has ended meanwhile; the branch's own first event tells the same.
            return

    async def _make(self, task: Task, run_id: str) -> Workplace:
        spec = task.workspace
        path = None if spec.path is None else Path(spec.path)
        return await self._workplaces.make(task_id=task.task_id, run_id=run_id, path=path, mode=spec.mode or "scratch")

    async def _place_of(self, run_id: str) -> Workplace:
        place = await self._ground.journal.reader.query(lambda db: find_workplace(db, run_id))
        if place is None:
            raise NotResumable(f"nobody knows where {run_id} worked")
        return place

    async def _task(self, task_id: str) -> Task:
        task = await self._ground.journal.reader.query(lambda db: find_task(db, task_id))
        if task is None:
            raise TaskNotFound(task_id)
        return task

    async def _require_idle(self, task_id: str) -> None:
        """Refuse early, before a place is made; the transaction refuses again if need be."""
        active = await self._ground.journal.reader.query(lambda db: active_run(db, task_id))
        if active is not None:
            raise RunActive(active)


def _queued(task: Task, place: Workplace, prior_run_id: str | None = None) -> RunQueued:
    provider, model = split_model(task.model)
    return RunQueued(
        kind=task.kind,
        model=model,
        provider=provider,
        workspace_path=str(place.path),
        workspace_mode=place.mode,
        prior_run_id=prior_run_id,
        agent=task.agent,
        input=UNSET if task.kind == "agent_loop" else task.input,
    )


def _with_model(task: Task, model: str | None) -> Task:
    return task if model is None else replace(task, model=model)


def _with_budget(task: Task, budget_micros_usd: int | None) -> tuple[Task, Effect | None]:
    higher = raised(task, budget_micros_usd)
    if higher is None:
        return task, None
    return replace(task, budget_micros_usd=higher), lambda db: raise_budget(db, task.task_id, higher)


def _require_conversation(task: Task) -> None:
    if task.kind != "agent_loop":
        raise NotResumable(f"a run of kind {task.kind} has no conversation to take up")


def _handing_on(old_id: str, new_id: str) -> Effect:
    return lambda db: hand_on_messages(db, old_id, new_id)


def _shared(payloads: Sequence[Payload]) -> int:
    first = payloads[0]
    return first.from_sequence if isinstance(first, RunResumedFromEvent) else 0
