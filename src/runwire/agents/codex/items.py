"""The items of a Codex thread, which both of its streams carry: what they are as calls of tools, and how those ended."""

import re
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from runwire.agents.tools import ToolCall, ToolEnding
from runwire.protocol.events.todo import Todo, TodoWriteUpdated

ExitCode = Annotated[int, Meta(ge=-(2**31), lt=2**31)]

# `shlex` takes a command line apart as well, letter by letter.
_WORD = re.compile(r"""(?:[^ \t\r\n'"\\]+|'[^']*'|"(?:[^"\\]+|\\.)*+"|\\.)++|[^ \t\r\n]""", re.DOTALL)
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]+|\\.)*+)"|\\(.)""", re.DOTALL)
_UNCLOSED = frozenset({"'", '"', "\\"})
"""What is found as a word where something is left open."""
_SHELLS = frozenset({"bash", "sh", "zsh"})
_ARGV_MAX = 32 * 1024
"""A command that is longer is not taken apart into words."""


class ChangeKind(Struct):
    """What happens to a file."""

    type: str = ""


class Change(Struct):
    """A file that is changed."""

    path: str = ""
    kind: str | ChangeKind = ""
    diff: str = ""


class Step(Struct):
    """One line of a plan."""

    text: str = ""
    completed: bool = False


class Fault(Struct):
    """Why something failed."""

    message: str = ""


class ExecItem(Struct):
    """An item as `codex exec` writes it. Which members it has depends on its type."""

    id: str = ""
    type: str = ""
    status: str | None = None
    text: str | None = None
    message: str | None = None
    command: str | None = None
    cwd: str | None = None
    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    duration_ms: int | float | None = None
    changes: list[Change] = []
    server: str | None = None
    tool: str | None = None
    arguments: object = None
    result: object = None
    error: Fault | None = None
    query: str | None = None
    path: str | None = None
    items: list[Step] = []


class AppItem(Struct, rename="camel"):
    """An item as `codex app-server` writes it."""

    id: str = ""
    type: str = ""
    status: str | None = None
    text: str | None = None
    message: str | None = None
    command: str | None = None
    cwd: str | None = None
    process_id: str | None = None
    aggregated_output: str | None = None
    exit_code: ExitCode | None = None
    duration_ms: int | float | None = None
    changes: list[Change] = []
    server: str | None = None
    tool: str | None = None
    arguments: object = None
    result: object = None
    error: Fault | None = None
    query: str | None = None
    path: str | None = None
    content: list[object] = []
    summary: list[object] = []


AnyItem = ExecItem | AppItem

COMMANDS = frozenset({"command_execution", "commandExecution"})
CHANGES = frozenset({"file_change", "fileChange"})
PLANS = frozenset({"todo_list"})
_MCP = frozenset({"mcp_tool_call", "mcpToolCall"})
_SEARCHES = frozenset({"web_search", "webSearch"})
_IMAGES = frozenset({"image_view", "imageView"})
_OTHERS = frozenset({"collab_tool_call", "collabToolCall", "collabAgentToolCall", "dynamicToolCall"})
TOOLS = COMMANDS | CHANGES | PLANS | _MCP | _SEARCHES | _IMAGES | _OTHERS
"""The types of items that are calls of tools."""
WORDS = frozenset({"agent_message", "agentMessage", "reasoning"})
"""Those that the model says or thinks."""
ASIDE = frozenset({"error", "userMessage", "hookPrompt", "contextCompaction", "enteredReviewMode", "exitedReviewMode"})
"""Those that tell nothing of the work, or nothing that is not told otherwise."""


def call_of(item: AnyItem, call_id: str) -> ToolCall:
    """The call that an item is."""
    kind = item.type
    if kind in COMMANDS:
        command = item.command or ""
        argv = words_of(command)
        return ToolCall(
            call_id=call_id, name="shell", kind="shell", input={"command": command}, argv=argv, cwd=item.cwd
        )
    if kind in _MCP:
        server, tool = item.server or "unknown", item.tool or "unknown"
        given, name = _arguments(item.arguments), f"mcp__{server}__{tool}"
        return ToolCall(call_id=call_id, name=name, kind="mcp", input=given, mcp_server=server, mcp_tool=tool)
    name, sort, given = _plain_call(item)
    return ToolCall(call_id=call_id, name=name, kind=sort, input=given)


