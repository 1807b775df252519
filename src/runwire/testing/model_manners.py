"""What the real model servers refuse in a request, so that ours refuses it too."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from runwire.testing.model_wires import SEAL

_Json = Mapping[str, object]


def complaint_of(wire: Literal["openai", "anthropic"], body: _Json) -> str | None:
    """The first thing that is wrong with a request; None when it is as it should be."""
    messages = _objects(body.get("messages"))
    if not messages or body.get("stream") is not True:
        return "messages and stream are required"
    return next(_openai(body, messages) if wire == "openai" else _anthropic(body, messages), None)


def count_images(body: _Json) -> int:
    """How many pictures a request shows."""
    parts = [part for message in _objects(body.get("messages")) for part in _objects(message.get("content"))]
    inner = [part for result in parts for part in _objects(result.get("content"))]
    return sum(part.get("type") in {"image", "image_url"} for part in (*parts, *inner))


def _openai(body: _Json, messages: Sequence[_Json]) -> Iterator[str]:
    if body.get("stream_options") != {"include_usage": True}:
        yield "usage is not asked for"
    due: set[object] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in due:
                yield "a tool message must answer a call that was just made"
            due.discard(message.get("tool_call_id"))
            if not isinstance(message.get("content"), str):
                yield "a tool message is text"
        elif due:
            yield f"calls without an answer: {sorted(map(str, due))}"
        if message.get("role") == "assistant":
            due = {call.get("id") for call in _objects(message.get("tool_calls"))}
            if not due and not message.get("content"):
                yield "an assistant message is neither text nor calls"
    if due:
        yield f"calls without an answer: {sorted(map(str, due))}"


def _anthropic(body: _Json, messages: Sequence[_Json]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: Field required"
    roles = [message.get("role") for message in messages]
    if roles[0] != "user" or any(one == other for one, other in pairwise(roles)):
        yield "roles must alternate, beginning with user"
    due: set[object] = set()
    for message in messages:
        blocks = _objects(message.get("content"))
        if not blocks:
            yield "content is empty"
        answered = {block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"}
        if answered != due:
            yield f"tool_use ids without tool_result, or the other way round: {sorted(map(str, answered ^ due))}"
        due = {block.get("id") for block in blocks if block.get("type") == "tool_use"}
        yield from _blocks(blocks)
    if due:
        yield "tool_use without tool_result"
    yield from _thinking(body, messages)


def _blocks(blocks: Sequence[_Json]) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield "text content blocks must be non-empty"
        if block.get("type") == "thinking" and block.get("signature") != SEAL:
            yield "Invalid signature in thinking block"
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), Mapping):
            yield "tool_use.input must be an object"


def _thinking(body: _Json, messages: Sequence[_Json]) -> Iterator[str]:
    asked = body.get("thinking")
    if not isinstance(asked, Mapping):
        return
    budget, limit = asked.get("budget_tokens"), body.get("max_tokens")
    if isinstance(budget, int) and isinstance(limit, int) and not 1024 <= budget < limit:
        yield "thinking.budget_tokens must lie between 1024 and max_tokens"
    answers = [_objects(message.get("content")) for message in messages if message.get("role") == "assistant"]
    ends_in_results = any(block.get("type") == "tool_result" for block in _objects(messages[-1].get("content")))
    if answers and ends_in_results and answers[-1][0].get("type") not in {"thinking", "redacted_thinking"}:
        yield "a final assistant message must start with a thinking block"


def _objects(value: object) -> Sequence[_Json]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
