"""Chunks of a model become events as they come: pieces are offered, whole blocks are told, calls are gathered."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import UNSET, Struct

from runwire.host import RunHost
from runwire.journal.artifact import ArtifactMeta, Kind, NewArtifact
from runwire.native.errors import ModelFault
from runwire.native.loop.recover import media_text
from runwire.native.loop.state import Call, Text, Thinking
from runwire.native.models.model import (
    CallChunk,
    Chunk,
    InputChunk,
    MediaChunk,
    SignatureChunk,
    Stop,
    TextChunk,
    ThinkingChunk,
)
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.experimental import (
    AssistantMedia,
    AssistantThinkingComplete,
    AssistantThinkingDelta,
    AssistantToolInputDelta,
)


class Answer(Struct, frozen=True):
    """What the model said in one turn: blocks in the order in which they ended, then calls."""

    parts: tuple[Text | Thinking | Call, ...]
    stop: Stop


async def stream_answer(chunks: AsyncGenerator[Chunk], *, host: RunHost, turn: int) -> Answer:
    """Listen to the end of an answer. One that breaks off is a ModelFault, and its last block is never completed."""
    telling = _Telling(host, turn)
    async with aclosing(chunks):
        async for chunk in chunks:
            if isinstance(chunk, Stop):
                telling.complete()
                return Answer((*telling.blocks, *telling.calls), chunk)
            await telling.hear(chunk)
    raise ModelFault("malformed_stream", "the answer ended without saying so", retriable=True)


class _Telling:
    """One answer under way."""

    def __init__(self, host: RunHost, turn: int) -> None:
        self._host = host
        self._turn = turn
        self._streams_thinking = host.may_emit(AssistantThinkingDelta.type)
        self._keeps_thinking = host.may_emit(AssistantThinkingComplete.type)
        self._streams_input = host.may_emit(AssistantToolInputDelta.type)
        self._open: tuple[type[TextChunk | ThinkingChunk], int] | None = None
        self._pieces: list[str] = []
        self._signature: str | None = None
        self.blocks: list[Text | Thinking] = []
        self.calls: list[Call] = []

    async def hear(self, chunk: Chunk) -> None:
        """Take one chunk in."""
        match chunk:
            case TextChunk():
                await self._text(chunk)
            case ThinkingChunk():
                await self._thinking(chunk)
            case SignatureChunk():
                # Reasoning that the provider hides is a seal on nothing; it has to go back all the same.
                self._turn_to(ThinkingChunk, chunk.block)
                self._signature = chunk.signature
            case InputChunk():
                self.complete()
                if self._streams_input and chunk.text:
                    await self._host.offer(
                        AssistantToolInputDelta(
                            turn_index=self._turn, tool_call_id=chunk.call_id, tool_name=chunk.name, delta=chunk.text
                        )
                    )
            case CallChunk():
                self.complete()
                self.calls.append(chunk.call)
            case MediaChunk():
                self.complete()
                await self._media(chunk)
            case Stop():
                raise AssertionError("the end is no part of the answer")

    async def _text(self, chunk: TextChunk) -> None:
        if not chunk.text:
            return
        self._turn_to(TextChunk, chunk.block)
        self._pieces.append(chunk.text)
        await self._host.offer(AssistantTextDelta(turn_index=self._turn, block_index=chunk.block, delta=chunk.text))

    async def _thinking(self, chunk: ThinkingChunk) -> None:
        if not chunk.text:
            return
        self._turn_to(ThinkingChunk, chunk.block)
        self._pieces.append(chunk.text)
        if self._streams_thinking:
            await self._host.offer(
                AssistantThinkingDelta(turn_index=self._turn, block_index=chunk.block, delta=chunk.text)
            )

    async def _media(self, chunk: MediaChunk) -> None:
        if not self._host.may_emit(AssistantMedia.type):
            return
        summary = f"{chunk.mime}, {len(chunk.body)} bytes"
        kind: Kind = "image" if chunk.mime.startswith("image/") else "tool_result_blob"
        new = NewArtifact(kind, ArtifactMeta(mime=chunk.mime, summary=summary))
        draft = await self._host.draft(new, chunk.body)
        artifact_id = draft.artifact.artifact_id
        self._host.emit(
            AssistantMedia(
                turn_index=self._turn,
                block_index=chunk.block,
                mime=chunk.mime,
                artifact_id=artifact_id,
                summary=summary,
            ),
            kept=[draft],
        )
        self.blocks.append(Text(media_text(chunk.mime, artifact_id)))

    def _turn_to(self, kind: type[TextChunk | ThinkingChunk], block: int) -> None:
        if self._open != (kind, block):
            self.complete()
            self._open = (kind, block)

    def complete(self) -> None:
        """Tell the block that is open in full, if one is."""
        if self._open is None:
            return
        kind, block = self._open
        text, signature = "".join(self._pieces), self._signature
        self._open, self._pieces, self._signature = None, [], None
        # What the next call shows the model is what the log will tell, so that a rebuilt conversation is the same.
        kept = self._host.redact(text)
        if kind is TextChunk:
            self._host.emit(AssistantTextComplete(turn_index=self._turn, block_index=block, text=text))
            self.blocks.append(Text(kept))
        elif self._keeps_thinking:
            self._host.emit(
                AssistantThinkingComplete(
                    turn_index=self._turn, block_index=block, text=text, signature=signature or UNSET
                )
            )
            self.blocks.append(Thinking(kept, signature))
