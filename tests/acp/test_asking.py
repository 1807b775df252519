"""Questions: asked in the editor, answered there or anywhere else, and never left hanging."""

import asyncio

from tests.acp.editor import editing
from tests.cli.program import Shell
from tests.cli.running import Gateway
from tests.cli.working import done, rows, script, sh, workspace

COMMAND = "echo hello > made.txt"


async def test_a_call_that_is_allowed_once_is_asked_about_again(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(COMMAND), sh(COMMAND), done())
    async with editing(shell, gateway.data, "--model", model, "--policy", "ask") as editor:
        editor.decides = lambda _: "once"
        chat = await editor.new(folder)
        assert (await editor.prompt(chat)).stop_reason == "end_turn"
        first, second = editor.asked()
    assert (folder / "made.txt").read_text() == "hello\n"
    asked = first["params"]
    assert [one["kind"] for one in asked["options"]] == ["allow_once", "allow_always", "allow_always", "reject_once"]
    assert asked["toolCall"]["rawInput"] == {"command": COMMAND}
    assert {asked["toolCall"]["toolCallId"], second["params"]["toolCall"]["toolCallId"]} == set(editor.calls(chat))


async def test_a_call_that_is_always_allowed_is_not_asked_about_again(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh(COMMAND), sh(COMMAND), done())
    for chosen, questions in (("always", 1), ("session", 0)):
        async with editing(shell, gateway.data, "--model", model, "--policy", "ask") as editor:
            editor.decides = lambda _, chosen=chosen: chosen
            assert (await editor.prompt(await editor.new(workspace(shell)))).stop_reason == "end_turn"
            assert len(editor.asked()) == questions


async def test_a_call_that_is_rejected_does_not_happen_and_the_agent_goes_on(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(COMMAND), done("Then not."))
    # To give up on a question is to say no.
    for chosen in ("reject", None):
        async with editing(shell, gateway.data, "--model", model, "--policy", "ask") as editor:
            editor.decides = lambda _, chosen=chosen: chosen
            chat = await editor.new(folder)
            assert (await editor.prompt(chat)).stop_reason == "end_turn"
            assert [one["status"] for one in editor.calls(chat).values()] == ["failed"]
            assert editor.said(chat) == "Then not."
    assert not (folder / "made.txt").exists()


async def test_a_question_that_is_answered_elsewhere_is_taken_back(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(COMMAND), done())
    data = ("--data", str(gateway.data))
    async with editing(shell, gateway.data, "--model", model, "--policy", "ask") as editor:
        chat = await editor.new(folder)
        prompt = asyncio.create_task(editor.prompt(chat))
        await editor.until(editor.asked)
        (waiting,) = rows(await asyncio.to_thread(shell.runwire, *data, "--json", "approvals"))
        approve = await asyncio.to_thread(shell.runwire, *data, "approve", waiting["approval_id"])
        assert approve.status == 0
        assert (await prompt).stop_reason == "end_turn"
        (question,) = editor.asked()
        (taken_back,) = [one for one in editor.heard if one.get("method") == "$/cancel_request"]
        assert taken_back["params"] == {"requestId": question["id"]}
        # An answer that comes too late changes nothing.
        editor.answer.set_result("reject")
        assert (await editor.agent.list_sessions()).sessions[0].session_id == chat
    assert (folder / "made.txt").exists()


async def test_an_editor_that_cannot_ask_leaves_the_question_to_others(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh(COMMAND), done())
    data = ("--data", str(gateway.data))
    async with editing(shell, gateway.data, "--model", model, "--policy", "ask") as editor:
        editor.answer.set_exception(NotImplementedError("no questions, please"))
        chat = await editor.new(workspace(shell))
        prompt = asyncio.create_task(editor.prompt(chat))
        await editor.until(editor.asked)
        (waiting,) = rows(await asyncio.to_thread(shell.runwire, *data, "--json", "approvals"))
        deny = await asyncio.to_thread(shell.runwire, *data, "deny", waiting["approval_id"], "--stop")
        assert deny.status == 0
        assert (await prompt).stop_reason == "cancelled"


async def test_what_was_asked_before_the_editor_went_is_asked_again_when_it_is_back(
    shell: Shell, gateway: Gateway
) -> None:
    folder = workspace(shell)
    arguments = ("--model", script(shell.home, sh(COMMAND), done("Done.")), "--policy", "ask")
    async with editing(shell, gateway.data, *arguments) as editor:
        chat = await editor.new(folder)
        prompt = asyncio.create_task(editor.prompt(chat))
        await editor.until(editor.asked)
        editor.process.kill()
        await editor.process.wait()
        await asyncio.wait({prompt})
        assert prompt.exception() is not None
    async with editing(shell, gateway.data, *arguments) as editor:
        editor.decides = lambda _: "once"
        await editor.agent.load_session(cwd=str(folder), session_id=chat)
        await editor.until(lambda: editor.said(chat) == "Done.")
        assert len(editor.asked()) == 1
        assert editor.said(chat, "user_message_chunk") == "please"
    assert (folder / "made.txt").exists()
