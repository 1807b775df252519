"""Models that speak Anthropic's Messages."""

from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING

import httpx2

from runwire.ids import Ids
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Usage
from runwire.native.models import faults
from runwire.native.models.anthropic_request import (
    REDACTED_SEAL,
    messages_of,
    system_of,
    thinking_of,
    tools_of,
)
from runwire.native.models.connection import Endpoint, Lazy, cut_off, http_client, silence, timeout
from runwire.native.models.mending import CallIds, Mender, read_arguments
from runwire.native.models.model import (
    CallChunk,
    Capabilities,
    Chunk,
    InputChunk,
    ModelCall,
    SignatureChunk,
    Stop,
    TextChunk,
    ThinkingChunk,
)

if TYPE_CHECKING:
    from anthropic import APIError, AsyncAnthropic
    from anthropic.types import (
        MessageDeltaUsage,
        RawContentBlockDeltaEvent,
        RawContentBlockStartEvent,
        RawMessageDeltaEvent,
        RawMessageStreamEvent,
    )
    from anthropic.types import Usage as GivenUsage

_REASONS = {"model_context_window_exceeded": "max_tokens", "pause_turn": "end_turn"}


def connect(endpoint: Endpoint) -> "AsyncAnthropic":
    """A client for all the models of an endpoint. Its retries are off: ours are told as events."""
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        timeout=timeout(endpoint),
        max_retries=0,
        open_telemetry=False,
        http_client=http_client(endpoint),
    )


class AnthropicModel:
    """One model behind Messages."""

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        name: str,
        capabilities: Capabilities,
        client: "Lazy[AsyncAnthropic]",
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
        from anthropic import APIConnectionError, APIError, APITimeoutError, Omit

        thinking = thinking_of(call, model=self.name) if self.capabilities.thinking else None
        answer = _Answer(thinking=thinking is not None, call_ids=CallIds(ids=self._ids, messages=call.messages))
        try:
            async with await client.messages.create(
                model=self.name,
                max_tokens=call.max_output_tokens,
                system=system_of(call) or Omit(),
                messages=messages_of(call, images=self.capabilities.images, thinking=thinking is not None),
                tools=tools_of(call.tools) or Omit(),
                thinking=thinking or Omit(),
                stream=True,
            ) as events:
                async for event in events:
                    for chunk in answer.read(event):
                        yield chunk
            yield answer.end()
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


class _Answer:
    """An answer as it grows: what to yield for each event, and what is known when it ends."""

    def __init__(self, *, thinking: bool, call_ids: CallIds) -> None:
        self._thinking = thinking
        self._call_ids = call_ids
        self._block = -1
        self._kind = ""
        self._mender = Mender()
        self._call_id = ""
        self._call_name = ""
        self._call_text = ""
        self._called = False
        self._reason: str | None = None
        self._why = ""
        self._usage: Usage | None = None
        self._events = 0
        self._over = False

    def read(self, event: "RawMessageStreamEvent") -> Iterator[Chunk]:
        """What an event adds."""
        self._events += 1
        match event.type:
            case "message_start":
                self._usage = _usage(event.message.usage, Usage())
            case "content_block_start":
                yield from self._begin(event)
            case "content_block_delta":
                yield from self._grow(event)
            case "content_block_stop":
                yield from self._close()
            case "message_delta":
                self._learn(event)
            case "message_stop":
                self._over = True

    def end(self) -> Stop:
        """The Stop; or a fault, when the answer is not whole."""
        if not self._events:
            raise faults.malformed("it is no stream of events")
        if self._reason is None or not self._over:
            raise self.spoilt(faults.unreachable("the answer broke off"))
        if self._reason == "refusal":
            raise self.spoilt(faults.refused(self._why))
        reason = _REASONS.get(self._reason, self._reason)
        if self._called and reason == "end_turn":
            reason = "tool_use"
        return Stop(reason, self._usage or Usage())

    def spoilt(self, fault: ModelFault) -> ModelFault:
        """The fault, with what the answer had used up by then."""
        fault.usage = self._usage
        return fault

    def _begin(self, event: "RawContentBlockStartEvent") -> Iterator[Chunk]:
        block = event.content_block
        self._kind = block.type
        self._mender = Mender()
        if block.type == "tool_use":
            self._call_id = self._call_ids.take(block.id)
            self._call_name = block.name
            self._call_text = ""
            return
        self._block += 1
        if block.type == "text" and block.text:
            yield TextChunk(self._block, self._mender.feed(block.text))
        elif block.type == "redacted_thinking" and self._thinking:
            yield SignatureChunk(self._block, REDACTED_SEAL + block.data)

    def _grow(self, event: "RawContentBlockDeltaEvent") -> Iterator[Chunk]:
        delta = event.delta
        match delta.type:
            case "text_delta":
                if text := self._mender.feed(delta.text):
                    yield TextChunk(self._block, text)
            case "thinking_delta":
                if self._thinking and (text := self._mender.feed(delta.thinking)):
                    yield ThinkingChunk(self._block, text)
            case "signature_delta":
                if self._thinking and delta.signature:
                    yield SignatureChunk(self._block, delta.signature)
            case "input_json_delta":
                if text := self._mender.feed(delta.partial_json):
                    self._call_text += text
                    yield InputChunk(self._call_id, self._call_name, text)

    def _close(self) -> Iterator[Chunk]:
        rest = self._mender.end()
        if self._kind == "tool_use":
            self._called = True
            yield CallChunk(read_arguments(self._call_id, self._call_name, self._call_text + rest))
        elif rest and self._kind == "text":
            yield TextChunk(self._block, rest)
        elif rest and self._thinking:
            yield ThinkingChunk(self._block, rest)

    def _learn(self, event: "RawMessageDeltaEvent") -> None:
        if event.delta.stop_reason:
            self._reason = event.delta.stop_reason
        if event.delta.stop_details:
            self._why = event.delta.stop_details.explanation or ""
        self._usage = _usage(event.usage, self._usage or Usage())


def _usage(given: "GivenUsage | MessageDeltaUsage", before: Usage) -> Usage:
    """What is used by now. This wire counts what caches gave and took beside the input, and leaves out what it told."""
    read = _or(given.cache_read_input_tokens, before.cache_read_tokens)
    written = _or(given.cache_creation_input_tokens, before.cache_write_tokens)
    plain = _or(given.input_tokens, before.input_tokens - before.cache_read_tokens - before.cache_write_tokens)
    return Usage(
        input_tokens=plain + read + written,
        output_tokens=_or(given.output_tokens, before.output_tokens),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _or(given: int | None, known: int) -> int:
    return known if given is None else given


def _told(error: "APIError") -> ModelFault:
    from anthropic import APIStatusError

    if not isinstance(error, APIStatusError):
        return faults.unreachable(error.message)
    kinds = tuple(kind for kind in (error.error_code, error.type) if isinstance(kind, str))
    # An error in the middle of a stream comes under the stream's own 200.
    status = error.status_code if error.status_code >= 300 else faults.status_of_kinds(kinds)
    message = error.api_message if isinstance(error.api_message, str) else error.message
    return faults.answered(status, message, kinds=kinds, retry_after_s=faults.retry_after_s(error.response.headers))
