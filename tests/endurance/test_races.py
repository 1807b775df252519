"""Two of everybody at once: one is first, the other is told so, and the log knows of one fact."""

import asyncio
from collections import Counter
from pathlib import Path

from runwire.protocol import chain
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.edit import EditApplied, EditRejected
from runwire.protocol.events.run import RunStarted
from runwire.protocol.verify import verify
from tests.endurance.worker_entry import worker
from tests.scenarios.stage import V1, Stage, Theatre, call, sh, turn

RUNS = 100
ROUNDS = 6


async def _verified(stage: Stage, run_id: str) -> None:
    log, run = await stage.log(run_id), await stage.run(run_id)
    assert list(verify(log.envelopes, head=chain.read(run.head_hash))) == []


async def _statuses(*asked: tuple[Stage, str, object]) -> list[int]:
    answers = await asyncio.gather(*(stage.http.post(V1 + path, json=body) for stage, path, body in asked))
    return sorted(answer.status_code for answer in answers)


async def test_two_workers_claim_every_run_once(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open(workers=0) as stage:
        model = stage.script([turn("Done.")])
        async with worker(theatre.data, slots=2), worker(theatre.data, slots=2):
            made = await asyncio.gather(*(stage.task(prompt="Do it.", model=model) for _ in range(RUNS)))
            logs = await asyncio.gather(*(stage.end(one["latest_run"]["run_id"]) for one in made))
            for log in logs:
                await _verified(stage, log.run_id)
    assert len({log.run_id for log in logs}) == RUNS
    # The only start of each: `one` says so.
    workers = Counter(log.one(RunStarted).worker_id for log in logs)
    assert len(workers) == 2
    assert {log.types[-1] for log in logs} == {"run.finished"}


async def test_two_approvers_at_two_gateways_give_one_answer(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open(workers=1) as here, theatre.open(workers=0) as there:
        for number in range(ROUNDS):
            command = f"echo x >> {number}"
            run_id = await here.start(turn("", sh(command)), turn("Done."), policy={"shell_exec": "ask"})
            path = f"/approvals/{(await here.until(run_id, ApprovalRequested)).approval_id}/resolve"
            said = [(here, path, {"decision": "approved"}), (there, path, {"decision": "denied"})]
            assert await _statuses(*said[:: 1 if number % 2 else -1]) == [200, 409]
            log = await here.end(run_id)
            approved = log.one(ApprovalResolved).decision == "approved"
            assert (theatre.workspace / str(number)).exists() is approved
            assert ("tool.invoked" in log.types) is approved
            assert ("policy.tool_blocked" in log.types) is not approved
            await _verified(there, run_id)


async def test_two_appliers_at_two_gateways_write_once(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open(workers=1) as here, theatre.open(workers=0) as there:
        for number in range(ROUNDS):
            file = theatre.file(f"{number}.txt", "old\n")
            edit = call("edit_file", path=file.name, old_text="old", new_text="new new")
            run_id = (await here.play(turn("", edit), turn("Done."), policy={"auto_apply": False})).run_id
            (patch,) = (await here.get("/artifacts", run_id=run_id, kind="patch"))["data"]
            path = f"/artifacts/{patch['id']}/apply"
            assert await _statuses((here, path, {}), (there, path, {})) == [200, 409]
            assert file.read_text() == "new new\n"
            assert len((await there.log(run_id)).all(EditApplied)) == 1
            await _verified(there, run_id)


async def test_a_patch_is_applied_or_rejected_and_never_both(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open(workers=1) as here, theatre.open(workers=0) as there:
        for number in range(ROUNDS):
            file = theatre.file(f"{number}.txt", "old\n")
            edit = call("edit_file", path=file.name, old_text="old", new_text="new")
            run_id = (await here.play(turn("", edit), turn("Done."), policy={"auto_apply": False})).run_id
            (patch,) = (await here.get("/artifacts", run_id=run_id, kind="patch"))["data"]
            path = f"/artifacts/{patch['id']}"
            said = [(here, f"{path}/apply", {}), (there, f"{path}/reject", {"reason": "no"})]
            assert await _statuses(*said[:: 1 if number % 2 else -1]) == [200, 409]
            log = await here.log(run_id)
            applied, rejected = log.all(EditApplied), log.all(EditRejected)
            assert len(applied) + len(rejected) == 1
            assert file.read_text() == ("new\n" if applied else "old\n")
            await _verified(there, run_id)
