"""A file that is played instead of calling a model, for tests, demos and offline use.

It holds no place of its own: which turn comes next is the number of answers so far, which failure is the attempt. So a
crash or a resume repeats nothing, and two workers agree.
"""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from runwire.ids import Ids
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Call, Text, Usage, User
from runwire.native.models import faults, prices
from runwire.native.models.mending import read_arguments
from runwire.native.models.model import (
    CallChunk,
    Capabilities,
    Chunk,
    InputChunk,
    MediaChunk,
    ModelCall,
    SignatureChunk,
    Stop,
    TextChunk,
    ThinkingChunk,
)

PROVIDER = "scripted"
SCRIPT_LIMIT_BYTES = 16 * 1024 * 1024
PIECE_CHARACTERS = 24

Tokens = Annotated[int, Meta(ge=0)]


class ScriptedTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call. `arguments` stands in for `input` when the model is to write something that is no JSON object."""

    name: str
    input: dict[str, object] = {}
    arguments: str | None = None
    id: str | None = None


class ScriptedUsage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens of a turn. `input` is all input, caches included."""

    input: Tokens = 0
    output: Tokens = 0
    cache_read: Tokens = 0
    cache_write: Tokens = 0


class ScriptedError(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A failure: of the first `times` attempts, or of all. Without a status the connection breaks."""

    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    message: str = ""
    times: Annotated[int, Meta(ge=0)] | None = None
    retry_after_s: Annotated[float, Meta(ge=0)] | None = None
    mid_stream: bool = False
    """It comes after half of the text."""


class ScriptedMedia(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something other than text that the model makes."""

    mime: str
    base64: bytes


class ScriptTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of the model."""

    text: str = ""
    thinking: str = ""
    tools: list[ScriptedTool] = []
    media: list[ScriptedMedia] = []
    usage: ScriptedUsage = ScriptedUsage()
    cost_micros_usd: Annotated[int, Meta(ge=0)] | None = None
    delay_ms: Annotated[float, Meta(ge=0, le=86_400_000)] = 0
    pace_ms: Annotated[float, Meta(ge=0, le=60_000)] = 0
    """How long each piece of it takes, as if somebody wrote it."""
    error: ScriptedError | None = None
    stop_reason: Literal["end_turn", "max_tokens", "tool_use"] | None = None


class ScriptedCapabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the model of this script can do."""

    tool_use: bool = True
    images: bool = True
    thinking: bool = True
    window_tokens: Annotated[int, Meta(ge=1)] = 200_000
    max_output_tokens: Annotated[int, Meta(ge=1)] = 8_192


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns, in order. `price_as` (or `model`) names the real model whose prices hold for the turns' usage."""

    turns: list[ScriptTurn]
    children: dict[str, list[ScriptTurn]] = {}
    """The turns of a conversation that begins with this very prompt, for parts of the work that are handed on."""
    capabilities: ScriptedCapabilities = ScriptedCapabilities()
    model: str | None = None
    price_as: str | None = None


def parse_script(body: bytes) -> Script:
    """Read a script; what is wrong with it is a ModelFault that names the field and the place."""
    try:
        return msgspec.json.decode(body, type=Script)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ModelFault("model_unknown", f"the script cannot be played: {error}") from error


class Scripts:
    """Scripts by path, read again only when the file has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[int, int, int], Script]] = {}

    def read(self, path: str) -> Script:
        """The script of a file. A file that is not there, or is no script, is a ModelFault."""
        try:
            found = os.stat(path)
            mark = (found.st_mtime_ns, found.st_size, found.st_ino)
            kept = self._kept.get(path)
            if kept and kept[0] == mark:
                return kept[1]
            # Anything else than a file, a pipe say, could keep us waiting for ever.
            if not stat.S_ISREG(found.st_mode) or found.st_size > SCRIPT_LIMIT_BYTES:
                why = f"it is no file of at most {SCRIPT_LIMIT_BYTES} bytes"
                raise ModelFault("model_unknown", f"{path} cannot be played: {why}")
            script = parse_script(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ModelFault("model_unknown", f"{path} cannot be read: {why}") from error
        self._kept[path] = (mark, script)
        return script


class ScriptedModel:
    """Plays a script."""

    provider = PROVIDER

    def __init__(self, *, name: str, script: Script, ids: Ids) -> None:
        self.name = name
        self.script = script
        self._ids = ids
        able = script.capabilities
        self.capabilities = Capabilities(
            tool_use=able.tool_use,
            images=able.images,
            thinking=able.thinking,
            window_tokens=able.window_tokens,
            max_output_tokens=able.max_output_tokens,
        )

    async def stream(self, call: ModelCall) -> AsyncGenerator[Chunk]:
        """Play the turn that this call has come to."""
        turns = self.script.children.get(_prompt(call), self.script.turns)
        if call.ordinal >= len(turns):
            raise ModelFault("script_exhausted", f"the script has {len(turns)} turns and was asked for one more")
        turn = turns[call.ordinal]
        if turn.delay_ms:
            await asyncio.sleep(turn.delay_ms / 1000)
        error = turn.error
        if error is None or (error.times is not None and call.attempt > error.times):
            for chunk in self._play(turn, thinking=call.thinking):
                if turn.pace_ms:
                    await asyncio.sleep(turn.pace_ms / 1000)
                yield chunk
            return
        if error.mid_stream:
            for chunk in _pieces(0, turn.text[: max(1, len(turn.text) // 2)]):
                yield chunk
        raise _fault(error)

    async def close(self) -> None:
        """Nothing is open."""

    def _play(self, turn: ScriptTurn, *, thinking: bool) -> Iterator[Chunk]:
        block = 0
        if turn.thinking and thinking:
            for start in range(0, len(turn.thinking), PIECE_CHARACTERS):
                yield ThinkingChunk(block, turn.thinking[start : start + PIECE_CHARACTERS])
            yield SignatureChunk(block, "scripted")
            block += 1
        if turn.text:
            yield from _pieces(block, turn.text)
            block += 1
        for media in turn.media:
            yield MediaChunk(block, media.mime, media.base64)
            block += 1
        for tool in turn.tools:
            yield from self._propose(tool)
        usage = Usage(
            input_tokens=turn.usage.input,
            output_tokens=turn.usage.output,
            cache_read_tokens=turn.usage.cache_read,
            cache_write_tokens=turn.usage.cache_write,
        )
        reason = turn.stop_reason or ("tool_use" if turn.tools else "end_turn")
        yield Stop(reason, usage, cost_micros_usd=self._cost(turn, usage))

    def _propose(self, tool: ScriptedTool) -> Iterator[Chunk]:
        call_id = tool.id or self._ids.new("call")
        text = tool.arguments if tool.arguments is not None else msgspec.json.encode(tool.input).decode()
        for start in range(0, len(text), PIECE_CHARACTERS):
            yield InputChunk(call_id, tool.name, text[start : start + PIECE_CHARACTERS])
        if tool.arguments is None:
            yield CallChunk(Call(call_id, tool.name, tool.input))
        else:
            yield CallChunk(read_arguments(call_id, tool.name, text))

    def _cost(self, turn: ScriptTurn, usage: Usage) -> int:
        if turn.cost_micros_usd is not None:
            return turn.cost_micros_usd
        provider, _, model = (self.script.price_as or self.script.model or "").partition(":")
        return (prices.price(provider, model, usage) if model else None) or 0


def _prompt(call: ModelCall) -> str:
    """What the conversation began with."""
    first = call.messages[0] if call.messages else None
    return "".join(part.text for part in first.parts if isinstance(part, Text)) if isinstance(first, User) else ""


def _pieces(block: int, text: str) -> Iterator[Chunk]:
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield TextChunk(block, text[start : start + PIECE_CHARACTERS])


def _fault(error: ScriptedError) -> ModelFault:
    if error.status is None:
        return faults.unreachable(error.message or "the connection broke")
    return faults.answered(error.status, error.message, retry_after_s=error.retry_after_s)
