"""Every way a run is born, and what it takes with it."""

import asyncio
import base64

import pytest

from runwire.errors import CursorAhead, RunActive, RunwireError, TaskNotFound
from runwire.host import Ended, Finished, RunHost
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.experimental import RunBranched
from runwire.protocol.events.run import RunCheckpointSaved, RunQueued, RunResumedFromEvent
from runwire.protocol.events.turn import TurnStarted
from runwire.protocol.events.user import UserAttachment, UserMessage
from runwire.protocol.payload import Opaque, Payload
from runwire.runs.errors import BudgetLowered, CheckpointNotFound, NotResumable, TaskInvalid
from runwire.runs.rows.tasks import Workplace, find_workplace
from runwire.runs.starting import Again
from tests.runs.house import House, at_work
from tests.runs.test_claiming import done
from tests.runs.test_worker import completed


async def two_turns(host: RunHost) -> Ended:
    """Two turns more than the conversation has, each with a checkpoint and a price."""
    past = await host.past()
    begun = sum(1 for one in past if isinstance(one.payload, TurnStarted))
    for turn in range(begun, begun + 2):
        await host.said()
        host.emit(TurnStarted(turn_index=turn, model="m", provider="p"), completed(turn, cost=100))
        host.spend(100)
        await host.checkpoint()
    return Finished()


async def payloads(house: House, run_id: str) -> list[Payload | Opaque]:
    return [decode_payload(one.type, one.data) for one in map(decode_envelope, await house.log(run_id))]


async def place(house: House, run_id: str) -> Workplace | None:
    return await house.journal.reader.query(lambda db: find_workplace(db, run_id))


async def finished(house: House, prompt: str = "do it", **settings: object) -> tuple[str, str]:
    """A task whose first run is over: its id and the run's."""
    view = await house.task(prompt, **settings)
    assert view.latest_run is not None
    run_id = view.latest_run.birth.run_id
    async with at_work(house.worker(two_turns)):
        await house.end(run_id)
    return view.task.task_id, run_id


async def test_a_task_has_one_active_run(house: House) -> None:
    view = await house.task()
    assert view.latest_run is not None
    run_id = view.latest_run.birth.run_id
    for start in (
        house.starter.another(view.task.task_id),
        house.starter.retry(run_id),
        house.starter.resume(run_id),
    ):
        with pytest.raises(RunActive) as refused:
            await start
        assert refused.value.details == {"run_id": run_id}
    async with at_work(house.worker(done)):
        await house.end(run_id)
    assert (await house.starter.another(view.task.task_id)).birth.run_id != run_id
    with pytest.raises(TaskNotFound):
        await house.starter.another("task_nowhere")


async def test_of_two_who_start_at_once_one_is_refused_by_the_store(house: House) -> None:
    task_id, _ = await finished(house)
    results: list[object] = []

    async def start() -> None:
        try:
            results.append((await house.starter.another(task_id)).birth.run_id)
        except RunwireError as refused:
            results.append(refused.code)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(start())
    assert sorted(one == "run_active" for one in results) == [False, True, True, True]


async def test_a_retry_begins_anew_in_a_place_of_its_own(house: House) -> None:
    task_id, run_id = await finished(house)
    again = await house.starter.retry(run_id)
    birth = again.birth.run_id
    queued, said = await payloads(house, birth)
    assert isinstance(queued, RunQueued)
    assert (queued.prior_run_id, again.birth.task_id) == (run_id, task_id)
    assert isinstance(said, UserMessage)
    places = [await place(house, one) for one in (run_id, birth)]
    assert places[0] != places[1]


async def test_a_resumed_run_begins_with_where_it_comes_from_and_knows_what_was_said(house: House) -> None:
    _, run_id = await finished(house)
    again = await house.starter.resume(run_id)
    birth = again.birth.run_id
    first, queued = await payloads(house, birth)
    old = await payloads(house, run_id)
    last = max(at for at, one in enumerate(old) if isinstance(one, RunCheckpointSaved))
    assert isinstance(first, RunResumedFromEvent)
    checkpoint = old[last]
    assert isinstance(checkpoint, RunCheckpointSaved)
    assert (first.from_run_id, first.from_sequence, first.prior_cost_micros_usd, first.checkpoint_id) == (
        run_id,
        last,
        200,
        checkpoint.checkpoint_id,
    )
    assert isinstance(queued, RunQueued)
    assert queued.prior_run_id == run_id
    places = [await place(house, one) for one in (run_id, birth)]
    assert places[0] == places[1]
    seen: list[object] = []

    async def looks(host: RunHost) -> Ended:
        past = await host.past()
        seen.append((host.facts.fresh, host.facts.spent_before_micros_usd, host.spent(), host.facts.prompt))
        seen.append([one.payload.turn_index for one in past if isinstance(one.payload, TurnStarted)])
        assert [one.run_id for one in past] == [run_id] * (last + 1) + [birth] * 3
        return Finished()

    async with at_work(house.worker(looks)):
        await house.end(birth)
    assert seen == [(False, 200, 200, "do it"), [0, 1]]


async def test_a_run_is_resumed_from_any_sequence_or_checkpoint(house: House) -> None:
    _, run_id = await finished(house)
    old = await payloads(house, run_id)
    saved = [(at, one.checkpoint_id) for at, one in enumerate(old) if isinstance(one, RunCheckpointSaved)]
    again = await house.starter.resume(run_id, Again(checkpoint_id=saved[0][1]))
    first = (await payloads(house, again.birth.run_id))[0]
    assert isinstance(first, RunResumedFromEvent)
    assert first.from_sequence == saved[0][0]
    await house.cancelling.cancel(again.birth.run_id, by="anna")
    early = await house.starter.resume(run_id, Again(from_sequence=1))
    first = (await payloads(house, early.birth.run_id))[0]
    assert isinstance(first, RunResumedFromEvent)
    assert first.from_sequence == 1


