"""Prompts: what an editor says becomes a run, and what the run does is told as it happens."""

import asyncio
import base64
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from acp import (
    RequestError,
    audio_block,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)
from acp.schema import EnvVariable, McpServerStdio, PromptResponse

from tests.acp.editor import PATIENCE_S, Editor, editing
from tests.cli.program import Shell
from tests.cli.running import Gateway
from tests.cli.working import done, edit, rows, script, sh, workspace
from tests.native.mcp import servers

Prompting = asyncio.Task[PromptResponse]

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


def run_of(answer: PromptResponse) -> str:
    """The run that dealt with a prompt."""
    assert answer.field_meta is not None
    return msgspec.convert(answer.field_meta["runwire"]["runId"], str)


def waits(data: Path, text: str) -> bool:
    """Whether the gateway keeps a text for a run to hear."""
    with closing(sqlite3.connect(f"file:{data / 'journal.db'}?mode=ro", uri=True)) as store:
        return bool(store.execute("SELECT count(*) FROM messages WHERE text = ?", (text,)).fetchone()[0])


def wait_for(name: str) -> str:
    """A command that prints, then waits for a file, then prints again."""
    return f"echo begun; while [ ! -e {name} ]; do sleep 0.05; done; echo ended"


@pytest.mark.parametrize("embedded", [False, True])
async def test_text_thoughts_tools_edits_and_plans_are_told_with_and_without_a_gateway(
    shell: Shell, tmp_path: Path, request: pytest.FixtureRequest, embedded: bool
) -> None:
    if not embedded:
        request.getfixturevalue("gateway")
    folder = workspace(shell, notes="first\nsecond\nthird\n")
    model = script(
        shell.home,
        {"thinking": "Let me see.", "text": "I look **first**.", **sh("echo one; echo two >&2; exit 3")},
        {"tools": [{"name": "file_write", "input": {"path": "sub/new.txt", "content": "fresh\n"}}]},
        edit("notes.txt", "second", "2nd"),
        {"tools": [{"name": "todo_write", "input": {"todos": [{"content": "rest", "status": "in_progress"}]}}]},
        {"text": "Done.", "usage": {"input": 100, "output": 20}, "cost_micros_usd": 250_000},
    )
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        chat = await editor.new(folder)
        answer = await editor.prompt(chat, "count them")
    assert answer.stop_reason == "end_turn"
    assert editor.said(chat) == "I look **first**.Done."
    assert editor.said(chat, "agent_thought_chunk") == "Let me see."
    assert editor.said(chat, "user_message_chunk") == ""

    shown = editor.call(chat, "echo one; echo two >&2; exit 3")
    assert (shown["kind"], shown["status"]) == ("execute", "failed")
    assert shown["rawInput"] == {"command": "echo one; echo two >&2; exit 3"}
    texts = [one["content"]["text"] for one in shown["content"]]
    assert sorted(texts[0].splitlines()) == ["```", "```", "one", "two"]
    assert "exit status 3" in texts

    made = editor.call(chat, "file_write sub/new.txt")
    place = str(folder / "sub/new.txt")
    assert (made["kind"], made["status"], made["locations"]) == ("edit", "completed", [{"path": place}])
    assert made["content"] == [{"type": "diff", "path": place, "oldText": None, "newText": "fresh\n"}]
    (changed,) = editor.call(chat, "edit_file notes.txt")["content"]
    assert (changed["oldText"], changed["newText"]) == ("first\nsecond\nthird\n", "first\n2nd\nthird\n")
    assert changed["path"] == str(folder / "notes.txt")
    assert (folder / "notes.txt").read_text() == "first\n2nd\nthird\n"

    (plan,) = editor.updates(chat, "plan")
    assert plan["entries"] == [{"content": "rest", "priority": "medium", "status": "in_progress"}]
    assert editor.updates(chat, "usage_update")[-1] == {
        "sessionUpdate": "usage_update",
        "used": 120,
        "size": 0,
        "cost": {"amount": 0.25, "currency": "USD"},
    }
    assert [one["title"] for one in editor.updates(chat, "session_info_update")] == ["count them"]
    assert shell.runwire("--data", str(tmp_path / "data"), "verify", run_of(answer)).status == 0


