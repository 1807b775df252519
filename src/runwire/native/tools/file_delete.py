"""file_delete: remove a file. For runs of kind `file`; models use shell_exec."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.editing import Editor
from runwire.native.tools.outcome import failed, shown_path
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.workspace.changes import FileChange
from runwire.workspace.root import Root


class FileDeleteInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to remove."""

    path: Annotated[str, Meta(min_length=1, description="The file, from the workspace.")]


@dataclass(frozen=True, slots=True)
class FileDelete:
    """Removes files, by a patch that can be reverted."""

    editor: Editor
    name: ClassVar[str] = "file_delete"
    kind: ClassVar[str] = "file"
    about: ClassVar[str] = "Remove a file."
    Input: ClassVar[type[FileDeleteInput]] = FileDeleteInput
    effects: ClassVar[Effects] = frozenset({"writes"})

    def ask(self, given: FileDeleteInput, context: ToolContext) -> AskParts:
        """Say which file would go."""
        path = shown_path(context, given.path)
        return AskParts(summary=f"delete {path}", paths=(path,))

    async def run(self, given: FileDeleteInput, context: ToolContext) -> ToolResult:
        """Propose it as a patch, and apply that where the run may."""

        def changing(root: Root) -> Sequence[FileChange] | ToolResult:
            path = root.relative(given.path)
            before = root.read(path)
            if before is None:
                return failed("file_not_found", f"there is no file {path}")
            return [FileChange(path, before, None)]

        return await self.editor.edit(context, changing)
