"""The scripted model of the real AgentOS: the last thing that the user said picks what it says and which tools it wants.

The first word picks the script. A team's leader hands `delegate ORDER` on to its member, who then acts on the order. A message of
nothing but blanks is refused, as providers do. Ids of calls are the same in every run, unless the order says otherwise.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agno.exceptions import ModelProviderError
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

SLOW_S = 0.05
SLOW_WORDS = 400

Call = tuple[str, str, dict[str, object]]
"""The id of a call, the tool, and its arguments."""

_COLOURS = {
    "questions": [
        {"question": "Which colour?", "header": "Colour", "options": [{"label": "red"}, {"label": "blue"}]},
    ]
}


def _wants(order: str, given: str, done: int) -> Sequence[Call]:
    """The calls that an order leads to, once so many rounds of calls are done."""
    create: Call = ("call_create", "create_document", {"title": given})
    listing: Call = ("call_list", "list_documents", {})
    first, _, second = given.partition(" ")
    both: Sequence[Call] = [
        ("call_first", "create_document", {"title": first}),
        ("call_second", "create_document", {"title": second}),
    ]
    rounds: dict[str, Sequence[Sequence[Call]]] = {
        "list": [[listing]],
        "create": [[create]],
        "both": [[listing, create]],
        "two": [both],
        "chain": [both[:1], both[1:]],
        "again": [[create], [create]],
        "work": [[("call_work", "work", {"seconds": 0.3, "title": given})]],
        "toil": [[("call_work", "work", {"seconds": 30, "title": given})]],
        "send": [[("call_send", "send_mail", {"subject": given})]],
        "choose": [[("call_choose", "ask_user", _COLOURS)]],
        "remote": [[("call_remote", "run_elsewhere", {"title": given})]],
        "delegate": [[("call_delegate", "delegate_task_to_member", {"member_id": "typist", "task": given})]],
    }
    wanted = rounds.get(order, ())
    return wanted[done] if done < len(wanted) else ()


def _response(calls: Sequence[Call]) -> ModelResponse:
    told = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for call_id, name, arguments in calls
    ]
    return ModelResponse(role="assistant", tool_calls=told)


@dataclass
class Scripted(Model):
    """A model that follows the prompt."""

    id: str = "scripted-1"
    provider: str = "Scripted"

    def script(self, messages: Sequence[Message]) -> Iterator[ModelResponse]:
        """What is said next."""
        last = max(place for place, message in enumerate(messages) if message.role == "user")
        prompt = messages[last].get_content_string()
        order, _, given = prompt.partition(" ")
        calls = _wants(order, given, sum(message.role == "assistant" for message in messages[last:]))
        if not prompt.strip():
            raise ModelProviderError("Error code: 400 - text content blocks must contain non-whitespace text")
        if order == "fail":
            raise ModelProviderError("Scripted failure", status_code=529)
        if calls:
            yield _response(calls)
        elif order == "slow":
            for number in range(SLOW_WORDS):
                yield ModelResponse(role="assistant", content=f"word{number:03} ")
        elif order == "echo":
            yield ModelResponse(role="assistant", content=given)
        else:
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
