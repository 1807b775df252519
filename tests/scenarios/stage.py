"""Where whole journeys are played: the real gateway with real workers, scripted models and real files, in one process."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import msgspec

from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.client.embedded import EmbeddedTransport
from runwire.client.items import Event
from runwire.config import Config
from runwire.protocol.catalogue import TERMINAL, decode_payload
from runwire.protocol.envelope import data_of
from runwire.protocol.payload import Payload
from runwire.wiring import serving
from tests.patience import PATIENCE_S
from tests.scenarios.log import Log

V1 = "/hecate/v1"
Json = dict[str, Any]
P = TypeVar("P", bound=Payload)


def turn(text: str = "", *tools: Json, **more: object) -> Json:
    """One answer of a scripted model."""
    return {"text": text, "tools": list(tools), "usage": {"input": 100, "output": 20}, **more}


def call(name: str, **given: object) -> Json:
    """A tool call of a scripted model."""
    return {"name": name, "input": given}


def sh(command: str, **more: object) -> Json:
    """A shell command that a scripted model asks for."""
    return call("shell_exec", command=command, **more)


@dataclass(slots=True)
class Stage:
    """One gateway, and a caller who may do everything."""

    folder: Path
    workspace: Path
    http: httpx2.AsyncClient
    client: Client

    def script(self, turns: Sequence[Json], *, name: str = "script.json", **more: object) -> str:
        """Write a script and return the model that plays it."""
        path = self.folder / name
        path.write_bytes(msgspec.json.encode({"turns": turns, **more}))
        return f"scripted:{path}"

    async def task(self, **settings: object) -> Json:
        """Make a task that works in the workspace, by default; it starts by itself."""
        return await self.post("/tasks", {"workspace": {"path": str(self.workspace)}, **settings}, status=201)

    async def start(self, *turns: Json, script: Mapping[str, Any] | None = None, **settings: object) -> str:
        """Start a task whose model says these turns, and return its first run."""
        model = self.script(turns, **(script or {}))
        made = await self.task(**{"prompt": "Do it.", "model": model, **settings})
        return str(made["latest_run"]["run_id"])

    async def play(self, *turns: Json, **settings: Any) -> Log:
        """Start a task, let it come to its end, and return the log of its run."""
        return await self.end(await self.start(*turns, **settings))

    async def post(self, path: str, body: object | None = None, *, status: int | None = 200) -> Json:
        """Post something; the answer must have this status."""
        answer = await self.http.post(V1 + path, json={} if body is None else body)
        assert status is None or answer.status_code == status, (path, answer.status_code, answer.text)
        found: Json = answer.json()
        return found

    async def get(self, path: str, **params: str) -> Json:
        """Read something that is there."""
        answer = await self.http.get(V1 + path, params=params)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        found: Json = answer.json()
        return found

    async def on_run(self, run_id: str, verb: str, body: object | None = None, *, status: int = 201) -> Json:
        """Do something to a run."""
        run = await self.client.run(run_id)
        return await self.post(f"/tasks/{run.task_id}/runs/{run_id}/{verb}", body, status=status)

    async def resolve(self, approval_id: str, decision: str, **more: object) -> Json:
        """Answer a question."""
        return await self.post(f"/approvals/{approval_id}/resolve", {"decision": decision, **more})

    async def until(self, run_id: str, kind: type[P], where: Callable[[P], bool] = lambda _: True) -> P:
        """Follow a run to the first event of a kind that fits."""
        async with asyncio.timeout(PATIENCE_S), aclosing(self.client.events(run_id)) as items:
            async for item in items:
                if isinstance(item, Event) and item.type == kind.type:
                    payload = decode_payload(item.type, data_of(item.envelope))
                    assert isinstance(payload, kind)
                    if where(payload):
                        return payload
        raise AssertionError(f"{run_id} ended without {kind.type}: {(await self.log(run_id)).types}")

    async def end(self, run_id: str) -> Log:
        """Follow a run to its end."""
        async with asyncio.timeout(PATIENCE_S), aclosing(self.client.events(run_id)) as items:
            found = [item.envelope async for item in items if isinstance(item, Event)]
        log = Log(found)
        assert TERMINAL & set(log.types), log.types
        return log

    async def log(self, run_id: str) -> Log:
        """The log as it is now."""
        return Log([line async for line in self.client.export(run_id)])

    async def run(self, run_id: str) -> Run:
        """A run as it is now."""
        return await self.client.run(run_id)

    async def logs(self) -> list[Log]:
        """The logs of all runs, oldest run first."""
        listed = await self.client.runs(limit=200)
        ids = [msgspec.json.decode(one, type=Run).run_id for one in listed.data]
        return [await self.log(run_id) for run_id in reversed(ids)]


@dataclass(slots=True)
class Theatre:
    """A place for one story: its files, and the logs that it leaves behind."""

    folder: Path
    logs: list[Log] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """What a story has seen that no log tells."""

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def workspace(self) -> Path:
        """Where the agent works."""
        return self.folder / "workspace"

    def file(self, path: str, text: str) -> Path:
        """Put a file into the workspace."""
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    @asynccontextmanager
    async def open(self, **settings: Any) -> AsyncGenerator[Stage]:
        """The stage, with workers unless they are set to 0; what happened on it is kept at the end."""
        self.workspace.mkdir(exist_ok=True)
        workers = settings.pop("workers", 2)
        # Long enough that time seldom cuts a text in two: the same story is to make the same events.
        config = Config(data=self.data, **{"coalesce_ms": 150.0, "close_grace_s": 0.2, **settings})
        async with serving.open_app(config, workers=workers) as (app, token):
            headers = {"authorization": f"Bearer {token}"}
            address = "http://127.0.0.1"
            async with (
                httpx2.AsyncClient(
                    transport=EmbeddedTransport(app), base_url=address, headers=headers, timeout=PATIENCE_S
                ) as http,
                Client(address, token, EmbeddedTransport(app)) as client,
            ):
                stage = Stage(self.folder, self.workspace, http, client)
                yield stage
                self.logs = await stage.logs()
