"""Who may be spoken to."""

import pytest

from runwire.errors import InvalidContent, RunFinished, RunNotFound
from runwire.runs.errors import NotSteerable
from runwire.runs.rows.messages import waiting_messages
from tests.runs.house import House, at_work
from tests.runs.test_claiming import done


async def test_only_a_run_that_lives_and_listens_can_be_spoken_to(house: House) -> None:
    run_id = await house.run()
    shell = await house.run("", kind="shell", input={"command": "true"})
    with pytest.raises(NotSteerable):
        await house.messages.say(shell, "hello", by="anna")
    with pytest.raises(InvalidContent):
        await house.messages.say(run_id, "  ", by="anna")
    with pytest.raises(RunNotFound):
        await house.messages.say("run_nowhere", "hello", by="anna")
    async with at_work(house.worker(done)):
        await house.end(run_id)
    with pytest.raises(RunFinished):
        await house.messages.say(run_id, "hello", by="anna")


async def test_a_rejection_goes_to_the_tasks_active_run(house: House) -> None:
    view = await house.task()
    assert view.latest_run is not None
    active = view.latest_run.birth.run_id
    await house.journal.write(house.messages.rejection(view.task.task_id, "run_old", "no", by="anna"))
    rows = await house.journal.reader.query(lambda db: waiting_messages(db, active))
    assert [(row.text, row.by, row.kind) for row in rows] == [("no", "anna", "rejection")]
