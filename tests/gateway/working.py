"""A gateway that works on runs, and what tests ask of it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from runwire.protocol.envelope import type_of
from tests.gateway.serving import V1, Served, error_of, serving
from tests.patience import PATIENCE_S

Json = dict[str, Any]
SCOPES = ("read", "operate", "write", "admin")


def sh(command: str) -> Json:
    """A turn that wants one command."""
    return {"tools": [{"name": "shell_exec", "input": {"command": command}}]}


def uses(name: str, **given: object) -> Json:
    """A turn that wants one call."""
    return {"tools": [{"name": name, "input": given}]}


def says(text: str = "Done.", **more: object) -> Json:
    """A turn that only says something."""
    return {"text": text, **more}


@dataclass(frozen=True, slots=True)
class Working:
    """A gateway with workers, and a folder to work in."""

    served: Served
    folder: Path

    @property
    def http(self) -> httpx2.AsyncClient:
        """A caller who may do everything."""
        return self.served.http

    def script(self, *turns: Json) -> str:
        """Write a script and return the model that plays it."""
        known = len(list(self.folder.parent.glob("script-*.json")))
        path = self.folder.with_name(f"script-{known}.json")
        path.write_text(json.dumps({"turns": list(turns)}))
        return f"scripted:{path}"

    async def task(self, *turns: Json, **settings: object) -> Json:
        """Make a task whose model says these turns; it starts by itself."""
        body = {"prompt": "Do it.", "model": self.script(*turns), "workspace": {"path": str(self.folder)}, **settings}
        answer = await self.post("/tasks", body)
        assert answer.status_code == 201, answer.text
        made: Json = answer.json()
        return made

    async def run(self, *turns: Json, **settings: object) -> Json:
        """Start a task and return its run."""
        made: Json = (await self.task(*turns, **settings))["latest_run"]
        return made

    async def post(self, path: str, body: object | None = None, **headers: str) -> httpx2.Response:
        """Post something."""
        return await self.http.post(V1 + path, json={} if body is None else body, headers=headers)

    async def get(self, path: str, **params: str) -> Json:
        """Read something that is there."""
        answer = await self.http.get(V1 + path, params=params)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    async def refused(self, path: str, body: object | None = None) -> tuple[int, str]:
        """Post something that must be refused: the status and the code."""
        answer = await self.post(path, body)
        return answer.status_code, error_of(answer)["code"]

    async def until(self, run_id: str, event_type: str) -> Json:
        """Follow a run to the first event of a type, and return its data."""
        async with self.served.subscribed(f"/runs/{run_id}/events") as stream:
            while (frame := await stream.next()) is not None:
                if frame.event == "message" and type_of(frame.data) == event_type:
                    data: Json = json.loads(frame.data)["data"]
                    return data
        raise AssertionError(f"{run_id} ended without {event_type}")

    async def end(self, run_id: str) -> list[str]:
        """Follow a run to its end: what happened, by name."""
        async with asyncio.timeout(PATIENCE_S), self.served.subscribed(f"/runs/{run_id}/events") as stream:
            return [type_of(frame.data) for frame in await stream.rest() if frame.event == "message"]


@asynccontextmanager
async def at_work(folder: Path, *, slots: int = 2, **settings: Any) -> AsyncGenerator[Working]:
    """A gateway that works, in a folder of its own."""
    place = folder / "workspace"
    place.mkdir()
    async with serving(folder / "data", slots=slots, **{"close_grace_s": 0.1, **settings}) as served:
        yield Working(served, place)