async def test_what_cannot_be_resumed_says_why(house: House) -> None:
    _, run_id = await finished(house)
    head = (await house.journal.reader.run(run_id)).head_sequence
    with pytest.raises(CursorAhead):
        await house.starter.resume(run_id, Again(from_sequence=head + 1))
    with pytest.raises(CheckpointNotFound):
        await house.starter.resume(run_id, Again(checkpoint_id="ckpt_nowhere"))
    with pytest.raises(NotResumable):
        await house.starter.resume(run_id, Again(from_sequence=0, checkpoint_id="ckpt_x"))
    with pytest.raises(TaskInvalid):
        await house.starter.resume(run_id, Again(prompt="  "))
    _, shell = await finished(house, "", kind="shell", input={"command": "true"})
    with pytest.raises(NotResumable):
        await house.starter.resume(shell)


async def test_to_continue_is_to_resume_with_a_word(house: House) -> None:
    _, run_id = await finished(house)
    again = await house.starter.resume(run_id, Again(prompt="and now this"))
    said = (await payloads(house, again.birth.run_id))[2]
    assert isinstance(said, UserMessage)
    assert (said.turn_index, said.text) == (2, "and now this")
    async with at_work(house.worker(two_turns)):
        await house.end(again.birth.run_id)
    third = await house.starter.resume(again.birth.run_id, Again(prompt="once more"))
    first = (await payloads(house, third.birth.run_id))[0]
    assert isinstance(first, RunResumedFromEvent)
    assert first.prior_cost_micros_usd == 400


async def test_a_budget_is_raised_and_never_lowered_and_counts_every_run(house: House) -> None:
    task_id, run_id = await finished(house, budget_micros_usd=1000)
    with pytest.raises(BudgetLowered):
        await house.starter.resume(run_id, Again(budget_micros_usd=999))
    seen: list[tuple[int | None, int]] = []

    async def looks(host: RunHost) -> Ended:
        seen.append((host.facts.budget_micros_usd, host.spent()))
        return Finished()

    again = await house.starter.retry(run_id, Again(budget_micros_usd=2000))
    async with at_work(house.worker(looks)):
        await house.end(again.birth.run_id)
    assert seen == [(2000, 200)]
    assert (await house.tasks.get(task_id)).budget_micros_usd == 2000


async def test_a_branch_is_a_task_of_its_own_and_a_living_parent_is_told(house: House) -> None:
    view = await house.task("do it", experimental=["run.branched"], budget_micros_usd=1000)
    assert view.latest_run is not None
    run_id = view.latest_run.birth.run_id
    branch = await house.starter.branch(run_id, Again(from_sequence=1))
    assert branch.birth.task_id != view.task.task_id
    told = (await payloads(house, run_id))[-1]
    assert isinstance(told, RunBranched)
    assert (told.branch_run_id, told.from_sequence) == (branch.birth.run_id, 1)
    task = await house.tasks.get(branch.birth.task_id or "")
    assert (task.budget_micros_usd, task.inherited_cost_micros_usd) == (1000, 0)
    async with at_work(house.worker(two_turns)):
        await house.end(run_id)
        await house.end(branch.birth.run_id)
    later = await house.starter.branch(branch.birth.run_id)
    assert (await house.tasks.get(later.birth.task_id or "")).inherited_cost_micros_usd == 200
    counted: list[tuple[int, int]] = []

    async def looks(host: RunHost) -> Ended:
        counted.append((host.facts.spent_before_micros_usd, host.spent()))
        return Finished()

    async with at_work(house.worker(looks)):
        await house.end(later.birth.run_id)
    # The ceiling is one for all of them, so a branch begins with what was spent before it.
    assert counted == [(200, 200)]


async def test_what_a_run_did_not_hear_is_said_to_the_one_that_takes_it_up(house: House) -> None:
    _, run_id = await finished(house)
    effect = house.messages.rejection("task_none", run_id, "The patch art_1 was rejected", by="anna")
    await house.journal.write(effect)
    again = await house.starter.resume(run_id)
    heard: list[tuple[str, str]] = []

    async def listens(host: RunHost) -> Ended:
        heard.extend((one.text, one.kind) for one in await host.said())
        return Finished()

    async with at_work(house.worker(listens)):
        await house.end(again.birth.run_id)
    assert heard == [("The patch art_1 was rejected", "rejection")]


async def test_what_is_attached_to_a_prompt_is_there_before_anybody_works_on_it(house: House) -> None:
    image = base64.b64encode(b"\x89PNG fake").decode()
    seen: list[bytes] = []

    async def looks(host: RunHost) -> Ended:
        attached = [one.payload for one in await host.past() if isinstance(one.payload, UserAttachment)]
        seen.extend([(await host.body(one.artifact_id))[1] for one in attached])
        return Finished()

    async with at_work(house.worker(looks)):
        run_id = await house.run(attachments=[{"mime": "image/png", "base64": image}])
        await house.end(run_id)
    assert seen == [b"\x89PNG fake"]
    assert (await house.types(run_id))[:5] == [
        "run.queued",
        "user.message",
        "artifact.created",
        "user.attachment",
        "run.started",
    ]
    with pytest.raises(TaskInvalid):
        await house.run(attachments=[{"mime": "image/png", "base64": "not base64!"}])


async def test_a_place_that_was_made_for_a_run_that_is_refused_is_removed(house: House) -> None:
    task_id, _ = await finished(house)
    task = await house.tasks.get(task_id)
    await house.starter.another(task_id)
    with pytest.raises(RunActive):
        await house.starter.first(task)
    assert len(house.folders.removed) == 1
