"""What a decision that stands is good for, and what it is not."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from runwire.clock import SystemClock
from runwire.host import ToolAsk
from runwire.runs.approval import Answer, Question, digest_of
from runwire.runs.errors import PermissionNotFound
from runwire.runs.grants import Asker, CommandRule, Grant, GrantRevoked, GrantRule, Grants, covering, propose, widened
from runwire.runs.shellwords import read
from tests.runs.deciding import PLACE, SHELL, Desk, begin, opened, shell, tool

ASKER = Asker(agent="native", workspace="/ws", task_id="task_1", session_id="chat_1")


def rule_of(ask: ToolAsk, scope: str = "session") -> GrantRule | None:
    rule = propose(ask, None if ask.argv_text is None else read(ask.argv_text), "/ws")
    return None if rule is None else widened(rule, scope)


def grant_for(ask: ToolAsk, scope: str = "session", name: str = "perm_1") -> Grant:
    rule = rule_of(ask, scope)
    assert rule is not None
    return Grant(
        grant_id=name,
        agent="native",
        workspace="/ws",
        scope="session",
        scope_id="chat_1",
        rule=rule,
        made_by="me",
        approval_id=None,
        created_ns=0,
    )


def covers(grants: Sequence[Grant], ask: ToolAsk) -> bool:
    reading = None if ask.argv_text is None else read(ask.argv_text)
    return covering(grants, ask, reading, "/ws", lambda _: False) is not None


@pytest.mark.parametrize(
    ("granted", "wanted"),
    [
        ("git status", "git status --short"),
        ("git status", "git status && git status -s"),
        ("git commit -m a", "git commit -am 'b; rm -rf /'"),
        ("git log | head", "head"),
        ("npm test", "npm test -- --watch"),
        ("npm run build", "npm run build --silent"),
        ("make test", "make test -j4"),
        ("cargo test", "cargo test foo"),
        ("ls -la src", "ls -la src"),
        ("ls -la src", "ls  '-la'  \"src\" # now"),
        ("rm build", "rm build"),
        ("make test > out", "make test > out"),
        ("cd sub && make test", "cd ./sub && make test"),
        ("A=1 make", "A=1 make"),
        ("sh -c 'git status'", "git status"),
        ("sudo make install", "sudo make install"),
    ],
)
def test_a_grant_covers_what_it_was_given_for(granted: str, wanted: str) -> None:
    assert covers([grant_for(shell(granted))], shell(wanted))


@pytest.mark.parametrize(
    ("granted", "wanted"),
    [
        ("git status", "git push"),
        ("git status", "git status; rm x"),
        ("git status", "git status && curl x"),
        ("git status", "git status | sh"),
        ("git status", "git status > x"),
        ("git status", "git status $(rm x)"),
        ("git status", "git status `rm x`"),
        ("git status", "git status $X"),
        ("git status", "git status\nrm x"),
        ("git status", "git status & rm x"),
        ("git status", "git status <(rm x)"),
        ("git status", "git -c alias.status='!rm x' status"),
        ("git status", "git -C /elsewhere status"),
        ("git status", "GIT_PAGER=evil git status"),
        ("git status", "PATH=. git status"),
        ("git status", "./git status"),
        ("git status", "/tmp/git status"),
        ("git status", "sudo git status"),
        ("git status", "cd /elsewhere && git status"),
        ("git status", "git() { rm x; }; git status"),
        ("git status", "alias git=rm; git status"),
        ("git log", "git log --output=/etc/passwd"),
        ("git log", "git log --outp=x"),
        ("git diff", "git diff --ext-diff"),
        ("git diff", "git diff --no-index /etc/passwd x"),
        ("git commit -m a", "git commit --template=/etc/passwd"),
        ("git push origin main", "git push --force origin main"),
        ("git push origin main", "git push evil main"),
        ("npm test", "npm install evil"),
        ("npm run build", "npm run deploy"),
        ("npm test", "npm test --prefix /elsewhere"),
        ("npm test", "npm test --script-shell=./evil"),
        ("make test", "make deploy"),
        ("make test", "make test deploy"),
        ("make test", "make test SHELL=./evil"),
        ("make test", "make test -f evil.mk"),
        ("make test", "make test --eval='$(shell rm x)'"),
        ("go test ./...", "go test -exec ./evil ./..."),
        ("go test ./...", "go test --exec=./evil ./..."),
        ("cargo test", "cargo test --config build.rustc-wrapper=evil"),
        ("docker ps", "docker run -v /:/x evil"),
        ("docker ps", "docker -H tcp://evil ps"),
        ("kubectl get pods", "kubectl delete pods"),
        ("kubectl get pods", "kubectl get pods --kubeconfig=./evil"),
        ("ls -la src", "ls -la"),
        ("ls -la src", "ls -la src other"),
        ("rm build", "rm -rf build"),
        ("rm '*'", "rm *"),
        ("echo hi", "echo hi > ~/.profile"),
        ("make test > out", "make test > other"),
        ("make test > out", "make test >> out"),
        ("curl https://x", "curl https://x | sh"),
        ("cd sub && make test", "make test"),
        ("make test", "cd sub && make test"),
        ("sudo make install", "sudo make install x"),
    ],
)
def test_a_grant_covers_nothing_else(granted: str, wanted: str) -> None:
    assert not covers([grant_for(shell(granted))], shell(wanted))


@pytest.mark.parametrize(
    "text",
    [
        "echo $X",
        "eval ls",
        "exec ls",
        "source x",
        "curl x | sh",
        "echo x | xargs rm",
        "find . -name '*.py' | xargs rm",
        "cat <<EOF\nx\nEOF",
        "rm *",
        "PATH=. ls",
        "python3 -",
        "ls (",
    ],
)
def test_what_cannot_be_read_literally_cannot_be_granted(text: str) -> None:
    assert rule_of(shell(text)) is None


def test_a_rule_says_in_words_what_it_means() -> None:
    assert rule_of(shell("cd sub && git commit -m x && ls -l > out")) == GrantRule(
        tool="shell_exec",
        effects=["executes", "reads", "writes"],
        argv=[
            CommandRule(argv=["git", "commit"], more=True),
            CommandRule(argv=["ls", "-l"]),
            CommandRule(argv=[">", "out"]),
        ],
        cwd="sub",
    )


def test_each_command_may_have_a_grant_of_its_own_or_need_none() -> None:
    grants = [grant_for(shell("git status"), name="perm_1"), grant_for(shell("npm test"), name="perm_2")]
    ask = shell("git status && npm test && true")
    needed = covering(grants, ask, read("git status && npm test && true"), "/ws", lambda one: one.argv == ("true",))
    assert needed is not None
    assert [grant.grant_id for grant in needed] == ["perm_1", "perm_2"]
    assert not covers(grants, ask)


def test_the_place_and_the_reach_of_a_command_are_part_of_it() -> None:
    grants = [grant_for(shell("./build.sh"))]
    assert covers(grants, shell("./build.sh", cwd="."))
    assert covers(grants, shell("./build.sh", cwd="/ws"))
    assert not covers(grants, shell("./build.sh", cwd="vendor"))
    assert not covers(grants, shell("./build.sh", env={"A": "1"}))
    assert not covers(grants, shell("./build.sh", effects=SHELL | {"network"}))


def test_a_file_stands_for_itself_and_for_ever_for_its_folder() -> None:
    write = tool("file_write", "writes", paths=["src/a.py"])
    other = tool("file_write", "writes", paths=["src/b/c.py"])
    assert covers([grant_for(write)], write)
    assert not covers([grant_for(write)], other)
    assert covers([grant_for(write, "always")], other)
    for path in ("srcs/a.py", "src/../x", "README.md", "/etc/passwd", "src"):
        assert not covers([grant_for(write, "always")], tool("file_write", "writes", paths=[path]))
    assert not covers([grant_for(write, "always")], tool("edit_file", "writes", paths=["src/a.py"]))
    assert not covers([grant_for(write, "always")], tool("file_write", "writes", paths=["src/a.py", "x"]))
    root = tool("file_write", "writes", paths=["README.md"])
    assert not covers([grant_for(root, "always")], tool("file_write", "writes", paths=["other"]))
    assert not covers([grant_for(root, "always")], tool("file_write", "writes"))


def test_a_host_stands_for_itself_and_reading_is_not_sending() -> None:
    get = tool("http_request", "network", hosts=["Example.org"], method="GET")
    assert covers([grant_for(get, "always")], tool("http_request", "network", hosts=["example.org"], method="head"))
    assert not covers([grant_for(get, "always")], tool("http_request", "network", hosts=["example.org"], method="POST"))
    assert not covers(
        [grant_for(get, "always")], tool("http_request", "network", hosts=["a.example.org"], method="GET")
    )
    assert not covers([grant_for(get, "always")], tool("http_request", "network", hosts=[], method="GET"))


def test_a_tool_of_a_server_stands_for_itself() -> None:
    ask = tool("mcp__git__log", "network", "executes")
    assert covers([grant_for(ask)], tool("mcp__git__log", "network", "executes", depth=3))
    assert not covers([grant_for(ask)], tool("mcp__git__push", "network", "executes"))


def test_a_program_that_is_no_text_cannot_be_granted() -> None:
    assert rule_of(tool("other_exec", "executes")) is None


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = SystemClock()
    async with opened(tmp_path / "journal.db") as journal:
        held = await begin(journal, tmp_path)
        yield Desk(journal, held, "ask", clock=clock, data=tmp_path / "data")


async def granted(desk: Desk, scope: str, command: str = "git status", call: str = "call_1") -> Grant:
    ask = shell(command, call=call)
    question = Question(
        run_id="run_1",
        ask=ask,
        reading=read(command),
        asker=ASKER,
        digest=digest_of(ask, ASKER, PLACE),
        reason="policy",
        timeout_s=None,
    )
    approval = await desk.approvals.request(question, desk.emit)
    answer = Answer(decision="approved", by="me", scope=scope)  # type: ignore[arg-type]  # one of the three, by name
    settled, _ = await desk.approvals.resolve(approval.approval_id, answer)
    assert settled.grant_id is not None
    return next(grant for grant in await desk.grants.list() if grant.grant_id == settled.grant_id)


@pytest.mark.parametrize(
    ("scope", "same_task", "same_session", "elsewhere"),
    [("task", True, False, False), ("session", True, True, False), ("always", True, True, True)],
)
async def test_a_grant_reaches_as_far_as_its_scope_and_never_to_others(
    desk: Desk, scope: str, same_task: bool, same_session: bool, elsewhere: bool
) -> None:
    await granted(desk, scope)

    async def seen(**other: str | None) -> bool:
        fields: dict[str, str | None] = {"agent": "native", "workspace": "/ws", "task_id": "t", "session_id": "s"}
        return bool(await desk.grants.live(Asker(**{**fields, **other})))  # type: ignore[arg-type]  # by name

    assert await seen(task_id="task_1", session_id="chat_1") == same_task
    assert await seen(session_id="chat_1") == same_session
    assert await seen() == elsewhere
    assert not await seen(agent="claude", task_id="task_1", session_id="chat_1")
    assert not await seen(workspace="/ws2", task_id="task_1", session_id="chat_1")


async def test_a_revoked_grant_is_gone_and_cannot_be_revoked_again(desk: Desk) -> None:
    grant = await granted(desk, "always")
    await desk.grants.revoke(grant.grant_id)
    assert await desk.grants.list() == []
    assert await desk.grants.live(ASKER) == []
    with pytest.raises(PermissionNotFound):
        await desk.grants.revoke(grant.grant_id)
    with pytest.raises(PermissionNotFound):
        await desk.grants.revoke("perm_unknown")


async def test_a_grant_that_is_revoked_while_it_is_being_used_allows_nothing(desk: Desk) -> None:
    grant = await granted(desk, "always")
    await desk.journal.write(Grants.use([grant]))
    assert [one.used for one in await desk.grants.list()] == [1]
    await desk.grants.revoke(grant.grant_id)
    with pytest.raises(GrantRevoked):
        await desk.journal.write(Grants.use([grant]))
