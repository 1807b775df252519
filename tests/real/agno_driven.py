"""A gateway that drives a real AgentOS, and what people do with its runs over HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from runwire.config import AgentSettings
from runwire.protocol.lifecycle import check
from tests.gateway.agno.client import AgnoClient
from tests.gateway.serving import NDJSON, V1
from tests.gateway.working import Json, Working, at_work
from tests.patience import PATIENCE_S
from tests.real.agno_os import AgnoOS
from tests.real.driven import Told

_LOOK_S = 0.05
_OVER = frozenset({"completed", "failed", "cancelled"})


def tables(agno: AgnoOS) -> dict[str, AgentSettings]:
    """The tables of an operator who knows this server's agent, its team and its workflows."""
    return {
        "clerk": AgentSettings(dialect="agno", url=agno.url),
        "office": AgentSettings(dialect="agno", url=agno.url, kind="team"),
        "process": AgentSettings(dialect="agno", url=agno.url, kind="workflow"),
        "drafting": AgentSettings(dialect="agno", url=agno.url, kind="workflow"),
    }


@dataclass(frozen=True, slots=True)
class Driven:
    """A gateway that knows an AgentOS."""

    working: Working
    agno: AgnoOS

    @property
    def client(self) -> AgnoClient:
        """A client of Agno's that is at our own surface, and at the same agent through it."""
        return AgnoClient(self.working, agent="agno:clerk")

    async def start(self, prompt: str, agent: str = "clerk", **more: object) -> str:
        """Have somebody of the server asked something: the run."""
        answer = await self.working.post("/tasks", {"prompt": prompt, "agent": f"agno:{agent}", **more})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["latest_run"]["run_id"])

    async def questions(self, run_id: str, count: int = 1) -> Sequence[Json]:
        """Wait until the run waits for so many decisions: they, in the order in which they were asked."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                found = (await self.working.get("/approvals", status="pending", run_id=run_id))["data"]
                if len(found) >= count:
                    return sorted(found, key=lambda one: str(one["approval_id"]))
                run = await self.working.get(f"/runs/{run_id}")
                assert run["status"] not in _OVER, run
                await asyncio.sleep(_LOOK_S)

    async def question(self, run_id: str) -> Json:
        """Wait until the run waits for a decision."""
        return (await self.questions(run_id))[0]

    async def resolve(self, question: Json, body: Json) -> httpx2.Response:
        """Answer a question in any way."""
        return await self.working.post(f"/approvals/{question['approval_id']}/resolve", body)

    async def answer(self, question: Json, decision: str = "approved", **more: object) -> None:
        """Answer a question so that the answer is taken."""
        answer = await self.resolve(question, {"decision": decision, **more})
        assert answer.status_code == 200, answer.text

    async def end(self, run_id: str) -> Told:
        """Wait for a run's end: its log, which keeps the rules."""
        async with asyncio.timeout(PATIENCE_S):
            while (await self.working.get(f"/runs/{run_id}"))["status"] not in _OVER:
                await asyncio.sleep(_LOOK_S)
        answer = await self.working.http.get(f"{V1}/runs/{run_id}/events", headers=NDJSON)
        # Not splitlines: what was said may hold other characters that end lines elsewhere.
        lines = answer.content.split(b"\n")[:-1]
        assert list(check(lines)) == []
        return Told([json.loads(line) for line in lines])

    async def cancel(self, run_id: str) -> httpx2.Response:
        """Ask for a run's end."""
        return await self.working.post(f"{await self._path(run_id)}/cancel")

    async def say(self, run_id: str, text: str) -> None:
        """Say something to a run that is not over."""
        answer = await self.working.post(f"{await self._path(run_id)}/messages", {"text": text})
        assert answer.status_code == 202, answer.text

    async def _path(self, run_id: str) -> str:
        return f"/tasks/{(await self.working.get(f'/runs/{run_id}'))['task_id']}/runs/{run_id}"

    def made(self, title: str) -> Sequence[str]:
        """The executions whose line ends with this title."""
        return [line for line in self.agno.executions() if line.endswith(f" {title}")]


@asynccontextmanager
async def driving(folder: Path, agno: AgnoOS) -> AsyncGenerator[Driven]:
    """A gateway that drives an AgentOS. One on a folder that was used before takes up what was left there."""
    (folder / "workspace").rmdir() if (folder / "workspace").exists() else None
    async with at_work(folder, slots=8, agents=tables(agno)) as working:
        yield Driven(working, agno)


async def until(found: Callable[[], object]) -> None:
    """Wait for something to be so."""
    async with asyncio.timeout(PATIENCE_S):
        while not found():
            await asyncio.sleep(_LOOK_S)
