"""What a dialect tells becomes the events of a run: stream text is offered, long results become artifacts, money is counted."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from runwire.agents.dialect import Body, Item
from runwire.journal.artifact import ArtifactMeta, Kind, NewArtifact
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta, is_delta

if TYPE_CHECKING:
    from runwire.journal.artifact import Draft
    from runwire.journal.records import Stored

Ended = ToolCompleted | ToolFailed | ToolCancelled | ToolTimedOut


class Place(Protocol):
    """Where events go: the part of a run's host that recording needs."""

    def emit(self, *payloads: Payload | Opaque, kept: "Sequence[Draft]" = ()) -> "Awaitable[Stored]":
        """Append all or none."""
        ...

    async def offer(self, delta: Delta) -> None:
        """Hand over a piece of stream text."""
        ...

    async def draft(self, new: NewArtifact, body: bytes) -> "Draft":
        """Make an artifact's body safe."""
        ...

    def spend(self, cost_micros_usd: int) -> None:
        """Count money."""
        ...


class Recorder:
    """Puts items into a run, in order. What is neither an event nor belongs to one is left to the caller."""

    def __init__(self, place: Place, *, tool_ended: Callable[[Ended], Awaitable[None]] | None = None) -> None:
        """Record into a place; `tool_ended` is awaited after the end of each call is told."""
        self._place = place
        self._tool_ended = tool_ended
        self._bodies: dict[str, list[Draft]] = {}

    async def record(self, items: Sequence[Item]) -> None:
        """Tell what happened."""
        waiting: list[Payload | Opaque] = []
        kept: list[Draft] = []
        for item in items:
            if isinstance(item, Payload) and is_delta(item):
                self._flush(waiting, kept)
                await self._place.offer(item)
            elif isinstance(item, Body):
                await self._keep(item)
            elif isinstance(item, Payload):
                if isinstance(item, (TurnCompleted, TurnFailed)):
                    self._place.spend(item.cost_micros_usd or 0)
                if not isinstance(item, Ended):
                    waiting.append(item)
                    continue
                drafts = self._bodies.pop(item.tool_call_id, None)
                if drafts:
                    kept += drafts
                    item = replace(item, result_artifact_id=drafts[0].artifact.artifact_id)
                waiting.append(item)
                if self._tool_ended is not None:
                    self._flush(waiting, kept)
                    await self._tool_ended(item)
            elif isinstance(item, Opaque):
                waiting.append(item)
        self._flush(waiting, kept)

    def _flush(self, waiting: list[Payload | Opaque], kept: "list[Draft]") -> None:
        if waiting:
            self._place.emit(*waiting, kept=tuple(kept))
            waiting.clear()
            kept.clear()

    async def _keep(self, body: Body) -> None:
        if body.tool_call_id is None:
            return
        raw = _bytes(body)
        if raw is None:
            return
        meta = ArtifactMeta(mime=body.mime, summary=body.summary, produced_by_tool_call_id=body.tool_call_id)
        kind: Kind = "image" if body.mime.startswith("image/") else "tool_result_blob"
        draft = await self._place.draft(NewArtifact(kind, meta), raw)
        self._bodies.setdefault(body.tool_call_id, []).append(draft)


def _bytes(body: Body) -> bytes | None:
    """What a body holds; None for what is said to be base64 and is not."""
    if body.text is not None:
        return body.text.encode("utf-8", "replace")
    try:
        return base64.b64decode(body.base64 or "", validate=True)
    except binascii.Error:
        return None
