"""What an executor sees of its run: permits that park, messages, facts, time, artifacts."""

import asyncio
from dataclasses import replace

import pytest

from runwire.errors import ArtifactNotFound
from runwire.host import Emit, Ended, Finished, Go, No, Past, RunHost, Stopped, ToolEnd
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.run import RunStarted
from runwire.protocol.events.turn import TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.runs.approval import Answer, ApprovalFilter
from runwire.runs.approvals import Approvals
from runwire.runs.grants import Grants
from runwire.runs.hooks import Hooks
from runwire.runs.hosting import Held, Host
from runwire.runs.permitting import Permits
from runwire.runs.policies import Policies
from runwire.runs.rows.queue import Entry, find_entry
from runwire.runs.supervisor import Manners
from runwire.runs.surroundings import Surroundings
from tests.patience import PATIENCE_S
from tests.runs.deciding import emitting
from tests.runs.house import House, ask, at_work
from tests.runs.test_worker import completed

QUICK = Manners(park_after_s=0.05, close_grace_s=0.2)


class Office:
    """A house whose calls are asked about."""

    def __init__(self, house: House) -> None:
        ground = house.ground
        policies = Policies(configured="ask", hooks=(), approval_timeout_s=None, max_turns=50, allow_unconfined=False)
        self.approvals = Approvals(journal=ground.journal, clock=ground.clock, ids=ground.ids)
        self.permits = Permits(
            approvals=self.approvals,
            grants=Grants(journal=ground.journal, clock=ground.clock),
            policies=policies,
            hooks=Hooks(journal=ground.journal, environ={}),
            ids=ground.ids,
            surroundings=Surroundings(data=house.data, unconfined=False),
        )
        self.house = house

    async def pending(self, count: int = 1) -> list[str]:
        """Wait until so many approvals wait."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                page = await self.approvals.list(ApprovalFilter(status="pending"), None, 50)
                if len(page.approvals) >= count:
                    return [one.approval_id for one in page.approvals]
                await self.house.journal.bell.wait("", 0.5)

    async def entry(self, run_id: str, state: str) -> Entry:
        """Wait until a run's row is in a state."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                entry = await self.house.journal.reader.query(lambda db: find_entry(db, run_id))
                if entry is not None and entry.state == state:
                    return entry
                await asyncio.sleep(0.01)

    async def held(self, run_id: str, generation: int) -> Held:
        """A run as the worker holds it that claimed it."""
        info = await self.house.journal.reader.run(run_id)
        task = await self.house.tasks.get(info.birth.task_id or "")
        return Held(run_id, task, generation, info, self.house.data)

    def emitting(self, run_id: str, generation: int) -> Emit:
        """What such a worker tells of it."""
        return emitting(self.house.journal, run_id, lease=generation)


@pytest.fixture
def office(house: House) -> Office:
    return Office(house)


async def asks_once(host: RunHost) -> Ended:
    """Ask for one call, unless it was decided about before."""
    call = ask()
    verdict = await host.permit(call)
    if isinstance(verdict, No):
        return Finished()
    await host.settle(call, ToolEnd(outcome="completed", duration_ms=1, summary="", output=""))
    return Finished()


async def test_a_run_that_waits_long_gives_its_worker_back_and_goes_on_when_somebody_decides(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_once, permitting=office.permits, manners=QUICK)):
        entry = await office.entry(run_id, "parked")
        assert (entry.worker_id, entry.claims) == (None, 0)
        # The one slot is free for another.
        other = await house.run("other")
        await office.pending(2)
        (approval,) = [one for one in await office.pending() if await _run_of(office, one) == run_id]
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        await house.end(run_id)
        assert (await house.cancelling.cancel(other, by="anna")).settled
        await house.end(other)
    assert await house.types(run_id) == [
        "run.queued",
        "user.message",
        "run.started",
        "approval.requested",
        "approval.resolved",
        "run.started",
        "tool.invoked",
        "tool.started",
        "tool.completed",
        "run.finished",
    ]
    # Cancelled while it waited: the question is closed before the end is told.
    assert (await house.types(other))[-2:] == ["approval.resolved", "run.cancelled"]


async def _run_of(office: Office, approval_id: str) -> str:
    return (await office.approvals.get(approval_id)).run_id


async def test_a_waiting_run_is_cancelled_by_its_holder_and_its_question_closed(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_once, permitting=office.permits)):
        await office.pending()
        assert (await house.cancelling.cancel(run_id, by="anna")).settled
    await house.end(run_id)
    assert (await house.types(run_id))[-2:] == ["approval.resolved", "run.cancelled"]


async def test_a_worker_that_closes_parks_what_waits_without_a_word(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_once, permitting=office.permits)):
        (approval,) = await office.pending()
    await office.entry(run_id, "parked")
    assert (await house.types(run_id))[-1] == "approval.requested"
    await office.approvals.resolve(approval, Answer(decision="denied", by="anna"))
    async with at_work(house.worker(asks_once, permitting=office.permits)):
        await house.end(run_id)


