"""file_write: create a file, or replace one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.editing import WRITE_LIMIT_BYTES, Editor
from runwire.native.tools.outcome import failed, shown_path
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.root import Root


class FileWriteInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to write where."""

    path: Annotated[str, Meta(min_length=1, description="The file, from the workspace.")]
    content: Annotated[str, Meta(description="All that the file is to hold.")]


@dataclass(frozen=True, slots=True)
class FileWrite:
    """Writes whole files."""

    editor: Editor
    name: ClassVar[str] = "file_write"
    kind: ClassVar[str] = "file"
    about: ClassVar[str] = (
        "Create a file with this content, or replace all of an existing one. Folders are made as needed."
    )
    Input: ClassVar[type[FileWriteInput]] = FileWriteInput
    effects: ClassVar[Effects] = frozenset({"writes"})

    def ask(self, given: FileWriteInput, context: ToolContext) -> AskParts:
        """Say which file would be written."""
        path = shown_path(context, given.path)
        return AskParts(summary=f"write {path}", paths=(path,))

    async def run(self, given: FileWriteInput, context: ToolContext) -> ToolResult:
        """Propose it as a patch, and apply that where the run may."""
        try:
            body = given.content.encode()
        except UnicodeEncodeError:
            return failed("invalid_input", "content: it is no valid Unicode")
        if len(body) > WRITE_LIMIT_BYTES:
            return failed("too_large", f"content: {len(body)} bytes, and {WRITE_LIMIT_BYTES} is the most")

        def changing(root: Root) -> Sequence[FileChange]:
            path = root.relative(given.path)
            before = root.read(path)
            return [FileChange(path, before, FileState(body, 0o644 if before is None else before.mode))]

        return await self.editor.edit(context, changing)
