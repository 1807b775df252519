"""file_read: read a file, or some of its lines."""

import mimetypes
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct

from runwire.host import Effects
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.native.tools.outcome import failed, refused, shown_path
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.file import FileReadCompleted
from runwire.workspace.changes import FileState
from runwire.workspace.diff import is_binary
from runwire.workspace.errors import PathRefused

LINES_MAX = 2_000
SHOWN_MAX_BYTES = 256 * 1024
KEPT_FROM_BYTES = 4 * 1024
_IMAGE_MAX_BYTES = 5 * 1024 * 1024
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_Line = Annotated[int, Meta(ge=1)]


class FileReadInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to read."""

    path: Annotated[str, Meta(min_length=1, description="The file, from the workspace.")]
    start_line: Annotated[_Line | None, Meta(description="First line to read, counted from 1.")] = None
    end_line: Annotated[_Line | None, Meta(description="Last line to read.")] = None


@dataclass(frozen=True, slots=True)
class FileRead:
    """Reads files of the workspace."""

    name: ClassVar[str] = "file_read"
    kind: ClassVar[str] = "file"
    about: ClassVar[str] = (
        "Read a text file or a picture of the workspace. At most 2000 lines come back: use start_line and end_line for more."
    )
    Input: ClassVar[type[FileReadInput]] = FileReadInput
    effects: ClassVar[Effects] = frozenset({"reads"})

    def ask(self, given: FileReadInput, context: ToolContext) -> AskParts:
        """Say which file would be read."""
        path = shown_path(context, given.path)
        return AskParts(summary=f"read {path}", paths=(path,))

    async def run(self, given: FileReadInput, context: ToolContext) -> ToolResult:
        """Read it and tell the model what it says."""
        try:
            path = context.root.relative(given.path)
            state = context.root.read(path)
        except PathRefused as error:
            return refused(error)
        if state is None:
            return failed("file_not_found", f"there is no file {path}")
        mime = mimetypes.guess_type(path)[0]
        if mime in _IMAGES and is_binary(state.body):
            return await _picture(path, mime or "", state, context)
        if is_binary(state.body):
            return failed("binary_file", f"{path} is no text: {len(state.body)} bytes")
        return await _text(path, given, state, context)


async def _picture(path: str, mime: str, state: FileState, context: ToolContext) -> ToolResult:
    if len(state.body) > _IMAGE_MAX_BYTES:
        return failed("too_large", f"{path} has {len(state.body)} bytes, and a picture may have {_IMAGE_MAX_BYTES}")
    meta = ArtifactMeta(
        mime=mime, summary=path, produced_by_tool_call_id=context.tool_call_id, path=path, revision=state.revision
    )
    draft = await context.host.draft(NewArtifact("image", meta), state.body)
    context.host.emit(
        FileReadCompleted(tool_call_id=context.tool_call_id, path=path, size_bytes=len(state.body), lines=0)
    )
    said = f"{path}, a picture of {len(state.body)} bytes"
    return ToolResult(summary=said, output=said, images=[draft])


async def _text(path: str, given: FileReadInput, state: FileState, context: ToolContext) -> ToolResult:
    lines = _lines(state.body.decode())
    first = given.start_line or 1
    last = min(given.end_line or len(lines), len(lines))
    if first > max(len(lines), 1) or (given.end_line is not None and given.end_line < first):
        return failed("invalid_input", f"start_line, end_line: {path} has {len(lines)} lines")
    shown, cut = _fitting(lines[first - 1 : last])
    text = "".join(shown)
    kept = None
    if len(text.encode()) > KEPT_FROM_BYTES:
        meta = ArtifactMeta(
            mime="text/plain; charset=utf-8",
            summary=f"{path}, as it was read",
            produced_by_tool_call_id=context.tool_call_id,
            path=path,
            # A part of a file is not that revision of it.
            revision=state.revision if len(shown) == len(lines) else None,
        )
        kept = await context.host.draft(NewArtifact("file_snapshot", meta), text.encode())
    context.host.emit(
        FileReadCompleted(
            tool_call_id=context.tool_call_id,
            path=path,
            size_bytes=len(text.encode()),
            lines=len(shown),
            snippet_artifact_id=UNSET if kept is None else kept.artifact.artifact_id,
        ),
        kept=() if kept is None else (kept,),
    )
    reached = first - 1 + len(shown)
    if cut or reached < len(lines):
        text += f"{'' if text.endswith(chr(10)) else chr(10)}[lines {first} to {reached} of {len(lines)}]"
    summary = f"{path}: {len(shown)} {'line' if len(shown) == 1 else 'lines'}"
    return ToolResult(
        summary=summary,
        output=text or "[the file is empty]",
        kept_artifact_id=None if kept is None else kept.artifact.artifact_id,
    )


def _lines(text: str) -> list[str]:
    """Lines by line feed alone: a lone carriage return, or another sign that Python would split at, ends none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _fitting(lines: list[str]) -> tuple[list[str], bool]:
    shown: list[str] = []
    room = SHOWN_MAX_BYTES
    for line in lines[:LINES_MAX]:
        room -= len(line.encode())
        if room < 0:
            if not shown:
                shown.append(line.encode()[:SHOWN_MAX_BYTES].decode(errors="ignore"))
            return shown, True
        shown.append(line)
    return shown, len(lines) > LINES_MAX
