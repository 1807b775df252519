"""Tool calls and edits as an editor shows them. Pure."""

import posixpath
from collections.abc import Iterable, Mapping

from runwire.acp.updates import Content, Diff, Location, Text, ToolKind, ToolStatus
from runwire.client.render.blocks import Edit, Tool, ToolState
from runwire.client.render.harmless import printed
from runwire.workspace.patch import FilePatch, Hunk, PatchMalformed, parse

_KINDS: Mapping[str, ToolKind] = {
    "shell": "execute",
    "edit": "edit",
    "file": "read",
    "search": "search",
    "todo": "think",
    "http": "fetch",
    "web": "fetch",
}
# Our own tools, where the name says more than the kind, or is known earlier.
_NAMED: Mapping[str, ToolKind] = {
    "shell_exec": "execute",
    "git_exec": "execute",
    "edit_file": "edit",
    "multi_edit": "edit",
    "file_write": "edit",
    "file_delete": "delete",
    "file_read": "read",
    "artifact_read": "read",
    "glob": "search",
    "grep": "search",
    "todo_write": "think",
    "http_request": "fetch",
    "web_fetch": "fetch",
    "web_search": "fetch",
}
_STATUSES: Mapping[ToolState, ToolStatus] = {
    "proposed": "pending",
    "running": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "failed",
    "timed_out": "failed",
    "blocked": "failed",
}
_PATHS = "path file_path filePath abs_path absolute_path".split()
_LINES = "start_line line offset".split()


def kind_of(tool: Tool) -> ToolKind:
    """What sort of thing a call does."""
    return _NAMED.get(tool.name) or _KINDS.get(tool.kind, "other")


def status_of(tool: Tool) -> ToolStatus:
    """How far a call has come."""
    return _STATUSES[tool.state]


def title_of(tool: Tool) -> str:
    """What a call does, on one line."""
    if tool.title and kind_of(tool) == "execute":
        return tool.title
    return f"{tool.name} {tool.title}".strip() or "tool"


def content_of(tool: Tool) -> list[Content]:
    """What a call has printed, and why it did not succeed."""
    shown = "\n".join(printed(tool.output.read())).strip("\n")
    found = [] if not shown or tool.told else [text(fenced(shown))]
    if tool.signal is not None:
        found.append(text(f"ended by {tool.signal}"))
    elif tool.exit_code:
        found.append(text(f"exit status {tool.exit_code}"))
    if tool.error:
        found.append(text(tool.error))
    return found


def text(shown: str) -> Content:
    """A text as a part of what a call shows."""
    return Content(Text(shown))


def fenced(shown: str) -> str:
    """The text as Markdown leaves it alone."""
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{fence}\n{shown}\n{fence}"


def locations_of(arguments: Mapping[str, object], root: str) -> list[Location]:
    """The files that the arguments of a call name, from the root."""
    edits = arguments.get("edits")
    parts = [arguments, *(one for one in (edits if isinstance(edits, list) else ()) if isinstance(one, dict))]
    found: dict[str, Location] = {}
    for part in parts:
        path = next((value for name in _PATHS if isinstance(value := part.get(name), str) and value), None)
        if path is not None:
            line = next((value for name in _LINES if isinstance(value := part.get(name), int) and value >= 0), None)
            place = posixpath.normpath(posixpath.join(root, path))
            found.setdefault(place, Location(place, line))
    return list(found.values())


def diffs_of(edit: Edit, root: str) -> list[Content | Diff]:
    """An edit as passages before and after, one a hunk; its summary where the change itself is not known."""
    try:
        patches = parse((edit.diff or "").encode())
    except PatchMalformed:
        patches = []
    found: list[Content | Diff] = [diff for patch in patches for diff in _diffs(patch, root)]
    if not found:
        found.append(text(f"{', '.join(edit.paths)}: {edit.summary}"))
    if edit.waits:
        found.append(text("\n".join(f"proposed: `runwire apply {one}` writes it" for one in edit.artifact_ids)))
    return found


def _diffs(patch: FilePatch, root: str) -> Iterable[Content | Diff]:
    path = posixpath.join(root, patch.path)
    if patch.binary is not None:
        yield text(f"{patch.path}: other bytes")
    elif not patch.hunks and patch.old_path != patch.new_path and patch.old_path is not None:
        yield text(f"{patch.old_path} became {patch.new_path}" if patch.new_path else f"{patch.old_path} was removed")
    for hunk in patch.hunks:
        before = None if patch.old_path is None else _side(hunk, b"-")
        yield Diff(path, before, _side(hunk, b"+"))
    if patch.old_path is None and not patch.hunks and patch.binary is None:
        yield Diff(path, None, "")


def _side(hunk: Hunk, tag: bytes) -> str:
    return b"".join(line for one, line in hunk.lines if one in {b" ", tag}).decode("utf-8", "replace")
