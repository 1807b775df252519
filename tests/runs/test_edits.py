"""An input that a person has edited must fit the tool and what policy allows, before it is taken."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from runwire.clock import SystemClock
from runwire.errors import InvalidBody
from runwire.host import ToolAsk, ToolInputInvalid
from runwire.runs.approval import Answer, Approval, Question, digest_of
from runwire.runs.approvals import Approvals
from runwire.runs.edits import PolicedEdits, likeness
from runwire.runs.errors import EditDenied
from runwire.runs.grants import Asker
from runwire.runs.rows.tasks import insert_task
from runwire.runs.shellwords import read
from runwire.runs.surroundings import Surroundings
from runwire.runs.task import encode_task
from tests.runs.deciding import PLACE, Desk, begin, ids_of, opened, shell, tool

ASKER = Asker(agent="native", workspace="/ws", task_id="task_1", session_id="chat_1")
POLICY = {
    "default": "ask",
    "rules": [{"action": "deny", "argv": ["git push*"]}, {"action": "deny", "paths": ["secrets/**"]}],
}


def _fits(_: Approval, edited: Mapping[str, object]) -> ToolAsk | None:
    if not isinstance(edited.get("command", ""), str):
        raise ToolInputInvalid("command: is not text")
    return None


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = SystemClock()
    async with opened(tmp_path / "journal.db") as journal:
        desk = Desk(journal, await begin(journal, tmp_path), POLICY, clock=clock, data=tmp_path / "data")
        task = desk.held.task
        await journal.write(lambda db: insert_task(db, task, encode_task(task)))
        surroundings = Surroundings(data=tmp_path / "data", unconfined=False)
        edits = PolicedEdits(journal=journal, read_ask=_fits, policies=desk.policies, surroundings=surroundings)
        desk.approvals = Approvals(journal=journal, clock=clock, ids=ids_of(clock), edits=edits)
        yield desk


async def asked(desk: Desk, ask: ToolAsk) -> Approval:
    question = Question(
        run_id="run_1",
        ask=ask,
        reading=None if ask.argv_text is None else read(ask.argv_text),
        asker=ASKER,
        digest=digest_of(ask, ASKER, PLACE),
        reason="policy",
        timeout_s=None,
    )
    return await desk.approvals.request(question, desk.emit)


def edit(**edited: object) -> Answer:
    return Answer(decision="approved", by="ann", scope="always", edited_input=edited)


async def test_an_edit_that_does_not_fit_or_may_not_be_leaves_the_question_open(desk: Desk) -> None:
    approval = await asked(desk, shell("make"))
    with pytest.raises(InvalidBody, match="command"):
        await desk.approvals.resolve(approval.approval_id, edit(command=7))
    for command in ("git status && git push", "rm -rf /", "cat secrets/key", "cat $(git push)"):
        with pytest.raises(EditDenied):
            await desk.approvals.resolve(approval.approval_id, edit(command=command))
    assert (await desk.approvals.get(approval.approval_id)).pending
    await desk.approvals.resolve(approval.approval_id, edit(command="git status"))
    (grant,) = await desk.grants.list()
    assert grant.rule.argv is not None
    assert [one.argv for one in grant.rule.argv] == [["git", "status"]]


async def test_a_call_of_an_agent_that_takes_no_other_input_is_not_edited(desk: Desk) -> None:
    approval = await asked(desk, replace(shell("make"), fixed=True))
    with pytest.raises(EditDenied, match="no other input"):
        await desk.approvals.resolve(approval.approval_id, edit(command="make all"))
    assert (await desk.approvals.get(approval.approval_id)).pending
    await desk.approvals.resolve(approval.approval_id, edit(command="make"))


async def test_an_edited_path_is_looked_at(desk: Desk) -> None:
    approval = await asked(desk, tool("file_write", "writes", paths=["a"], path="a"))
    with pytest.raises(EditDenied):
        await desk.approvals.resolve(approval.approval_id, edit(path="x/../secrets/key"))


async def test_a_likeness_knows_what_tools_call_things(desk: Desk) -> None:
    files = await asked(desk, tool("multi_edit", "writes", paths=["a"]))
    assert likeness(files, {"edits": [{"path": "a"}, {"path": "b"}, 7]}).paths == ("a", "b")
    page = await asked(desk, tool("web_fetch", "network", hosts=["a"]))
    assert likeness(page, {"url": "https://Example.org:8443/x"}).hosts == ("example.org",)
    assert likeness(page, {"url": "http://[x"}).hosts == ()
    git = await asked(desk, shell("git status"))
    assert likeness(git, {"args": ["push", "a b"]}).argv_text == "git push 'a b'"