def _plain_call(item: AnyItem) -> tuple[str, str, dict[str, object]]:
    """The name, the kind and the input of a call."""
    kind = item.type
    if kind in CHANGES:
        return "apply_patch", "edit", {"changes": _shown(item.changes)}
    if kind in _SEARCHES:
        return "web_search", "web", {"query": item.query or ""}
    if kind in _IMAGES:
        return "view_image", "file", {"path": item.path or ""}
    if kind in PLANS:
        return "update_plan", "todo", {}
    return item.tool or "unknown", "tool", _arguments(item.arguments)


def ending_of(item: AnyItem) -> ToolEnding:
    """How the call that an item is has ended."""
    duration = item.duration_ms
    ended_ms = int(duration) if duration is not None and 0 <= duration < 2**53 else None
    fault = item.error.message if item.error is not None else ""
    failed = item.status in {"failed", "declined"} or bool(fault)
    if item.type in COMMANDS:
        code = item.exit_code
        how = f"exited with status {code}" if code is not None else ""
        return ToolEnding(
            outcome="failed" if failed or code else "completed",
            output=item.aggregated_output or "",
            exit_code=code,
            code="declined" if item.status == "declined" else "",
            summary=how,
            message=fault or how,
            duration_ms=ended_ms,
        )
    if item.type in CHANGES:
        done = ", ".join(change.path for change in item.changes[:20])
        return ToolEnding(
            outcome="failed" if failed else "completed", summary=done, message=fault, duration_ms=ended_ms
        )
    return ToolEnding(
        outcome="failed" if failed else "completed", output=_text(item.result), message=fault, duration_ms=ended_ms
    )


def plan_of(item: ExecItem, call_id: str) -> TodoWriteUpdated:
    """The plan that an item shows."""
    todos = [Todo(content=step.text, status="completed" if step.completed else "pending") for step in item.items]
    return TodoWriteUpdated(tool_call_id=call_id, todos=todos)


def paths_of(item: AnyItem) -> list[str]:
    """The files that an item changes."""
    return [change.path for change in item.changes]


def words_of(command: str) -> list[str]:
    """The words of a POSIX command line; the line as one word where it cannot be taken apart."""
    if len(command) > _ARGV_MAX:
        return [command]
    words = _WORD.findall(command)
    return [_QUOTED.sub(_unquoted, word) for word in words] if _UNCLOSED.isdisjoint(words) else [command]


def _unquoted(found: re.Match[str]) -> str:
    single, double, escaped = found.groups()
    # In double quotes a backslash escapes a quote and another one, and is itself before all else.
    return single or escaped or "\\".join(part.replace('\\"', '"') for part in (double or "").split("\\\\"))


def script_of(command: str) -> str:
    """What a shell is given to run, where a command is nothing but that; else the command."""
    match words_of(command):
        case [shell, "-c" | "-lc", script] if shell.rpartition("/")[2] in _SHELLS:
            return script
    return command


def missing(told: Sequence[str], whole: str) -> str:
    """What is in an output and was not among the pieces of it that were told; nothing, where that cannot be known."""
    joined = "".join(told)
    if whole.endswith(joined):
        return whole[: len(whole) - len(joined)]
    gaps, at = [], 0
    for piece in told:
        found = whole.find(piece, at)
        if found < 0:
            return ""
        gaps.append(whole[at:found])
        at = found + len(piece)
    gaps.append(whole[at:])
    return "".join(gaps)


def _shown(changes: Sequence[Change]) -> list[object]:
    shown: list[object] = []
    for change in changes:
        kind = change.kind if isinstance(change.kind, str) else change.kind.type
        one = {"path": change.path, "kind": kind}
        shown.append({**one, "diff": change.diff} if change.diff else one)
    return shown


def _arguments(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return {str(name): one for name, one in value.items()}
    return {} if value is None else {"arguments": value}


def _text(result: object) -> str | None:
    """The text of what a tool of an MCP server returned."""
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, list):
        return result if isinstance(result, str) else None
    texts = (block.get("text") for block in content if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
