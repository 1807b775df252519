"""An editor: the client of the official SDK, with the real program behind its pipes."""

import asyncio
import os
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, Client, RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.connection import StreamDirection, StreamEvent
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    ToolCallUpdate,
)
from acp.stdio import spawn_agent_process
from pydantic import BaseModel

from tests.cli.program import RUNWIRE, Shell

Message = dict[str, Any]
# Longer than any of this takes on a machine with a lot to do.
PATIENCE_S = 60.0
_LINE_MAX = 16 * 1024 * 1024
_CHECKED: Mapping[str, type[BaseModel]] = {
    "session/update": SessionNotification,
    "session/request_permission": RequestPermissionRequest,
}


class Editor:
    """What an editor sees, and the person in front of it."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        """Every message of the agent's, as it came."""
        self.wrong: list[Message] = []
        """Messages that the SDK's schema does not know like this."""
        self.decides: Callable[[list[PermissionOption]], str | None] | None = None
        """Chooses an option of a question, or none of them; without it, nobody is there to answer."""
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._news = asyncio.Event()
        self.agent: ClientSideConnection = cast("ClientSideConnection", None)
        self.process: Process = cast("Process", None)

    # What the SDK calls

    async def session_update(self, session_id: str, update: object, **_: object) -> None:
        """Nothing: `hear` has seen it as it came."""

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002 - the SDK's signature
        tool_call: ToolCallUpdate,  # noqa: ARG002 - the SDK's signature
        options: list[PermissionOption],
        **_: object,
    ) -> RequestPermissionResponse:
        """Ask the person."""
        chosen = await self.answer if self.decides is None else self.decides(options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    def hear(self, event: StreamEvent) -> None:
        """Keep a message, and look whether the SDK's schema knows everything in it."""
        if event.direction is not StreamDirection.INCOMING:
            return
        kind = _CHECKED.get(event.message.get("method", ""))
        if kind is not None:
            params = event.message["params"]
            if kind.model_validate(params).model_dump(mode="json", by_alias=True, exclude_unset=True) != params:
                self.wrong.append(event.message)
        self.heard.append(event.message)
        self._news.set()

    # What a test looks at

    def updates(self, session_id: str, kind: str = "") -> list[Message]:
        """What was told about a session, or only what is of one kind."""
        told = [one["params"] for one in self.heard if one.get("method") == "session/update"]
        return [
            one["update"]
            for one in told
            if one["sessionId"] == session_id and kind in {"", one["update"]["sessionUpdate"]}
        ]

    def said(self, session_id: str, kind: str = "agent_message_chunk") -> str:
        """The text of a session."""
        return "".join(one["content"]["text"] for one in self.updates(session_id, kind))

    def calls(self, session_id: str) -> dict[str, Message]:
        """Every tool call by its id, as an editor has it after all updates."""
        found: dict[str, Message] = {}
        for one in self.updates(session_id):
            if one["sessionUpdate"] == "tool_call":
                assert one["toolCallId"] not in found
                found[one["toolCallId"]] = dict(one)
            elif one["sessionUpdate"] == "tool_call_update":
                found[one["toolCallId"]] |= one
        return found

    def call(self, session_id: str, title: str) -> Message:
        """The one tool call of that title."""
        (found,) = [one for one in self.calls(session_id).values() if one["title"] == title]
        return found

    def asked(self) -> list[Message]:
        """Every question that was put."""
        return [one for one in self.heard if one.get("method") == "session/request_permission"]

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something was heard that makes it so."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():
                self._news.clear()
                await self._news.wait()

    async def new(self, cwd: Path, **more: Any) -> str:
        """A conversation about a folder."""
        return (await self.agent.new_session(cwd=str(cwd), **more)).session_id

    async def prompt(self, session_id: str, text: str = "please") -> PromptResponse:
        """Say something and wait for the answer."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.agent.prompt(session_id=session_id, prompt=[text_block(text)])

    async def refused(self, session_id: str, text: str = "please") -> RequestError:
        """Say something that does not end well."""
        try:
            ended = await self.prompt(session_id, text)
        except RequestError as error:
            return error
        raise AssertionError(f"it ended with {ended.stop_reason}")


@asynccontextmanager
async def editing(
    shell: Shell, data: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> AsyncGenerator[Editor]:
    """An editor that has started `runwire acp` and said hello; it hangs up after the block."""
    editor = Editor()
    with (shell.home / "acp.stderr").open("ab") as stderr:
        async with spawn_agent_process(
            cast("Client", editor),
            *RUNWIRE,
            "--data",
            str(data),
            "acp",
            *arguments,
            env={**os.environ, **shell.environment(env)},
            cwd=shell.home,
            transport_kwargs={"stderr": stderr, "limit": _LINE_MAX, "shutdown_timeout": PATIENCE_S},
            observers=[editor.hear],
        ) as (editor.agent, editor.process):
            await editor.agent.initialize(protocol_version=PROTOCOL_VERSION)
            yield editor
    assert editor.wrong == []