async def test_text_and_events_keep_the_order_in_which_they_were_emitted(house: House) -> None:
    async def streams(host: RunHost) -> Ended:
        for turn in range(3):
            host.emit(TurnStarted(turn_index=turn, model="m", provider="p"))
            for piece in ("a" * 3000, "b" * 3000, "c"):
                await host.offer(AssistantTextDelta(turn_index=turn, block_index=0, delta=piece))
            text = "a" * 3000 + "b" * 3000 + "c"
            host.emit(AssistantTextComplete(turn_index=turn, block_index=0, text=text))
            host.emit(completed(turn))
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(streams)):
        await house.end(run_id)
    types = [one for one in await house.types(run_id) if one != "assistant.text_delta"]
    assert types[3:] == ["turn.started", "assistant.text_complete", "turn.completed"] * 3 + ["run.finished"]


async def test_facts_are_those_of_the_task_and_of_the_runs_own_birth(house: House) -> None:
    seen: list[object] = []

    async def looks(host: RunHost) -> Ended:
        facts = host.facts
        seen.append((facts.prompt, facts.model, facts.kind, facts.agent, facts.fresh, facts.max_turns))
        seen.append((facts.workspace.is_dir(), facts.workspace_mode, facts.budget_micros_usd, facts.env))
        past = await host.past()
        seen.append([type(one.payload) for one in past][-1])
        return Finished()

    view = await house.task(
        "first", model="scripted:/a/b.json", budget_micros_usd=5, env={"COLOUR": "red"}, max_turns=3
    )
    assert view.latest_run is not None
    async with at_work(house.worker(looks)):
        await house.end(view.latest_run.birth.run_id)
        second = await house.starter.another(view.task.task_id, prompt="second", model="openai:gpt")
        await house.end(second.birth.run_id)
    assert seen[0] == ("first", "scripted:/a/b.json", "agent_loop", "native", True, 3)
    assert seen[1] == (True, "scratch", 5, {"COLOUR": "red"})
    assert seen[2] is RunStarted
    assert seen[3] == ("second", "openai:gpt", "agent_loop", "native", True, 3)


async def test_what_was_said_is_heard_once_and_told_before_the_next_turn(house: House) -> None:
    heard: list[list[tuple[str, str, str]]] = []
    ready, go_on = asyncio.Event(), asyncio.Event()

    async def listens(host: RunHost) -> Ended:
        heard.append([(one.text, one.by, one.kind) for one in await host.said()])
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"), completed(0))
        ready.set()
        await go_on.wait()
        # The ring reaches the host after a look at the rows, which is done in a thread.
        while not (late := await host.said()):
            await asyncio.sleep(0.01)
        heard.append([(one.text, one.by, one.kind) for one in late])
        heard.append([(one.text, one.by, one.kind) for one in await host.said()])
        past = await host.past()
        assert _messages(past) == [(0, "do it"), (0, "early"), (1, "late")]
        return Finished()

    run_id = await house.run()
    await house.messages.say(run_id, "early", by="anna")
    async with at_work(house.worker(listens)):
        await ready.wait()
        await house.messages.say(run_id, "late", by="bert")
        go_on.set()
        await house.end(run_id)
    assert heard == [[("early", "anna", "message")], [("late", "bert", "message")], []]


async def test_what_was_heard_is_not_heard_again_while_its_taking_is_not_durable_yet(house: House) -> None:
    heard: list[list[str]] = []

    async def listens(host: RunHost) -> Ended:
        assert isinstance(host, Host)
        for _ in range(2):
            host.ring()
            heard.append([one.text for one in await host.said()])
        return Finished()

    run_id = await house.run()
    await house.messages.say(run_id, "early", by="anna")
    async with at_work(house.worker(listens)):
        await house.end(run_id)
    assert heard == [["early"], []]


def _messages(past: object) -> list[tuple[int, str]]:
    assert isinstance(past, list)
    return [
        (one.payload.turn_index, one.payload.text)
        for one in past
        if isinstance(one, Past) and isinstance(one.payload, UserMessage)
    ]


async def test_a_run_may_take_so_long_and_no_longer(house: House) -> None:
    async def dawdles(host: RunHost) -> Ended:
        call = ask()
        await host.permit(call)
        await asyncio.Event().wait()
        return Finished()

    run_id = await house.run(timeout_s=0.1)
    async with at_work(house.worker(dawdles)):
        info = await house.end(run_id)
    assert info.story.run.error_code == "run_timed_out"
    assert (await house.types(run_id))[-2:] == ["tool.failed", "run.failed"]


