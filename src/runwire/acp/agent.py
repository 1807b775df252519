"""What an editor can ask of this agent, request by request."""

import asyncio
import posixpath
from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from runwire.acp.peer import CANCEL_REQUEST, Handler, Id, Peer, read
from runwire.acp.prompting import said_by, servers_of
from runwire.acp.refusals import INVALID_PARAMS, NOT_FOUND, Refusal
from runwire.acp.requests import CancelRequest, ListSessions, NewSession, OldSession, Prompt, SessionNamed, SetMode
from runwire.acp.session import Session, wishes_for
from runwire.acp.updates import Answered, Listed, Opened, Sessions
from runwire.client.answers import Task
from runwire.client.client import Client
from runwire.errors import GatewayError
from runwire.version import VERSION

PROTOCOL_VERSION = 1
_NOT_FOUND = 404
_CAN = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": False},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
}


class Agent:
    """Holds the conversations of one editor."""

    def __init__(
        self,
        *,
        client: Client,
        peer: Peer,
        tasks: asyncio.TaskGroup,
        settings: Mapping[str, object],
        new_id: Callable[[str], str],
    ) -> None:
        """Have tasks with these settings done by way of `client`."""
        self._client = client
        self._peer = peer
        self._tasks = tasks
        self._settings = settings
        self._new_id = new_id
        self._sessions: dict[str, Session] = {}
        self._prompts: dict[Id, Session] = {}

    def methods(self) -> Mapping[str, Handler]:
        """What can be asked, by name."""
        return {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
            "session/set_mode": self._set_mode,
            "session/close": self._close,
            CANCEL_REQUEST: self._give_up,
        }

    async def close(self) -> None:
        """End everything that is done for this editor, and see it end."""
        for session in self._sessions.values():
            session.cancel()
        for session in self._sessions.values():
            await session.close()

    async def _initialize(self, params: msgspec.Raw, _: Id | UnsetType) -> object:
        read(params, dict[str, object])
        return {
            # The only one there is here; an editor that does not speak it hangs up.
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": _CAN,
            "agentInfo": {"name": "runwire", "title": "Runwire", "version": VERSION},
            "authMethods": [],
        }

    async def _new(self, params: msgspec.Raw, _: Id | UnsetType) -> Opened:
        asked = read(params, NewSession)
        session = self._make(self._new_id("chat"), asked)
        self._sessions[session.session_id] = session
        return Opened(session.modes(), session.session_id)

    async def _load(self, params: msgspec.Raw, _: Id | UnsetType) -> Opened:
        return await self._take_up(read(params, OldSession), tell=True)

    async def _resume(self, params: msgspec.Raw, _: Id | UnsetType) -> Opened:
        return await self._take_up(read(params, OldSession), tell=False)

    async def _take_up(self, asked: OldSession, *, tell: bool) -> Opened:
        task = await self._task(asked.session_id)
        session = self._make(asked.session_id, asked)
        before = self._sessions.get(asked.session_id)
        if before is not None:
            before.leave()
        self._sessions[session.session_id] = session
        await session.take_up(task, tell=tell)
        return Opened(session.modes())

    async def _list(self, params: msgspec.Raw, _: Id | UnsetType) -> Sessions:
        asked = read(params, ListSessions)
        page = await self._client.tasks(cursor=asked.cursor)
        found: dict[str, Listed] = {}
        for one in page.data:
            task = msgspec.json.decode(one, type=Task)
            path = task.workspace.path
            fits = asked.cwd is None or path == posixpath.normpath(asked.cwd)
            if task.kind == "agent_loop" and path is not None and fits:
                name = task.session_id or task.task_id
                moved = UNSET if task.latest_run is None else task.latest_run.updated_at
                found.setdefault(name, Listed(name, path, task.title, moved))
        return Sessions(list(found.values()), page.next_cursor or UNSET)

    async def _prompt(self, params: msgspec.Raw, given: Id | UnsetType) -> Answered:
        asked = read(params, Prompt)
        session = self._session(asked.session_id)
        said = said_by(asked.prompt)
        if isinstance(given, UnsetType):
            return await session.prompt(said)
        self._prompts[given] = session
        try:
            return await session.prompt(said)
        finally:
            self._prompts.pop(given, None)

    async def _cancel(self, params: msgspec.Raw, _: Id | UnsetType) -> object:
        session = self._sessions.get(read(params, SessionNamed).session_id)
        if session is not None:
            session.cancel()
        return {}

    async def _give_up(self, params: msgspec.Raw, _: Id | UnsetType) -> object:
        session = self._prompts.get(read(params, CancelRequest).request_id)
        if session is not None:
            session.cancel()
        return {}

    async def _set_mode(self, params: msgspec.Raw, _: Id | UnsetType) -> object:
        asked = read(params, SetMode)
        self._session(asked.session_id).set_mode(asked.mode_id)
        return {}

    async def _close(self, params: msgspec.Raw, _: Id | UnsetType) -> object:
        session = self._session(read(params, SessionNamed).session_id)
        await session.close()
        self._sessions.pop(session.session_id, None)
        return {}

    def _make(self, session_id: str, asked: NewSession) -> Session:
        if not posixpath.isabs(asked.cwd):
            raise Refusal(INVALID_PARAMS, f"the folder {asked.cwd[:128]!r} is not absolute", "name it from the root")
        if asked.additional_directories:
            what = "a conversation is about one folder"
            raise Refusal(INVALID_PARAMS, what, "leave additionalDirectories out, or open a folder that holds them all")
        return Session(
            client=self._client,
            peer=self._peer,
            tasks=self._tasks,
            session_id=session_id,
            wishes=wishes_for(self._settings, posixpath.normpath(asked.cwd), servers_of(asked.mcp_servers)),
            root=posixpath.normpath(asked.cwd),
        )

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            what = f"the session {session_id[:64]!r} is not open"
            raise Refusal(NOT_FOUND, what, "session/load opens one from before, session/new a new one")
        return session

    async def _task(self, session_id: str) -> Task:
        """The task of a conversation from before, by the name of its session or its own."""
        found: Task | None = None
        if session_id.startswith("task_"):
            try:
                found = await self._client.task(session_id)
            except GatewayError as error:
                if error.status != _NOT_FOUND:
                    raise
        else:
            page = await self._client.tasks(session_id=session_id, limit=1)
            found = msgspec.json.decode(page.data[0], type=Task) if page.data else None
        if found is None:
            raise Refusal(NOT_FOUND, f"there is no session {session_id[:64]!r}", "session/list says which there are")
        return found
