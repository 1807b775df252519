"""A real Agno AgentOS with a scripted model; runs in Agno's own environment. `python agno_app.py PORT`.

The message says how many chunks the model streams. Each chunk comes after one pass of the event loop, as it would from
a provider's socket. It stands alone: this file may import nothing of ours.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

os.environ["AGNO_TELEMETRY"] = "false"

import uvicorn
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.os import AgentOS


@dataclass
class Scripted(Model):
    """Streams as many nine-character chunks as the last user message asks for."""

    id: str = "scripted"
    provider: str = "Bench"

    def _chunks(self, messages: list[Any]) -> Iterator[ModelResponse]:
        count = int([message.get_content_string() for message in messages if message.role == "user"][-1])
        return (ModelResponse(role="assistant", content=f"word{index:04d} ") for index in range(count))

    def invoke(self, messages: list[Any], **_: Any) -> ModelResponse:
        return ModelResponse(role="assistant", content="".join(str(chunk.content) for chunk in self._chunks(messages)))

    async def ainvoke(self, messages: list[Any], **_: Any) -> ModelResponse:
        return self.invoke(messages)

    def invoke_stream(self, messages: list[Any], **_: Any) -> Iterator[ModelResponse]:
        yield from self._chunks(messages)

    async def ainvoke_stream(self, messages: list[Any], **_: Any) -> AsyncIterator[ModelResponse]:
        for chunk in self._chunks(messages):
            await asyncio.sleep(0)
            yield chunk

    def _parse_provider_response(self, response: ModelResponse, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: ModelResponse) -> ModelResponse:
        return response


if __name__ == "__main__":
    agent = Agent(id="bench", model=Scripted(), db=InMemoryDb(), telemetry=False)
    application = AgentOS(agents=[agent], telemetry=False).get_app()
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
