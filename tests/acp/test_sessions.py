"""Conversations: several at once, listed, taken up again after everything was closed."""

import asyncio
from pathlib import Path

import pytest
from acp import RequestError

from tests.acp.editor import Editor, editing
from tests.cli.program import Shell
from tests.cli.running import Gateway
from tests.cli.working import done, edit, script, sh, workspace

NOT_FOUND = -32002


def shown(editor: Editor, chat: str) -> list[object]:
    """A conversation as it can be read, whatever pieces it came in."""
    facts = ("title", "kind", "status", "content", "locations", "rawInput")
    calls = [{name: call.get(name) for name in facts} for call in editor.calls(chat).values()]
    return [editor.said(chat), editor.said(chat, "agent_thought_chunk"), calls]


async def test_two_conversations_are_held_at_once_and_kept_apart(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    # Each waits for what the other does.
    both = "mktemp here-XXXXXX; while [ $(ls here-* | wc -l) -lt 2 ]; do sleep 0.05; done"
    async with editing(shell, gateway.data, "--model", script(shell.home, sh(both), done())) as editor:
        chats = [await editor.new(folder), await editor.new(folder)]
        answers = await asyncio.gather(*(editor.prompt(chat) for chat in chats))
        assert [one.stop_reason for one in answers] == ["end_turn", "end_turn"]
    outputs = {str(call["content"]) for chat in chats for call in editor.calls(chat).values()}
    assert len(outputs) == 2
    assert [editor.said(chat) for chat in chats] == ["Done.", "Done."]


@pytest.mark.parametrize("embedded", [False, True])
async def test_a_conversation_is_told_again_after_everything_was_restarted_and_goes_on(
    shell: Shell, tmp_path: Path, request: pytest.FixtureRequest, embedded: bool
) -> None:
    gateway = None if embedded else request.getfixturevalue("gateway")
    folder = workspace(shell, notes="one\n")
    model = script(
        shell.home,
        {"thinking": "Hm.", "text": "First. ", **sh("seq 3")},
        edit("notes.txt", "one", "two"),
        done("So. "),
        {"text": "Second. ", **sh("exit 1")},
        done("Over."),
        done("Still here."),
    )
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        chat = await editor.new(folder)
        await editor.prompt(chat, "begin")
        await editor.prompt(chat, "go on")
        before = shown(editor, chat)
        assert before[0] == "First. So. Second. Over."
    if isinstance(gateway, Gateway):
        gateway.restart()
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        (listed,) = (await editor.agent.list_sessions(cwd=str(folder))).sessions
        assert (listed.session_id, listed.cwd, listed.title) == (chat, str(folder), "begin")
        assert (await editor.agent.list_sessions(cwd="/elsewhere")).sessions == []
        await editor.agent.load_session(cwd=str(folder), session_id=chat)
        assert shown(editor, chat) == before
        told = [one["content"]["text"] for one in editor.updates(chat, "user_message_chunk")]
        assert told == ["begin", "go on"]
        # What is over comes whole, and not in the pieces that it was made of.
        assert len(editor.updates(chat, "agent_message_chunk")) == 4
        assert (await editor.prompt(chat, "are you there?")).stop_reason == "end_turn"
        assert editor.said(chat) == "First. So. Second. Over.Still here."


async def test_a_conversation_can_be_taken_up_without_being_told(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, done("One."), done("Two."))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat = await editor.new(folder)
        await editor.prompt(chat)
        await editor.agent.close_session(session_id=chat)
        with pytest.raises(RequestError) as refused:
            await editor.prompt(chat)
        assert refused.value.code == NOT_FOUND
        heard = len(editor.updates(chat))
        await editor.agent.resume_session(cwd=str(folder), session_id=chat)
        assert len(editor.updates(chat)) == heard
        await editor.prompt(chat)
        assert editor.said(chat) == "One.Two."


async def test_what_was_begun_at_a_terminal_is_taken_up_in_the_editor(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, done("From there."), done("From here."))
    ended = shell.runwire("--data", str(gateway.data), "run", "--workspace", str(folder), "--model", model, "begin")
    assert ended.status == 0
    async with editing(shell, gateway.data, "--model", model) as editor:
        (listed,) = (await editor.agent.list_sessions()).sessions
        await editor.agent.load_session(cwd=str(folder), session_id=listed.session_id)
        await editor.prompt(listed.session_id, "go on")
        assert editor.said(listed.session_id) == "From there.From here."


async def test_a_conversation_that_is_not_there_is_not_found(shell: Shell, gateway: Gateway) -> None:
    async with editing(shell, gateway.data) as editor:
        for nobody in ("chat_nobody", "task_01JC0000000000000000000001"):
            with pytest.raises(RequestError) as refused:
                await editor.agent.load_session(cwd="/tmp", session_id=nobody)
            assert refused.value.code == NOT_FOUND
            assert "session/list" in str(refused.value)


async def test_the_mode_is_chosen_before_the_first_prompt_and_stays(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh("touch made.txt"), done())
    async with editing(shell, gateway.data, "--model", model) as editor:
        opened = await editor.agent.new_session(cwd=str(folder))
        assert opened.modes is not None
        assert [one.id for one in opened.modes.available_modes] == ["default", "ask", "read_only", "trust"]
        assert opened.modes.current_mode_id == "default"
        chat = opened.session_id
        with pytest.raises(RequestError, match="there is no mode 'wild'"):
            await editor.agent.set_session_mode(session_id=chat, mode_id="wild")
        await editor.agent.set_session_mode(session_id=chat, mode_id="read_only")
        assert (await editor.prompt(chat)).stop_reason == "end_turn"
        assert not (folder / "made.txt").exists()
        with pytest.raises(RequestError, match="begin a new one"):
            await editor.agent.set_session_mode(session_id=chat, mode_id="trust")
        loaded = await editor.agent.load_session(cwd=str(folder), session_id=chat)
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "read_only"
