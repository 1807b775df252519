"""Runs that journeys begin with."""

from tests.gateway.working import Json, Working, says, sh, uses

ASKS = {"default": "ask"}
PROPOSE = {"auto_apply": False}


async def waiting(working: Working, command: str = "echo hello", **settings: object) -> Json:
    """A run that waits for an answer about its first command; what it asks is among its fields."""
    run = await working.run(sh(command), says(), **{"policy": ASKS, **settings})
    return {**run, **await working.until(run["run_id"], "approval.requested")}


async def finished(working: Working, *turns: Json, **settings: object) -> str:
    """The id of a run that is over."""
    run = await working.run(*(turns or (says(),)), **settings)
    await working.end(run["run_id"])
    run_id: str = run["run_id"]
    return run_id


async def cancelled(working: Working, run: Json) -> None:
    """Cancel a run."""
    answer = await working.post(f"/tasks/{run['task_id']}/runs/{run['run_id']}/cancel")
    assert answer.is_success, answer.text


async def proposing(working: Working) -> str:
    """The id of a run that has proposed changes to two files and is over; one change has two hunks."""
    before = [f"line {number}" for number in range(40)]
    (working.folder / "long.txt").write_text("\n".join(before) + "\n")
    (working.folder / "short.txt").write_text("one\n")
    edits = [
        {"path": "long.txt", "old_text": "line 3\n", "new_text": "line three\n"},
        {"path": "long.txt", "old_text": "line 33\n", "new_text": "line thirty-three\n"},
        {"path": "short.txt", "old_text": "one", "new_text": "ONE"},
    ]
    return await finished(working, uses("multi_edit", edits=edits), says(), policy=PROPOSE)