async def test_text_and_output_are_told_while_the_tool_still_runs(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, {"text": "Watch this.", **sh(wait_for("go"))}, done())
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat = await editor.new(folder)
        prompt = asyncio.create_task(editor.prompt(chat))
        await editor.until(lambda: "begun" in str(editor.calls(chat)))
        assert editor.said(chat) == "Watch this."
        assert editor.call(chat, wait_for("go"))["status"] == "in_progress"
        (folder / "go").touch()
        assert (await prompt).stop_reason == "end_turn"
    (shown,) = editor.call(chat, wait_for("go"))["content"]
    assert shown["content"]["text"] == "```\nbegun\nended\n```"


async def test_a_later_prompt_goes_on_with_the_same_conversation(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, done("One."), done("Two."), done("Three."))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat = await editor.new(workspace(shell))
        first, second = await editor.prompt(chat, "count"), await editor.prompt(chat, "go on")
        assert editor.said(chat) == "One.Two."
        # Somebody else goes on with it meanwhile; the editor takes it up where that has ended.
        ended = shell.runwire("--data", str(gateway.data), "--json", "show", run_of(second))
        (run,) = rows(ended)
        assert run["prior_run_id"] == run_of(first)
        third = await editor.prompt(chat, "and on")
        assert editor.said(chat) == "One.Two.Three."
        assert run_of(third) not in {run_of(first), run_of(second)}
    listed = rows(shell.runwire("--data", str(gateway.data), "--json", "runs"))
    assert {one["task_id"] for one in listed} == {run["task_id"]}
    assert {one["session_id"] for one in listed} == {chat}


async def said_meanwhile(editor: Editor, folder: Path, data: Path) -> tuple[str, Prompting, Prompting]:
    """A conversation whose run waits in a tool, its prompt, and a second one that waits to be heard by that run."""
    chat = await editor.new(folder)
    first = asyncio.create_task(editor.prompt(chat, "begin"))
    await editor.until(lambda: "begun" in str(editor.calls(chat)))
    second = asyncio.create_task(editor.prompt(chat, "and be quick"))
    while not waits(data, "and be quick"):
        await asyncio.sleep(0.05)
    return chat, first, second


async def test_a_prompt_while_a_run_is_alive_is_heard_by_that_run(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(wait_for("go")), done())
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat, *prompts = await said_meanwhile(editor, folder, gateway.data)
        (folder / "go").touch()
        answers = await asyncio.gather(*prompts)
        assert [one.stop_reason for one in answers] == ["end_turn", "end_turn"]
        assert run_of(answers[0]) == run_of(answers[1])
        assert editor.said(chat, "user_message_chunk") == ""
    events = rows(shell.runwire("--data", str(gateway.data), "--json", "export", run_of(answers[0])))
    assert [one["data"]["text"] for one in events if one["type"] == "user.message"] == ["begin", "and be quick"]


async def test_what_is_said_to_a_run_as_it_ends_is_heard_by_the_one_that_goes_on_with_it(
    shell: Shell, gateway: Gateway
) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(wait_for("go")), done("Begun."), done("Quickly."))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat, *prompts = await said_meanwhile(editor, folder, gateway.data)
        # As if it had been said between the last time that the run listened and its end.
        with closing(sqlite3.connect(gateway.data / "journal.db", timeout=PATIENCE_S)) as store, store:
            store.execute("UPDATE messages SET run_id = 'run_of_nobody'")
            store.execute(
                "CREATE TRIGGER said_late AFTER DELETE ON queue BEGIN "
                "UPDATE messages SET run_id = OLD.run_id WHERE run_id = 'run_of_nobody'; END"
            )
        (folder / "go").touch()
        answers = await asyncio.gather(*prompts)
        assert [one.stop_reason for one in answers] == ["end_turn", "end_turn"]
        assert run_of(answers[0]) != run_of(answers[1])
        assert editor.said(chat) == "Begun.Quickly."
        assert editor.said(chat, "user_message_chunk") == ""
    events = rows(shell.runwire("--data", str(gateway.data), "--json", "export", run_of(answers[1])))
    assert [one["data"]["text"] for one in events if one["type"] == "user.message"] == ["and be quick"]


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ({"text": "Too much to", "stop_reason": "max_tokens"}, "max_tokens"),
        (sh("true"), "max_turn_requests"),
    ],
)
async def test_the_reason_why_it_stopped_is_told(
    shell: Shell, tmp_path: Path, last: dict[str, object], reason: str
) -> None:
    model = script(shell.home, last, last)
    async with editing(shell, tmp_path / "data", "--model", model, env={"RUNWIRE_MAX_TURNS": "1"}) as editor:
        assert (await editor.prompt(await editor.new(workspace(shell)))).stop_reason == reason


