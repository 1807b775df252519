"""Models that speak OpenAI's Chat Completions: OpenAI's own, and every server that took over its wire."""

from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING, cast

import httpx2

from runwire.ids import Ids
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Usage
from runwire.native.models import faults
from runwire.native.models.connection import Endpoint, Lazy, cut_off, http_client, silence, timeout
from runwire.native.models.mending import CallIds, Mender, read_arguments
from runwire.native.models.model import (
    CallChunk,
    Capabilities,
    Chunk,
    InputChunk,
    ModelCall,
    Stop,
    TextChunk,
    ThinkingChunk,
)
from runwire.native.models.openai_request import messages_of, tools_of

if TYPE_CHECKING:
    from openai import APIError, AsyncOpenAI
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDelta, ChoiceDeltaToolCall

_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "function_call": "tool_use"}


def connect(endpoint: Endpoint) -> "AsyncOpenAI":
    """A client for all the models of an endpoint. Its retries are off: ours are told as events."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        timeout=timeout(endpoint),
        max_retries=0,
        http_client=http_client(endpoint),
    )


class OpenAIModel:
    """One model behind Chat Completions."""

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        name: str,
        capabilities: Capabilities,
        client: "Lazy[AsyncOpenAI]",
        ids: Ids,
    ) -> None:
        self.provider = endpoint.provider
        self.name = name
        self.capabilities = capabilities
        self._endpoint = endpoint
        self._client = client
        self._ids = ids

    async def stream(self, call: ModelCall) -> AsyncGenerator[Chunk]:
        """Ask the model and yield its answer as it comes."""
        client = await self._client.get()
        from openai import APIConnectionError, APIError, APITimeoutError, Omit

        answer = _Answer(thinking=call.thinking, call_ids=CallIds(ids=self._ids, messages=call.messages))
        # The servers that took over the wire know the older name of the limit; OpenAI's newer models only the newer.
        newer = self.provider == "openai"
        try:
            async with await client.chat.completions.create(
                model=self.name,
                messages=messages_of(call, images=self.capabilities.images),
                tools=tools_of(call.tools) or Omit(),
                max_completion_tokens=call.max_output_tokens if newer else Omit(),
                max_tokens=Omit() if newer else call.max_output_tokens,
                stream=True,
                stream_options={"include_usage": True},
            ) as events:
                async for event in events:
                    for chunk in answer.read(event):
                        yield chunk
            for chunk in answer.end():
                yield chunk
        except (APITimeoutError, httpx2.TimeoutException) as error:
            raise answer.spoilt(silence(self._endpoint, error)) from error
        except (APIConnectionError, httpx2.TransportError) as error:
            raise answer.spoilt(cut_off(error)) from error
        except APIError as error:
            raise answer.spoilt(_told(error)) from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            # The SDK hands on whatever a server sends, unchecked; what is not of the wire's shape fails where it is read.
            raise answer.spoilt(faults.malformed(str(error))) from error

    async def close(self) -> None:
        """The connections belong to the provider; whoever opened them closes them."""


class _Writing:
    """A call that the model is still writing."""

    def __init__(self, *, given_id: str | None, call_id: str) -> None:
        self.given_id = given_id
        self.call_id = call_id
        self.name = ""
        self.text = ""
        self.mender = Mender()


class _Answer:
    """An answer as it grows: what to yield for each event, and what is known when it ends."""

    def __init__(self, *, thinking: bool, call_ids: CallIds) -> None:
        self._thinking = thinking
        self._call_ids = call_ids
        self._block = -1
        self._kind = ""
        self._mender = Mender()
        self._calls: list[_Writing] = []
        self._by_index: dict[int, _Writing] = {}
        self._reason: str | None = None
        self._refusal = ""
        self._usage: Usage | None = None
        self._events = 0

    def read(self, event: "ChatCompletionChunk") -> Iterator[Chunk]:
        """What an event adds."""
        self._events += 1
        if event.usage:
            self._usage = _usage(event.usage)
        for choice in (event.choices or [])[:1]:
            yield from self._grow(choice.delta)
            if choice.finish_reason:
                self._reason = choice.finish_reason

    def end(self) -> Iterator[Chunk]:
        """The calls and the Stop; or a fault, when the answer is not whole."""
        if not self._events:
            raise faults.malformed("it is no stream of events")
        if self._reason is None:
            raise self.spoilt(faults.unreachable("the answer broke off"))
        yield from self._turn_to("")
        if self._refusal or self._reason == "content_filter":
            raise self.spoilt(faults.refused(self._refusal))
        for writing in self._calls:
            if rest := writing.mender.end():
                writing.text += rest
                yield InputChunk(writing.call_id, writing.name, rest)
            yield CallChunk(read_arguments(writing.call_id, writing.name, writing.text))
        reason = _REASONS.get(self._reason, self._reason)
        if self._calls and reason == "end_turn":
            reason = "tool_use"
        yield Stop(reason, self._usage or Usage())

    def spoilt(self, fault: ModelFault) -> ModelFault:
        """The fault, with what the answer had used up by then."""
        fault.usage = self._usage
        return fault

    def _grow(self, delta: "ChoiceDelta") -> Iterator[Chunk]:
        # Reasoning is not in OpenAI's own wire; those who send it agree on one of two names.
        extra = delta.model_extra or {}
        reasoning = extra.get("reasoning_content") or extra.get("reasoning")
        if self._thinking and isinstance(reasoning, str):
            yield from self._turn_to("thinking")
            if text := self._mender.feed(reasoning):
                yield ThinkingChunk(self._block, text)
        if delta.content:
            yield from self._turn_to("text")
            if text := self._mender.feed(delta.content):
                yield TextChunk(self._block, text)
        self._refusal += delta.refusal or ""
        for piece in delta.tool_calls or []:
            yield from self._write(piece)

    def _turn_to(self, kind: str) -> Iterator[Chunk]:
        """Begin a block of another kind; half a character of the one before comes out first."""
        if kind == self._kind:
            return
        if rest := self._mender.end():
            yield (ThinkingChunk if self._kind == "thinking" else TextChunk)(self._block, rest)
        self._kind = kind
        self._block += 1

    def _write(self, piece: "ChoiceDeltaToolCall") -> Iterator[Chunk]:
        writing = self._by_index.get(piece.index)
        # Some servers give all their calls the same index; a new id is a new call.
        if writing is None or (piece.id and writing.given_id and piece.id != writing.given_id):
            writing = _Writing(given_id=piece.id or None, call_id=self._call_ids.take(piece.id or None))
            self._by_index[piece.index] = writing
            self._calls.append(writing)
        if piece.function is None:
            return
        # A name comes whole; a server that repeats it with every piece means the same call.
        writing.name = writing.name or piece.function.name or ""
        if text := writing.mender.feed(piece.function.arguments or ""):
            writing.text += text
            yield InputChunk(writing.call_id, writing.name, text)


def _usage(given: "CompletionUsage") -> Usage:
    details = given.prompt_tokens_details
    return Usage(
        input_tokens=given.prompt_tokens or 0,
        output_tokens=given.completion_tokens or 0,
        cache_read_tokens=(details.cached_tokens or 0) if details else 0,
        cache_write_tokens=(details.cache_write_tokens or 0) if details else 0,
    )


def _told(error: "APIError") -> ModelFault:
    from openai import APIStatusError

    kinds = tuple(kind for kind in (error.code, error.type) if isinstance(kind, str))
    message = error.message
    if isinstance(error.body, dict) and isinstance(error.body.get("message"), str):
        message = cast("str", error.body["message"])
    if isinstance(error, APIStatusError):
        wait_s = faults.retry_after_s(error.response.headers)
        return faults.answered(error.status_code, message, kinds=kinds, retry_after_s=wait_s)
    return faults.answered(faults.status_of_kinds(kinds), message, kinds=kinds)
