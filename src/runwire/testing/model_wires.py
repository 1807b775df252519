"""What a model server puts on the wire: one answer, written as OpenAI or as Anthropic would stream it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from runwire.native.loop.state import Usage

PIECE = 9
SEAL = "c2VhbGVkLWJ5LXRoZS10ZXN0LXNlcnZlcg=="


@dataclass(frozen=True, slots=True)
class ServedCall:
    """A tool call of an answer; `arguments` is the very text that is streamed."""

    name: str
    arguments: str
    call_id: str
    is_freeform: bool = False
    """The tool takes plain text, not JSON; only Responses has such tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the model, whatever wire it takes."""

    thinking: str = ""
    text: str = ""
    calls: Sequence[ServedCall] = ()
    reason: str | None = None
    """end_turn, tool_use, max_tokens or refusal; by what there is when None."""
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=7))

    @property
    def stop(self) -> str:
        """Why the answer ends."""
        return self.reason or ("tool_use" if self.calls else "end_turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error of the server, whatever wire it takes."""

    status: int
    kind: str
    message: str
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def openai_frames(answer: Answer, *, model: str, serial: int = 1) -> Iterator[bytes]:
    """The frames of a Chat Completions stream, `[DONE]` included; `serial` tells one answer of a server from another."""
    about = {"id": f"chatcmpl-{serial}", "object": "chat.completion.chunk", "model": model}

    def chunk(delta: Mapping[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return data_frame({**about, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces_of(answer.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in pieces_of(answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(answer.calls):
        opening = {"index": index, "id": call.call_id, "type": "function"}
        yield chunk({"tool_calls": [{**opening, "function": {"name": call.name, "arguments": ""}}]})
        for piece in pieces_of(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    reasons = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
    yield chunk({}, reasons[answer.stop])
    usage = {
        "prompt_tokens": answer.usage.input_tokens,
        "completion_tokens": answer.usage.output_tokens,
        "total_tokens": answer.usage.input_tokens + answer.usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": answer.usage.cache_read_tokens,
            "cache_write_tokens": answer.usage.cache_write_tokens,
        },
    }
    yield data_frame({**about, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def anthropic_frames(answer: Answer, *, model: str, serial: int = 1) -> Iterator[bytes]:
    """The frames of a Messages stream, `message_stop` included; `serial` tells one answer of a server from another."""
    used = answer.usage
    usage = {
        "input_tokens": used.input_tokens - used.cache_read_tokens - used.cache_write_tokens,
        "cache_read_input_tokens": used.cache_read_tokens,
        "cache_creation_input_tokens": used.cache_write_tokens,
        "output_tokens": 1,
    }
    about = {"id": f"msg_{serial}", "type": "message", "role": "assistant", "model": model}
    message = {**about, "content": [], "usage": usage}
    yield event_frame({"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}})
    yield event_frame({"type": "ping"})
    blocks: list[tuple[dict[str, object], list[dict[str, object]]]] = []
    if answer.thinking:
        deltas: list[dict[str, object]] = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces_of(answer.thinking)
        ]
        deltas.append({"type": "signature_delta", "signature": SEAL})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if answer.text:
        pieces: list[dict[str, object]] = [{"type": "text_delta", "text": piece} for piece in pieces_of(answer.text)]
        blocks.append(({"type": "text", "text": ""}, pieces))
    for call in answer.calls:
        begun: dict[str, object] = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
        blocks.append(
            (begun, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(call.arguments)])
        )
    for index, (begun, deltas) in enumerate(blocks):
        yield event_frame({"type": "content_block_start", "index": index, "content_block": begun})
        for delta in deltas:
            yield event_frame({"type": "content_block_delta", "index": index, "delta": delta})
        yield event_frame({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": answer.stop, "stop_sequence": None}
    yield event_frame({"type": "message_delta", "delta": delta, "usage": {"output_tokens": used.output_tokens}})
    yield event_frame({"type": "message_stop"})


def openai_failure(failure: Failure) -> bytes:
    """The body of an error of OpenAI's."""
    error = {"message": failure.message, "type": failure.kind, "param": None, "code": failure.code}
    return msgspec.json.encode({"error": error})


def anthropic_failure(failure: Failure) -> bytes:
    """The body of an error of Anthropic's."""
    error = {"type": failure.kind, "message": failure.message}
    return msgspec.json.encode({"type": "error", "error": error, "request_id": "req_1"})


def openai_mid_failure(failure: Failure) -> bytes:
    """An error in the middle of a Chat Completions stream."""
    return b"data: " + openai_failure(failure) + b"\n\n"


def anthropic_mid_failure(failure: Failure) -> bytes:
    """An error in the middle of a Messages stream."""
    return b"event: error\ndata: " + anthropic_failure(failure) + b"\n\n"


def pieces_of(text: str) -> Iterator[str]:
    """A text as a model streams it, a few characters at a time."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def data_frame(value: Mapping[str, object]) -> bytes:
    """A server-sent event without a name."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def event_frame(value: Mapping[str, object]) -> bytes:
    """A server-sent event that is named as its `type` says."""
    return f"event: {value['type']}\n".encode() + data_frame(value)