async def test_a_run_that_fails_is_an_error_that_says_what_to_do_and_the_next_prompt_goes_on(
    shell: Shell, tmp_path: Path
) -> None:
    model = script(shell.home, {"error": {"status": 400, "message": "no such luck"}})
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        chat = await editor.new(workspace(shell))
        error = await editor.refused(chat)
        assert error.code == INTERNAL_ERROR
        assert "no such luck" in str(error)
        assert "runwire show run_" in str(error)
        assert error.data is not None
        assert error.data["code"] == "bad_request"
        script(shell.home, done("Better."))
        assert (await editor.prompt(chat)).stop_reason == "end_turn"
        assert editor.said(chat) == "Better."


async def test_a_task_that_cannot_be_is_refused_in_the_words_of_the_gateway(shell: Shell, tmp_path: Path) -> None:
    async with editing(shell, tmp_path / "data") as editor:
        error = await editor.refused(await editor.new(tmp_path))
        assert error.code == INVALID_PARAMS
        assert "an agent needs a model" in str(error)
    async with editing(shell, tmp_path / "data", "--agent", "nobody") as editor:
        assert "there is no agent 'nobody'" in str(await editor.refused(await editor.new(tmp_path)))


async def test_links_and_embedded_files_are_part_of_the_prompt(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, done())
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat = await editor.new(workspace(shell))
        answer = await editor.agent.prompt(
            session_id=chat,
            prompt=[
                text_block("Look at "),
                resource_link_block("a b.py", "file:///src/a%20b.py"),
                text_block(" and "),
                resource_block(embedded_text_resource("file:///src/c.py", "print(1)")),
            ],
        )
    events = rows(shell.runwire("--data", str(gateway.data), "--json", "export", run_of(answer)))
    (said,) = [one["data"]["text"] for one in events if one["type"] == "user.message"]
    assert said == (
        'Look at [@a b.py](/src/a b.py) and [@c.py](/src/c.py)\n\n<context ref="/src/c.py">\nprint(1)\n</context>'
    )


async def test_images_go_with_the_first_prompt_and_with_later_ones(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, done("A dot."), done("Another."))
    image = image_block(base64.b64encode(servers.PNG).decode(), "image/png")
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat = await editor.new(folder)
        answers = [
            await editor.agent.prompt(session_id=chat, prompt=[*prompt])
            for prompt in ([text_block("what is this?"), image], [image])
        ]
        assert editor.said(chat, "user_message_chunk") == ""
        await editor.agent.load_session(cwd=str(folder), session_id=chat)
        assert editor.said(chat, "user_message_chunk").count("[attached: image/png]") == 2
    for answer in answers:
        events = rows(shell.runwire("--data", str(gateway.data), "--json", "export", run_of(answer)))
        (attached,) = [one["data"] for one in events if one["type"] == "user.attachment"]
        assert (attached["kind"], attached["mime"]) == ("image", "image/png")


async def test_what_the_agent_cannot_take_is_refused(shell: Shell, tmp_path: Path) -> None:
    async with editing(shell, tmp_path / "data") as editor:
        chat = await editor.new(tmp_path)
        for prompt in ([text_block("  ")], [audio_block("AAEC", "audio/wav")]):
            with pytest.raises(RequestError) as refused:
                await editor.agent.prompt(session_id=chat, prompt=[*prompt])
            assert refused.value.code == INVALID_PARAMS
        with pytest.raises(RequestError, match="is not absolute"):
            await editor.agent.new_session(cwd="here")
        with pytest.raises(RequestError, match="one folder"):
            await editor.agent.new_session(cwd=str(tmp_path), additional_directories=["/tmp"])


async def test_the_editors_tool_servers_are_there_for_the_agent(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, {"tools": [{"name": "mcp__sums__add", "input": {"a": 2, "b": 40}}]}, done())
    server = McpServerStdio(
        name="sums",
        command=sys.executable,
        args=[str(Path(servers.__file__))],
        env=[EnvVariable(name="PLAIN", value="x")],
    )
    async with editing(shell, gateway.data, "--model", model, "--policy", "trust") as editor:
        chat = await editor.new(workspace(shell), mcp_servers=[server])
        assert (await editor.prompt(chat)).stop_reason == "end_turn"
    (call,) = editor.calls(chat).values()
    assert (call["status"], call["rawInput"]) == ("completed", {"a": 2, "b": 40})
    assert "42" in str(call["content"])
