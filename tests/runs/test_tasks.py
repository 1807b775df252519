"""Tasks are kept, shown without secrets, and deleted whole."""

import stat

import msgspec
import pytest

from runwire.errors import RunActive, RunNotFound, TaskNotFound
from runwire.host import Ended, Finished, RunHost
from runwire.runs.errors import SessionNotFound, TaskInvalid
from runwire.runs.sessions import Sessions
from runwire.runs.task import NewTask, settled
from tests.runs.house import House, at_work
from tests.runs.test_claiming import done

KEY = "sk-live-0123456789abcdefXYZ"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"prompt": "  "}, "prompt"),
        ({"kind": "shell"}, "input.command"),
        ({"kind": "git", "input": {}}, "input.args"),
        ({"kind": "file", "input": {"operation": "write"}}, "input.path"),
        ({"kind": "shell", "agent": "zot", "input": {"command": "x"}}, "agent"),
        ({"prompt": "x", "session_id": "session_1"}, "session_id"),
        ({"prompt": "x", "workspace": {"mode": "clone"}}, "workspace.path"),
        ({"prompt": "x", "mcp_servers": {"s": {}}}, "mcp_servers"),
        ({"kind": "shell", "input": {"command": "x"}, "attachments": [{"mime": "a/b", "base64": ""}]}, "attachments"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused_by_name(body: dict[str, object], field: str) -> None:
    with pytest.raises(TaskInvalid) as refused:
        settled(msgspec.convert(body, NewTask), task_id="task_1", created_ns=0)
    assert refused.value.details == {"field": field}


def test_what_is_left_out_is_decided() -> None:
    task = settled(NewTask(prompt="first line\nmore"), task_id="task_1", created_ns=0)
    assert (task.title, task.workspace.mode) == ("first line", "scratch")
    here = settled(
        msgspec.convert({"prompt": "x", "workspace": {"path": "/p"}}, NewTask), task_id="task_1", created_ns=0
    )
    assert here.workspace.mode == "in_place"


async def test_a_task_may_wait_for_its_first_run(house: House) -> None:
    view = await house.task(start=False)
    assert (view.runs, view.latest_run) == (0, None)
    run = await house.starter.another(view.task.task_id)
    seen = await house.tasks.view(view.task.task_id)
    assert seen.latest_run is not None
    assert (seen.runs, seen.latest_run.birth) == (1, run.birth)


async def test_tasks_are_listed_newest_first_by_pages(house: House) -> None:
    made = [(await house.task(str(number), session_id="chat_a", start=False)).task.task_id for number in range(5)]
    await house.task("other", start=False)
    page = await house.tasks.list(session_id="chat_a", limit=3)
    rest = await house.tasks.list(session_id="chat_a", limit=3, cursor=page.next_cursor)
    assert [one.task.task_id for one in page.tasks + rest.tasks] == made[::-1]
    assert rest.next_cursor is None
    assert (await house.tasks.list(agent="zot")).tasks == []


async def test_a_session_is_made_by_the_first_task_that_names_it(house: House) -> None:
    sessions = Sessions(journal=house.journal)
    with pytest.raises(SessionNotFound):
        await sessions.get("chat_a")
    await house.task("hello", session_id="chat_a", start=False)
    await house.task("again", session_id="chat_a", start=False)
    session = await sessions.get("chat_a")
    assert (session.title, session.tasks) == ("hello", 2)
    assert await sessions.list() == [session]


async def test_secrets_of_a_task_are_only_in_the_vault(house: House) -> None:
    seen: list[object] = []

    async def looks(host: RunHost) -> Ended:
        server = host.facts.mcp_servers["git"]
        seen.append((host.facts.env, server.env, server.headers, server.args[1], host.redact(f"x {KEY} y")))
        return Finished()

    view = await house.task(
        f"use {KEY}",
        env={"API_KEY": KEY, "COLOUR": "red"},
        mcp_servers={
            "git": {
                "command": "server",
                "args": ["--token", f"ghp_{'a1B2' * 9}"],
                "env": {"TOKEN": KEY, "OTHER": "${API_KEY}"},
                "headers": {"Authorization": "Bearer abcdefgh12345678"},
            }
        },
    )
    assert view.latest_run is not None
    run_id = view.latest_run.birth.run_id
    task = await house.tasks.get(view.task.task_id)
    assert task.env == {"API_KEY": "[redacted:task.api_key]", "COLOUR": "red"}
    file = house.data / "vault" / f"{task.task_id}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    async with at_work(house.worker(looks)):
        await house.end(run_id)
    assert seen == [
        (
            {"COLOUR": "red"},
            {"TOKEN": KEY, "OTHER": KEY},
            {"Authorization": "Bearer abcdefgh12345678"},
            f"ghp_{'a1B2' * 9}",
            "x [redacted:task.api_key] y",
        )
    ]
    assert all(KEY.encode() not in one for one in await house.log(run_id))
    rows = await house.journal.reader.query(lambda db: list(db.execute("SELECT body FROM tasks")))
    assert not any(secret in rows[0][0] for secret in (KEY.encode(), b"ghp_", b"abcdefgh12345678"))
    await house.tasks.delete(task.task_id)
    assert not file.exists()


async def test_a_deleted_task_is_gone_with_its_runs_and_places(house: House) -> None:
    view = await house.task()
    assert view.latest_run is not None
    task_id, run_id = view.task.task_id, view.latest_run.birth.run_id
    with pytest.raises(RunActive):
        await house.tasks.delete(task_id)
    async with at_work(house.worker(done)):
        await house.end(run_id)
    await house.tasks.delete(task_id)
    for gone in (house.tasks.get(task_id), house.tasks.delete(task_id)):
        with pytest.raises(TaskNotFound):
            await gone
    with pytest.raises(RunNotFound):
        await house.journal.reader.run(run_id)
    assert house.folders.removed == [house.data / "workspaces" / task_id / run_id]
    tables = ("tasks", "queue", "workplaces", "messages", "runs")
    counts = await house.journal.reader.query(
        lambda db: [next(db.execute(f"SELECT count(*) FROM {table}"))[0] for table in tables]
    )
    assert counts == [0, 0, 0, 0, 0]


async def test_a_deletion_that_was_cut_short_is_finished_later(house: House) -> None:
    view = await house.task()
    assert view.latest_run is not None
    async with at_work(house.worker(done)):
        await house.end(view.latest_run.birth.run_id)
    await house.journal.write(lambda db: db.execute("UPDATE tasks SET deleted_ns = 1"))
    assert await house.tasks.sweep() == 1
    with pytest.raises(RunNotFound):
        await house.journal.reader.run(view.latest_run.birth.run_id)
    assert await house.tasks.sweep() == 0
