"""The model server for real agents: OpenAI Chat, OpenAI Responses, Anthropic Messages and Gemini on one port of loopback.

It takes any key and any model, and what it answers is what the prompt asks for: see model_script.py.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from runwire.testing.model_conversation import Conversation, Wire, conversation_of
from runwire.testing.model_gemini import gemini_failure, gemini_frames, gemini_mid_failure, gemini_whole
from runwire.testing.model_http import LoopbackServer, Reply, Request
from runwire.testing.model_responses import responses_frames, responses_mid_failure
from runwire.testing.model_script import Move, example_of, next_move
from runwire.testing.model_wires import (
    Answer,
    Failure,
    anthropic_failure,
    anthropic_frames,
    anthropic_mid_failure,
    openai_failure,
    openai_frames,
    openai_mid_failure,
)

SLOW_S = 0.05
"""Between two pieces of a slow answer."""

_BROKEN = Failure(status=500, kind="server_error", message="Scripted failure in the middle", code="server_error")
_PATHS: Mapping[str, Wire] = {"/chat/completions": "openai", "/responses": "responses", "/messages": "anthropic"}
_GEMINI = re.compile(r"/v1beta/models/(?P<model>[^/:]+):(?P<verb>streamGenerateContent|generateContent|countTokens)")
_TOKENS = 1234


@dataclass(frozen=True, slots=True)
class _Speech:
    """How a wire says things."""

    frames: Callable[..., Iterator[bytes]]
    failure: Callable[[Failure], bytes]
    mid_failure: Callable[[Failure], bytes]


_SPEECH: Mapping[Wire, _Speech] = {
    "openai": _Speech(openai_frames, openai_failure, openai_mid_failure),
    "responses": _Speech(responses_frames, openai_failure, responses_mid_failure),
    "anthropic": _Speech(anthropic_frames, anthropic_failure, anthropic_mid_failure),
    "gemini": _Speech(gemini_frames, gemini_failure, gemini_mid_failure),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that an agent put to the model."""

    wire: Wire
    model: str
    conversation: Conversation
    move: Move
    headers: Mapping[str, str]


class AgentModelServer(LoopbackServer):
    """Serves until it is closed; `async with AgentModelServer() as models`."""

    def __init__(self) -> None:
        super().__init__(self._take)
        self.asked: list[Asked] = []
        """What was asked with tools on offer, in order; side matters are left out."""
        self.elsewhere: list[str] = []
        """The method and path of every request that was none of a model's business."""
        self._passed: set[str] = set()
        self._serial = 0

    async def _take(self, request: Request, reply: Reply) -> None:
        if found := _GEMINI.fullmatch(request.path):
            return await self._gemini(found["model"], found["verb"], request, reply)
        wire = _PATHS.get(request.path.removeprefix("/v1"))
        if wire is None or request.method != "POST":
            return await self._aside(request, reply)
        body = _decode(request.body)
        move, serial = await self._ask(wire, str(body.get("model", "")), body, request)
        if body.get("stream") is not True:
            return await reply.whole(200, _whole(wire, move.answer, model=str(body.get("model")), serial=serial), {})
        return await self._say(wire, str(body.get("model")), move, serial, reply)

    async def _gemini(self, model: str, verb: str, request: Request, reply: Reply) -> None:
        body = _decode(request.body)
        if verb == "countTokens":
            return await reply.whole(200, msgspec.json.encode({"totalTokens": _TOKENS}), {})
        move, serial = await self._ask("gemini", model, body, request)
        if verb == "streamGenerateContent":
            return await self._say("gemini", model, move, serial, reply)
        answer = move.answer
        if schema := _wanted_schema(body):
            answer = Answer(text=msgspec.json.encode(example_of(schema)).decode())
        return await reply.whole(200, gemini_whole(answer, model=model, serial=serial), {})

    async def _ask(self, wire: Wire, model: str, body: Mapping[str, object], request: Request) -> tuple[Move, int]:
        self._serial += 1
        conversation = conversation_of(wire, body)
        move = next_move(conversation, serial=self._serial)
        if move.failure is not None and move.is_passing:
            if conversation.prompt in self._passed:
                move = Move(answer=Answer(text="It has passed."))
            self._passed.add(conversation.prompt)
        if conversation.tools:
            asked = Asked(wire=wire, model=model, conversation=conversation, move=move, headers=request.headers)
            self.asked.append(asked)
            await self.tell()
        return move, self._serial

    async def _say(self, wire: Wire, model: str, move: Move, serial: int, reply: Reply) -> None:
        speech = _SPEECH[wire]
        if move.failure is not None:
            return await reply.whole(move.failure.status, speech.failure(move.failure), {})
        if move.manner == "silent":
            return await reply.until_left()
        async with reply.stream() as send:
            if move.manner == "hang":
                return await reply.until_left()
            frames = [*speech.frames(move.answer, model=model, serial=serial)]
            whole = len(frames) if move.manner in {"plain", "slow"} else len(frames) // 2
            for frame in frames[:whole]:
                await send(frame)
                if move.manner == "slow":
                    await asyncio.sleep(SLOW_S)
            if move.manner == "drop":
                raise ConnectionResetError
            if move.manner == "mid":
                await send(speech.mid_failure(_BROKEN))
        return None

    async def _aside(self, request: Request, reply: Reply) -> None:
        self.elsewhere.append(f"{request.method} {request.path}")
        if request.path.endswith("/count_tokens"):
            return await reply.whole(200, msgspec.json.encode({"input_tokens": _TOKENS}), {})
        if request.path.endswith("/models"):
            return await reply.whole(200, msgspec.json.encode({"object": "list", "data": [], "models": []}), {})
        failure = Failure(status=404, kind="not_found_error", message=f"there is nothing at {request.path}")
        return await reply.whole(404, openai_failure(failure), {})


def _whole(wire: Wire, answer: Answer, *, model: str, serial: int) -> bytes:
    """The text of an answer that is not streamed; agents ask for one only aside."""
    usage = {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens}
    text = {"type": "text", "text": answer.text}
    body: dict[str, object]
    match wire:
        case "anthropic":
            message = {"id": f"msg_{serial}", "type": "message", "role": "assistant", "model": model}
            body = {**message, "content": [text], "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
        case "responses":
            item = {"id": f"item_{serial}", "type": "message", "role": "assistant", "status": "completed"}
            output = [{**item, "content": [{"type": "output_text", "text": answer.text, "annotations": []}]}]
            about = {"id": f"resp_{serial}", "object": "response", "model": model, "status": "completed"}
            body = {**about, "output": output, "usage": usage}
        case _:
            choice = {"index": 0, "message": {"role": "assistant", "content": answer.text}, "finish_reason": "stop"}
            body = {"id": f"chatcmpl-{serial}", "object": "chat.completion", "model": model, "choices": [choice]}
    return msgspec.json.encode(body)


def _wanted_schema(body: Mapping[str, object]) -> Mapping[str, object] | None:
    settings = body.get("generationConfig")
    if not isinstance(settings, Mapping):
        return None
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    return schema if isinstance(schema, Mapping) else None


def _decode(body: bytes) -> dict[str, object]:
    return msgspec.json.decode(body, type=dict[str, object])
