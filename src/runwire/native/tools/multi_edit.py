"""multi_edit: replace several pieces of text in one or more files, all or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.edit_file import EditFileInput
from runwire.native.tools.editing import Editor
from runwire.native.tools.outcome import failed, one_line, shown_path
from runwire.native.tools.replacing import replaced
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.root import Root


class MultiEditInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to replace by what, where."""

    edits: Annotated[
        list[EditFileInput],
        Meta(min_length=1, max_length=200, description="Edits in order; a later one sees what an earlier one did."),
    ]


@dataclass(frozen=True, slots=True)
class MultiEdit:
    """Edits several files at once."""

    editor: Editor
    name: ClassVar[str] = "multi_edit"
    kind: ClassVar[str] = "edit"
    about: ClassVar[str] = "Make several edits to one or more existing files; either all of them are made or none is."
    Input: ClassVar[type[MultiEditInput]] = MultiEditInput
    effects: ClassVar[Effects] = frozenset({"writes"})

    def ask(self, given: MultiEditInput, context: ToolContext) -> AskParts:
        """Say which files would be edited."""
        paths = tuple(dict.fromkeys(shown_path(context, edit.path) for edit in given.edits))
        return AskParts(summary=one_line(f"edit {', '.join(paths)}"), paths=paths)

    async def run(self, given: MultiEditInput, context: ToolContext) -> ToolResult:
        """Propose the edits as one patch a file, and apply those where the run may."""
        return await self.editor.edit(context, lambda root: _changes(root, given.edits), several=True)


def _changes(root: Root, edits: Sequence[EditFileInput]) -> Sequence[FileChange] | ToolResult:
    before: dict[str, FileState] = {}
    after: dict[str, bytes] = {}
    for number, edit in enumerate(edits, 1):
        path = root.relative(edit.path)
        if path not in before:
            state = root.read(path)
            if state is None:
                return failed("file_not_found", f"edit {number}: there is no file {path}; nothing was changed")
            before[path], after[path] = state, state.body
        body = replaced(path, after[path], edit.old_text, edit.new_text, every=edit.replace_all)
        if isinstance(body, ToolResult):
            return failed(body.code, f"edit {number}: {body.summary}; nothing was changed")
        after[path] = body
    return [FileChange(path, state, FileState(after[path], state.mode)) for path, state in before.items()]
