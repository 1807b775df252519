"""A client of Agno's, as small as one can be, and a gateway for it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from tests.gateway.serving import error_of
from tests.gateway.working import Json, Working

AGNO = "/agno"
ASK = "ask"


@dataclass(frozen=True, slots=True)
class Told:
    """One frame."""

    event: str
    data: Json
    id: str


@dataclass(frozen=True, slots=True)
class AgnoClient:
    """Speaks to /agno in forms and frames."""

    working: Working
    agent: str = "native"

    async def start(self, *turns: Json, message: str = "Do it.", **form: str) -> list[Told]:
        """Start a run whose model says these turns, and hear it to its pause or end."""
        return await self.stream("", self.form(*turns, message=message, **form))

    def form(self, *turns: Json, message: str = "Do it.", **form: str) -> dict[str, str]:
        """The form of a run whose model says these turns."""
        place = str(self.working.folder)
        return {"message": message, "model": self.working.script(*turns), "workspace": place, "stream": "true", **form}

    async def go_on(self, run_id: str, tools: list[Json], **form: str) -> list[Told]:
        """Decide, and hear how it goes on."""
        return await self.stream(f"/{run_id}/continue", {"tools": json.dumps(tools), "stream": "true", **form})

    async def stream(self, path: str, form: dict[str, str], **headers: str) -> list[Told]:
        """Every frame of an answer."""
        answer = await self.post(path, form, **headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        return told(answer.content)

    async def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> httpx2.Response:
        """Post a form."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.working.http.post(f"{AGNO}/agents/{self.agent}/runs{path}", data=form, headers=named)

    async def refused(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Post something that must be refused: the status and the code."""
        return refusal(await self.post(path, form))

    @asynccontextmanager
    async def live(self, form: dict[str, str]) -> AsyncGenerator[AsyncGenerator[Told]]:
        """Start a run and hear it frame by frame."""
        path = f"{AGNO}/agents/{self.agent}/runs"
        async with self.working.http.stream("POST", path, data=form) as answer:
            assert answer.status_code == 200

            async def frames() -> AsyncGenerator[Told]:
                held = b""
                async for chunk in answer.aiter_raw():
                    *whole, held = (held + chunk).split(b"\n\n")
                    for block in told(b"".join(one + b"\n\n" for one in whole)):
                        yield block

            yield frames()


def told(body: bytes) -> list[Told]:
    """Every frame of some bytes, each proven to be as Agno frames it."""
    found = []
    for block in body.split(b"\n\n")[:-1]:
        if block.startswith(b":"):
            continue
        event, data, number = block.split(b"\n")
        assert event.startswith(b"event: ")
        assert data.startswith(b"data: ")
        assert number.startswith(b"id: ")
        # What readers that split text into lines see must be the same.
        assert len(data.decode().splitlines()) == 1
        fields: Json = json.loads(data[6:])
        assert fields["event"] == event[7:].decode()
        found.append(Told(fields["event"], fields, number[4:].decode()))
    return found


def names(frames: list[Told]) -> list[str]:
    """What happened, by name."""
    return [frame.event for frame in frames]


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the code of an error, whose shape is proven on the way."""
    return answer.status_code, error_of(answer)["code"]


def decided(tools: list[Json], *, confirmed: bool | None = True, **more: object) -> list[Json]:
    """Tools as they are sent back."""
    return [{**tool, "confirmed": confirmed, **more} for tool in tools]
