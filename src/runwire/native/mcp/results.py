"""What an MCP server answers, as text for the model and artifacts for everything else."""

import base64
import binascii
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact
from runwire.native.tools.outcome import one_line
from runwire.native.tools.tool import ToolContext, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
BLOB_MAX_BYTES = 32 * 1024 * 1024


@dataclass(slots=True)
class _Gathered:
    words: list[str] = field(default_factory=list)
    pictures: list[Draft] = field(default_factory=list)
    blobs: list[Draft] = field(default_factory=list)


async def result_of(answer: "CallToolResult", name: str, context: ToolContext) -> ToolResult:
    """The end of a call that a server has answered. What is no text is kept, and named in the text."""
    gathered = _Gathered()
    for block in answer.content:
        await _take(block, gathered, context)
    if not answer.content and answer.structured_content is not None:
        gathered.words.append(msgspec.json.encode(answer.structured_content).decode())
    if gathered.blobs:
        context.host.emit(kept=gathered.blobs)
    text = "\n".join(gathered.words)
    kept_id = gathered.blobs[0].artifact.artifact_id if gathered.blobs else None
    if answer.is_error:
        said = one_line(text) or f"{name} failed"
        return ToolResult(
            summary=said,
            output=text,
            outcome="failed",
            code="mcp_error",
            result="failed",
            images=gathered.pictures,
            kept_artifact_id=kept_id,
        )
    return ToolResult(
        summary=_summary(name, text, gathered.pictures, gathered.blobs),
        output=text,
        result="dispatched",
        images=gathered.pictures,
        kept_artifact_id=kept_id,
    )


async def _take(block: "ContentBlock", gathered: _Gathered, context: ToolContext) -> None:
    match block.type:
        case "text":
            gathered.words.append(block.text)
        case "image" | "audio":
            await _keep(block.data, block.mime_type, gathered, context)
        case "resource_link":
            gathered.words.append(f"[{block.name}]({block.uri})")
        case "resource":
            resource = block.resource
            if hasattr(resource, "text"):
                gathered.words.append(resource.text)
            else:
                await _keep(resource.blob, resource.mime_type or "application/octet-stream", gathered, context)


async def _keep(encoded: str, mime: str, gathered: _Gathered, context: ToolContext) -> None:
    try:
        body = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        gathered.words.append("[something that is not the base 64 it should be]")
        return
    if len(body) > BLOB_MAX_BYTES:
        gathered.words.append(f"[{len(body)} bytes of {mime}, too many to keep]")
        return
    picture = mime in _PICTURES
    summary = f"{mime}, {len(body)} bytes"
    meta = ArtifactMeta(mime=mime, summary=summary, produced_by_tool_call_id=context.tool_call_id)
    draft = await context.host.draft(NewArtifact("image" if picture else "tool_result_blob", meta), body)
    (gathered.pictures if picture else gathered.blobs).append(draft)
    kind = "picture" if picture else (mimetypes.guess_extension(mime) or "file").lstrip(".")
    gathered.words.append(f"[{kind} kept as {draft.artifact.artifact_id}: {summary}]")


def _summary(name: str, text: str, pictures: Sequence[Draft], blobs: Sequence[Draft]) -> str:
    kept = len(pictures) + len(blobs)
    return f"{name}: {len(text)} characters" + (f", {kept} kept" if kept else "")
