"""What tests of driven agents share: a gateway that drives one real agent, and what people do with its runs over HTTP."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runwire.config import AgentSettings
from runwire.protocol.lifecycle import check
from tests.gateway.serving import V1, serving
from tests.gateway.working import Json, Working
from tests.real.place import Place
from tests.real.recipes import RealAgent

PATIENCE_S = 120.0
_LOOK_S = 0.05


def settings_of(agent: RealAgent) -> dict[str, AgentSettings]:
    """The table of an agent, as an operator would write it."""
    (command, *_) = agent.driven.values()
    table = AgentSettings(
        dialect=None,
        command=tuple(command),
        set_env=dict(agent.environ),
        state=tuple(str(folder) for folder in agent.state),
    )
    return {name_of(agent): table}


def name_of(agent: RealAgent) -> str:
    """What tasks call it."""
    return agent.name.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Told:
    """A run that is over, as its log tells it."""

    events: Sequence[Json]

    @property
    def types(self) -> Sequence[str]:
        """What happened, by name."""
        return [str(event["type"]) for event in self.events]

    @property
    def last(self) -> Json:
        """How it ended."""
        return self.events[-1]

    def of(self, event_type: str) -> Sequence[Json]:
        """The data of every event of a type."""
        return [event["data"] for event in self.events if event["type"] == event_type]

    @property
    def texts(self) -> Sequence[str]:
        """What the agent said."""
        return [str(data["text"]) for data in self.of("assistant.text_complete")]


@dataclass(frozen=True, slots=True)
class Driving:
    """A gateway that drives one agent."""

    working: Working
    agent: RealAgent
    asked: list[str] = field(default_factory=list)
    """Approvals that were seen already."""

    @property
    def workspace(self) -> Path:
        """Where the agent works."""
        return self.working.folder

    async def start(self, prompt: str, **settings: object) -> str:
        """Have the agent asked something."""
        body = {
            "agent": name_of(self.agent),
            "prompt": prompt,
            "workspace": {"path": str(self.workspace)},
            "timeout_s": PATIENCE_S,
            **settings,
        }
        answer = await self.working.post("/tasks", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["latest_run"]["run_id"])

    async def run(self, run_id: str) -> Json:
        """A run as it stands."""
        return await self.working.get(f"/runs/{run_id}")

    async def end(self, run_id: str) -> Told:
        """Wait for a run's end: its log, which keeps the rules."""
        await self._until(run_id, lambda run: run["finished_at"] is not None)
        stored = await self.working.served.stored(run_id)
        assert list(check(stored)) == []
        return Told([json.loads(one) for one in stored])

    async def speaks(self, run_id: str) -> None:
        """Wait until the agent is in the middle of its answer."""
        await self._event(run_id, "assistant.text_delta")

    async def question(self, run_id: str) -> Json:
        """Wait until the run waits for a person: the approval, as it stands in the inbox."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                pending = (await self.working.get("/approvals", status="pending", run_id=run_id))["data"]
                new = [one for one in pending if one["approval_id"] not in self.asked]
                if new:
                    self.asked.append(new[0]["approval_id"])
                    return dict(new[0])
                run = await self.run(run_id)
                assert run["finished_at"] is None, (run["error_code"], run["error_message"])
                await asyncio.sleep(_LOOK_S)

    async def approving(self, run_id: str) -> Told:
        """Wait for a run's end, and say yes to whatever it asks until then."""
        async with asyncio.TaskGroup() as group:
            agreeing = group.create_task(self._agree(run_id))
            told = await self.end(run_id)
            agreeing.cancel()
        return told

    async def _agree(self, run_id: str) -> None:
        while True:
            pending = (await self.working.get("/approvals", status="pending", run_id=run_id))["data"]
            for approval in pending:
                await self.answer(approval, "approved")
            await asyncio.sleep(_LOOK_S)

    async def answer(self, approval: Mapping[str, object], decision: str, **more: object) -> None:
        """Decide."""
        path = f"/approvals/{approval['approval_id']}/resolve"
        answer = await self.working.post(path, {"decision": decision, **more})
        assert answer.status_code == 200, answer.text

    async def cancel(self, run_id: str) -> None:
        """Ask for a run's end."""
        run = await self.run(run_id)
        answer = await self.working.post(f"/tasks/{run['task_id']}/runs/{run_id}/cancel", {"reason": "enough"})
        assert answer.status_code in {200, 202}, answer.text

    async def patch(self, run_id: str) -> str:
        """All that a run has changed, as one diff."""
        answer = await self.working.http.get(f"{V1}/runs/{run_id}/patch")
        assert answer.status_code == 200, answer.text
        return answer.text

    async def revert(self, run_id: str) -> None:
        """Take back all that a run has changed, the last first."""
        for one in (await self.working.get("/artifacts", run_id=run_id, kind="patch", status="applied"))["data"]:
            answer = await self.working.post(f"/artifacts/{one['id']}/revert", {"reason": "not wanted"})
            assert answer.status_code == 200, answer.text

    async def nothing_left(self) -> None:
        """See that no process of the agent is there any more."""
        left: Sequence[str] = ()
        for _ in range(20):
            left = [shown for _, shown in processes_of(self.agent)]
            if not left:
                return
            await asyncio.sleep(_LOOK_S)
        raise AssertionError(left)

    async def _until(self, run_id: str, found: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(PATIENCE_S):
            while not found(run := await self.run(run_id)):
                await asyncio.sleep(_LOOK_S)
        return run

    async def _event(self, run_id: str, event_type: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not any(json.loads(one)["type"] == event_type for one in await self.working.served.stored(run_id)):
                run = await self.run(run_id)
                assert run["finished_at"] is None, (run["error_code"], run["error_message"])
                await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def driving(agent: RealAgent, place: Place, **settings: Any) -> AsyncGenerator[Driving]:
    """A gateway with workers that knows the agent; nothing of the agent is left behind it."""
    async with serving(
        place.home.parent / "data", slots=2, **{"close_grace_s": 0.1, "agents": settings_of(agent), **settings}
    ) as served:
        driven = Driving(Working(served, place.workspace), agent)
        yield driven
    await driven.nothing_left()


def kill(agent: RealAgent) -> None:
    """End the agent's own process as a crash would; who runs it and what it runs are left alone."""
    found = sorted(pid for pid, _ in processes_of(agent) if Path(f"/proc/{pid}/exe").resolve().name != "bwrap")
    assert found, [*processes_of(agent)]
    os.kill(found[0], signal.SIGKILL)


def processes_of(agent: RealAgent) -> Iterator[tuple[int, str]]:
    """Every process that was told where the agent's home is: its id and its command line."""
    home = os.fsencode(agent.home)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command, environ = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if command and (home in command or home in environ):
            yield int(entry.name), command.replace(b"\0", b" ").decode("utf-8", "replace").strip()
