"""A real AgentOS with a scripted model, for the tests: one tool that runs by itself and one that needs a confirmation.

Run by the Python that has Agno: `python agno_app.py DESCRIPTOR LEDGER`, where the descriptor is a socket that listens. Each execution
of a tool adds a line to the ledger, so that one which happens twice is seen. The last message of the user picks the script by
its first word: `list`, `create TITLE`, `both TITLE`, `slow`, `fail`; anything else is answered with a greeting.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.exceptions import ModelProviderError
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.os import AgentOS
from agno.tools import tool

LEDGER = Path(sys.argv[2])
SLOW_S = 0.05
SLOW_WORDS = 400
LISTING = ("call_list", "list_documents", "{}")


def _note(line: str) -> None:
    with LEDGER.open("a") as ledger:
        ledger.write(f"{line}\n")


def list_documents() -> dict[str, object]:
    """List the documents."""
    _note("list_documents")
    return {"count": 1, "documents": [{"id": 1, "title": "it's"}]}


@tool(requires_confirmation=True)
def create_document(title: str) -> dict[str, object]:
    """Create a document."""
    _note(f"create_document {title}")
    return {"success": True, "title": title}


def _calls(*wanted: tuple[str, str, str]) -> ModelResponse:
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in wanted
    ]
    return ModelResponse(role="assistant", tool_calls=calls)


@dataclass
class Scripted(Model):
    """A model that follows the prompt."""

    id: str = "scripted-1"
    provider: str = "Scripted"

    def script(self, messages: Sequence[Message]) -> Iterator[ModelResponse]:
        """What is said next."""
        prompt = next(message.get_content_string() for message in reversed(messages) if message.role == "user")
        order, _, title = prompt.partition(" ") if messages[-1].role != "tool" else ("", "", "")
        creating = ("call_create", "create_document", json.dumps({"title": title}))
        match order:
            case "list":
                yield _calls(LISTING)
            case "create":
                yield _calls(creating)
            case "both":
                yield _calls(LISTING, creating)
            case "fail":
                raise ModelProviderError("Scripted failure", status_code=529)
            case "slow":
                for number in range(SLOW_WORDS):
                    yield ModelResponse(role="assistant", content=f"word{number:03} ")
            case _:
                yield ModelResponse(role="assistant", content="Hello ")
                yield ModelResponse(role="assistant", content="from Agno.")
        usage = MessageMetrics(input_tokens=100, output_tokens=7, total_tokens=107)
        yield ModelResponse(role="assistant", content="", response_usage=usage)

    def invoke(self, messages: Sequence[Message], **_: Any) -> ModelResponse:
        """Say all of it at once."""
        whole = ModelResponse(role="assistant", content="")
        for piece in self.script(messages):
            whole.content += piece.content or ""
            whole.tool_calls += piece.tool_calls or []
        return whole

    async def ainvoke(self, messages: Sequence[Message], **_: Any) -> ModelResponse:
        """Say all of it at once."""
        return self.invoke(messages)

    def invoke_stream(self, messages: Sequence[Message], **_: Any) -> Iterator[ModelResponse]:
        """Say it piece by piece."""
        yield from self.script(messages)

    async def ainvoke_stream(self, messages: Sequence[Message], **_: Any) -> AsyncIterator[ModelResponse]:
        """Say it piece by piece; many pieces come slowly."""
        for number, piece in enumerate(self.script(messages)):
            if number > 1:
                await asyncio.sleep(SLOW_S)
            yield piece

    def _parse_provider_response(self, response: ModelResponse, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: ModelResponse) -> ModelResponse:
        return response


agent = Agent(
    id="clerk",
    name="Clerk",
    model=Scripted(),
    tools=[list_documents, create_document],
    db=InMemoryDb(),
    telemetry=False,
)
app = AgentOS(agents=[agent], telemetry=False).get_app()

if __name__ == "__main__":
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
