"""A call as Agno tells of it, in our words: which kind it is, what it does to the world, and how it ended."""

import shlex
from collections.abc import Mapping

from runwire.agents.agno.frames import Metrics, Tool
from runwire.agents.agno.literals import readable
from runwire.agents.tools import ToolCall, ToolEnding, line
from runwire.host import Effects

_KINDS = {
    "run_shell_command": "shell",
    "run_shell": "shell",
    "delegate_task_to_member": "delegate",
    "delegate_task_to_members": "delegate",
    "transfer_task_to_member": "delegate",
    "forward_task_to_member": "delegate",
    "save_file": "edit",
    "write_file": "edit",
    "edit_file": "edit",
    "replace_file_chunk": "edit",
    "delete_file": "edit",
    "read_file": "file",
    "read_file_chunk": "file",
    "list_files": "search",
    "search_files": "search",
    "search_content": "search",
    "grep": "search",
    "web_search": "web",
    "duckduckgo_search": "web",
    "search_news": "web",
    "search_knowledge_base": "search",
}
_EFFECTS: dict[str, Effects] = {
    "shell": frozenset({"executes"}),
    "edit": frozenset({"writes"}),
    "file": frozenset({"reads"}),
    "search": frozenset({"reads"}),
    "web": frozenset({"network"}),
}
ANY: Effects = frozenset({"writes", "executes", "network"})
"""What a tool or a step may do of which only the name is known."""


def call_of(tool: Tool, call_id: str) -> ToolCall:
    """The call under the id that it is told by."""
    name = tool.tool_name or "unknown"
    given = tool.tool_args
    args: Mapping[str, object] = given if isinstance(given, dict) else {} if given is None else {"args": given}
    kind = _KINDS.get(name, "tool")
    return ToolCall(call_id=call_id, name=name, kind=kind, input=args, argv=_argv(args) if kind == "shell" else None)


def effects_of(call: ToolCall) -> Effects:
    """What a call does to the world, as far as its name tells; what a name does not tell is feared."""
    return _EFFECTS.get(call.kind, ANY)


def summary_of(call: ToolCall) -> str:
    """A call in one line."""
    if call.argv:
        return line(shlex.join(call.argv))
    given = ", ".join(f"{name}={value!r}" for name, value in call.input.items())
    return line(f"{call.name}({given})")


def ending_of(tool: Tool, error: object = None) -> ToolEnding:
    """How a call ended. What it returned is told in JSON where it can be."""
    output = readable(tool.result)
    if tool.tool_call_error or error is not None:
        message = error if isinstance(error, str) else readable(error) or tool.result
        return ToolEnding(
            outcome="failed",
            output=output,
            message=line(message) if isinstance(message, str) else "",
            duration_ms=_duration_ms(tool.metrics),
        )
    return ToolEnding(output=output, duration_ms=_duration_ms(tool.metrics))


def _duration_ms(metrics: Metrics | None) -> int | None:
    seconds = metrics.duration if metrics is not None else None
    return None if seconds is None or not 0 <= seconds < 1e9 else round(seconds * 1000)


def _argv(args: Mapping[str, object]) -> list[str]:
    command = args.get("args", args.get("command"))
    if isinstance(command, list):
        return [str(part) for part in command]
    return ["sh", "-c", command] if isinstance(command, str) else []
