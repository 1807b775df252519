"""edit_file: replace a piece of text in a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.editing import Editor
from runwire.native.tools.outcome import failed, shown_path
from runwire.native.tools.replacing import replaced
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.root import Root


class EditFileInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to replace by what."""

    path: Annotated[str, Meta(min_length=1, description="The file, from the workspace.")]
    old_text: Annotated[str, Meta(description="The text to replace, exactly as it stands in the file.")]
    new_text: Annotated[str, Meta(description="What is to stand there instead.")]
    replace_all: Annotated[bool, Meta(description="Replace it wherever it stands; otherwise it must stand once.")] = (
        False
    )


@dataclass(frozen=True, slots=True)
class EditFile:
    """Edits one file."""

    editor: Editor
    name: ClassVar[str] = "edit_file"
    kind: ClassVar[str] = "edit"
    about: ClassVar[str] = (
        "Replace a piece of text in an existing file. old_text must match exactly and stand there once."
    )
    Input: ClassVar[type[EditFileInput]] = EditFileInput
    effects: ClassVar[Effects] = frozenset({"writes"})

    def ask(self, given: EditFileInput, context: ToolContext) -> AskParts:
        """Say which file would be edited."""
        path = shown_path(context, given.path)
        return AskParts(summary=f"edit {path}", paths=(path,))

    async def run(self, given: EditFileInput, context: ToolContext) -> ToolResult:
        """Propose it as a patch, and apply that where the run may."""

        def changing(root: Root) -> Sequence[FileChange] | ToolResult:
            path = root.relative(given.path)
            before = root.read(path)
            if before is None:
                return failed("file_not_found", f"there is no file {path}; file_write creates one")
            body = replaced(path, before.body, given.old_text, given.new_text, every=given.replace_all)
            if isinstance(body, ToolResult):
                return body
            return [FileChange(path, before, FileState(body, before.mode))]

        return await self.editor.edit(context, changing)
