"""A client of an AgentOS that hides nothing: forms out, statuses and frames in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx2

from tests.gateway.working import Json
from tests.patience import PATIENCE_S
from tests.real.agno_os import AgnoOS


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer: its status, its body, and the frames in it if it is a stream."""

    status: int
    body: bytes
    frames: Sequence[Json]

    @property
    def names(self) -> Sequence[str]:
        """What happened, by name."""
        return [str(frame.get("event")) for frame in self.frames]

    @property
    def last(self) -> Json:
        """The last frame."""
        return self.frames[-1]

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(frame.get("content", "") for frame in self.frames if frame.get("event") == "RunContent")


@dataclass(frozen=True, slots=True)
class Raw:
    """Speaks to one agent, team or workflow."""

    agno: AgnoOS
    path: str = "/agents/clerk/runs"

    async def post(self, path: str, form: Mapping[str, str], *, multipart: bool = False) -> Heard:
        """Post a form as it is."""
        parts = {name: (None, value) for name, value in form.items()} if multipart else None
        async with httpx2.AsyncClient(
            base_url=self.agno.url, timeout=PATIENCE_S, trust_env=False, verify=False
        ) as http:
            if parts:
                answer = await http.post(self.path + path, files=parts)
            else:
                answer = await http.post(self.path + path, data=dict(form))
        return Heard(answer.status_code, answer.content, _frames(answer.content))

    async def start(self, message: str, **form: str) -> Heard:
        """Start a run, and hear it to its pause or end."""
        return await self.post("", {"message": message, "stream": "true", **form})

    async def paused(self, message: str, **form: str) -> Json:
        """Start a run that pauses: the frame that says so. Its session is named after the message."""
        heard = await self.start(message, session_id=message, **form)
        assert heard.names[-1].endswith("Paused"), heard.names
        return heard.last

    async def go_on(self, paused: Json, tools: Sequence[Json], **form: str) -> Heard:
        """Answer a pause with these tools."""
        given = {"tools": json.dumps(tools), "session_id": paused["session_id"], "stream": "true"}
        return await self.post(f"/{paused['run_id']}/continue", {**given, **form})

    async def cancel(self, run_id: str) -> Heard:
        """Ask a run to stop."""
        return await self.post(f"/{run_id}/cancel", {})

    async def status(self, run_id: str, session_id: str) -> str:
        """How a run stands, as the server has it."""
        async with httpx2.AsyncClient(
            base_url=self.agno.url, timeout=PATIENCE_S, trust_env=False, verify=False
        ) as http:
            answer = await http.get(f"{self.path}/{run_id}", params={"session_id": session_id})
        return str(answer.json()["status"])


def confirmed(paused: Json, *, value: bool | None = True, **more: object) -> list[Json]:
    """The tools of a pause, each decided alike."""
    return [{**tool, "confirmed": value, **more} for tool in paused["tools"]]


def _frames(body: bytes) -> Sequence[Json]:
    # Only line feeds end a line here: others may stand inside of the data, raw.
    return [json.loads(line[6:]) for line in body.split(b"\n") if line.startswith(b"data: ")]
