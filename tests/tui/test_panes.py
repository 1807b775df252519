"""The list of runs: who needs somebody comes first, and what is decided there happens."""

from runwire.tui.panes import PaneRows
from tests.gateway.working import Working, says, sh
from tests.tui.driving import Seen, looking_at

ASKING = {"shell_exec": "ask"}


def rows(seen: Seen) -> list[str]:
    """The lines of the list."""
    return seen.text().splitlines()[2:-1]


async def test_runs_that_need_somebody_come_first(working: Working) -> None:
    done = await working.run(says(), title="Long done")
    await working.end(done["run_id"])
    failed = await working.run(title="Went wrong")
    await working.end(failed["run_id"])
    busy = await working.run(sh("sleep 66"), title="Sleeps")
    await working.until(busy["run_id"], "tool.shell.command")
    asking = await working.run(sh("true"), title="Wants to know", policy=ASKING)
    await working.until(asking["run_id"], "approval.requested")
    async with looking_at(working.served) as seen:
        await seen.shows("Long done", "Went wrong", "Sleeps", "Wants to know", "2 need you · 1 working · 4 runs")
        shown = [line.split()[:2] for line in rows(seen)[:4]]
        assert shown == [["!", "blocked"], ["!", "error"], ["working", "native"], ["done", "native"]]
        assert "a Approve  d Deny  enter Open" in seen.text()


async def test_the_list_follows_what_happens_and_the_cursor_stays_with_its_run(working: Working) -> None:
    first = await working.run(says(), title="First")
    second = await working.run(says(), title="Second")
    for run in (first, second):
        await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("First", "Second")
        await seen.press("down")
        listed = seen.top.screen.query_one(PaneRows)
        stood = listed.run_id
        asking = await working.run(sh("true"), title="Now this", policy=ASKING)
        await seen.shows("! blocked   native   Now this")
        assert rows(seen)[0].startswith("! blocked")
        assert (listed.run_id, listed.cursor) == (stood, 2)
        assert asking["run_id"] == seen.top.board.shown[0]


async def test_a_question_is_approved_with_a_comment_and_a_scope(working: Working) -> None:
    run = await working.run(sh("echo hi"), says(), title="Asks", policy=ASKING)
    asked = await working.until(run["run_id"], "approval.requested")
    async with looking_at(working.served) as seen:
        await seen.shows("! blocked")
        await seen.press("a")
        await seen.shows("Approve shell_exec?", "command: echo hi", "ctrl+o: once")
        await seen.press("ctrl+o")
        await seen.type("fine by me")
        await seen.shows("ctrl+o: session", "fine by me")
        await seen.press("enter")
        await seen.shows("done      native   Asks")
    found = await working.get(f"/approvals/{asked['approval_id']}")
    assert (found["status"], found["comment"], found["scope"]) == ("approved", "fine by me", "session")


async def test_a_question_is_denied_and_the_run_ended(working: Working) -> None:
    run = await working.run(sh("echo hi"), says(), policy=ASKING)
    asked = await working.until(run["run_id"], "approval.requested")
    async with looking_at(working.served) as seen:
        await seen.shows("! blocked")
        await seen.press("d")
        await seen.shows("Deny shell_exec?")
        await seen.press("escape")
        await seen.hides("Deny shell_exec?")
        assert (await working.get(f"/approvals/{asked['approval_id']}"))["status"] == "pending"
        await seen.press("d")
        await seen.shows("Deny shell_exec?")
        await seen.type("not here")
        await seen.press("ctrl+o", "enter")
        await working.end(run["run_id"])
    found = await working.get(f"/approvals/{asked['approval_id']}")
    assert (found["status"], found["comment"], found["stop"]) == ("denied", "not here", True)


async def test_a_run_is_cancelled_only_after_a_question(working: Working) -> None:
    run = await working.run(sh("sleep 66"), title="Sleeps")
    await working.until(run["run_id"], "tool.shell.command")
    async with looking_at(working.served) as seen:
        await seen.shows("working   native   Sleeps")
        await seen.press("c")
        await seen.shows("Cancel this run?")
        await seen.press("escape")
        await seen.hides("Cancel this run?")
        assert (await working.get(f"/runs/{run['run_id']}"))["status"] == "running"
        await seen.press("c")
        await seen.shows("Cancel this run?")
        await seen.type("enough")
        await seen.press("enter")
        await seen.shows("done      native   Sleeps")
    types = await working.end(run["run_id"])
    assert types[-1] == "run.cancelled"


async def test_something_is_said_to_a_live_run(working: Working) -> None:
    run = await working.run(sh("while [ ! -e said ]; do sleep 0.05; done"), says(), title="Listens")
    await working.until(run["run_id"], "tool.shell.command")
    async with looking_at(working.served) as seen:
        await seen.shows("working   native   Listens")
        await seen.press("s")
        await seen.shows("Say to the agent")
        await seen.press("enter")
        await seen.shows("Say to the agent")
        await seen.type("be quick")
        await seen.press("enter")
        await seen.hides("Say to the agent")
        (working.folder / "said").touch()
        await working.end(run["run_id"])
    said = [line for line in await working.served.stored(run["run_id"]) if b'"user.message"' in line]
    assert b"be quick" in said[-1]


async def test_words_choose_among_runs(working: Working) -> None:
    for title in ("Paint the fence", "Mend the roof"):
        run = await working.run(says(), title=title)
        await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("Paint", "Mend")
        await seen.press("slash")
        await seen.type("roof")
        await seen.press("enter")
        await seen.hides("Paint")
        assert "Mend the roof" in seen.text()
        await seen.press("escape")
        await seen.shows("Paint", "Mend")


async def test_a_refusal_is_told_and_changes_nothing(working: Working) -> None:
    run = await working.run(says(), title="Over")
    await working.end(run["run_id"])
    async with looking_at(working.served) as seen:
        await seen.shows("done")
        await seen.press("c")
        await seen.shows("it is over already: completed")
        await seen.press("a")
        await seen.shows("it asks for nothing")
        await seen.press("f")
        await seen.shows("it has changed nothing")


async def test_the_help_explains_every_key(working: Working) -> None:
    async with looking_at(working.served, (100, 50)) as seen:
        await seen.press("question_mark")
        text = await seen.shows("Keys", "approve or deny", "type:tool.shell.*,run.*", "ctrl+o")
        assert max(map(len, text.splitlines())) <= 80
        await seen.press("escape")
        await seen.shows("0 need you · 0 working · 0 runs")