async def test_time_spent_waiting_for_people_is_not_the_runs_own(office: Office) -> None:
    house = office.house
    run_id = await house.run(timeout_s=0.3)
    async with at_work(house.worker(asks_once, permitting=office.permits)):
        (approval,) = await office.pending()
        await asyncio.sleep(0.4)
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        info = await house.end(run_id)
    assert info.story.run.status == "completed"


async def test_an_artifact_of_another_task_is_not_there(house: House) -> None:
    found: list[object] = []
    made: list[str] = []

    async def keeps(host: RunHost) -> Ended:
        draft = await host.draft(NewArtifact("command_output", ArtifactMeta(mime="text/plain")), b"hello")
        await host.emit(kept=[draft])
        made.append(draft.artifact.artifact_id)
        artifact, body = await host.body(draft.artifact.artifact_id)
        found.append((artifact.run_id, body))
        return Finished()

    async def looks(host: RunHost) -> Ended:
        with pytest.raises(ArtifactNotFound):
            await host.body(made[0])
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(keeps)):
        await house.end(run_id)
    other = await house.run()
    async with at_work(house.worker(looks)):
        assert (await house.end(other)).story.run.status == "completed"
    assert found == [(run_id, b"hello")]


async def test_a_worker_that_closes_lets_a_run_rest_at_its_next_turn_and_another_goes_on(house: House) -> None:
    begun, turns = asyncio.Event(), list[str]()
    release = asyncio.Event()

    async def loops(host: RunHost) -> Ended:
        past = await host.past()
        turn = sum(1 for one in past if isinstance(one.payload, TurnStarted))
        while turn < 3:
            await host.said()
            host.emit(TurnStarted(turn_index=turn, model="m", provider="p"))
            begun.set()
            await release.wait()
            turns.append(host.facts.run_id)
            host.emit(completed(turn))
            turn += 1
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(loops, manners=Manners(close_grace_s=5))):
        await begun.wait()
        asyncio.get_running_loop().call_later(0.05, release.set)
    assert (await house.types(run_id))[-3:] == ["turn.started", "turn.completed", "agent.state_changed"]
    entry = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    assert entry is not None
    assert (entry.state, entry.worker_id) == ("ready", None)
    async with at_work(house.worker(loops)):
        await house.end(run_id)
    assert len(turns) == 3
    assert "gap.run_disconnected" not in await house.types(run_id)


async def test_after_its_grace_a_worker_that_closes_stops_what_still_works(house: House) -> None:
    begun = asyncio.Event()

    async def never(host: RunHost) -> Ended:
        if not host.facts.fresh:
            return Finished()
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        verdict = await host.permit(ask())
        assert isinstance(verdict, Go)
        begun.set()
        await asyncio.Event().wait()
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(never, manners=Manners(close_grace_s=0.05))):
        await begun.wait()
    assert (await house.types(run_id))[-3:] == ["tool.cancelled", "turn.failed", "agent.state_changed"]
    async with at_work(house.worker(never)):
        await house.end(run_id)


@pytest.mark.parametrize("rests", [True, False])
async def test_a_run_that_is_being_claimed_when_its_worker_closes_comes_to_rest_as_well(
    house: House, rests: bool
) -> None:
    stop = asyncio.Event()

    async def never(host: RunHost) -> Ended:
        while rests:
            await host.said()
        await asyncio.Event().wait()
        return Finished()

    def probe(reached: str) -> None:
        if reached == "claiming":
            stop.set()

    watched = replace(house, ground=replace(house.ground, probe=probe))
    run_id = await house.run()
    async with asyncio.timeout(PATIENCE_S):
        await watched.worker(never, manners=Manners(close_grace_s=PATIENCE_S if rests else 0.05)).work(stop)
    assert (await house.types(run_id))[2:] == ["run.started", "agent.state_changed"]
    entry = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    assert entry is not None
    assert (entry.state, entry.worker_id) == ("ready", None)


async def test_a_permit_on_a_lease_that_is_over_lets_nothing_happen(house: House) -> None:
    result: list[str] = []

    async def sleeps(host: RunHost) -> Ended:
        # The machine slept, and wakes up past the lease.
        worker._lease._until_s = 0.0
        try:
            await host.permit(ask())
        except Stopped as stopped:
            result.append(stopped.why)
            raise
        return Finished()

    run_id = await house.run()
    worker = house.worker(sleeps)
    async with at_work(worker):
        async with asyncio.timeout(PATIENCE_S):
            while not result:
                await asyncio.sleep(0.01)
    assert result == ["lost"]
    assert "tool.invoked" not in await house.types(run_id)


async def test_what_cannot_be_stored_fails_the_run_truthfully(house: House) -> None:
    async def mistakes(host: RunHost) -> Ended:
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        await host.emit()
        host.emit(UserMessage(turn_index=0, text="\ud800"))
        await asyncio.Event().wait()
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(mistakes)):
        info = await house.end(run_id)
    assert info.story.run.error_code == "internal_error"
    assert (await house.types(run_id))[-2:] == ["turn.failed", "run.failed"]
