"""What opencode asks, as questions that a policy or a person can answer."""

from runwire.agents.dialect import Question
from runwire.agents.opencode.frames import PermissionAsked, QuestionAsked
from runwire.agents.tools import ToolCall, line
from runwire.host import Effects

_EFFECTS: dict[str, Effects] = {
    "bash": frozenset({"executes"}),
    "edit": frozenset({"writes"}),
    "write": frozenset({"writes"}),
    "read": frozenset({"reads"}),
    "glob": frozenset({"reads"}),
    "grep": frozenset({"reads"}),
    "list": frozenset({"reads"}),
    "webfetch": frozenset({"network"}),
    "websearch": frozenset({"network"}),
    "codesearch": frozenset({"network"}),
}
_UNKNOWN: Effects = frozenset({"executes", "network"})
"""What is not known is not taken for harmless."""
_KINDS = {"bash": "shell", "edit": "edit", "write": "edit", "read": "file", "webfetch": "web", "websearch": "web"}
_ON_FILES = frozenset({"edit", "write", "read", "external_directory"})


def permission(asked: PermissionAsked, call: ToolCall | None) -> Question:
    """Whether something may be done."""
    name, metadata = asked.permission or "unknown", asked.metadata
    command = metadata.get("command")
    is_shell = name == "bash"
    what = command if is_shell and isinstance(command, str) else ", ".join(asked.patterns)
    path = metadata.get("filepath")
    paths = [path] if isinstance(path, str) else list(asked.patterns) if name in _ON_FILES else []
    return Question(
        question_id=asked.id,
        tool_call_id=call.call_id if call is not None else None,
        tool_name=call.name if call is not None else name,
        tool_kind=call.kind if call is not None else _KINDS.get(name, "tool"),
        summary=line(f"{name}: {what}" if what else name),
        reason=f"opencode asks before {name}",
        input=call.input if call is not None else metadata,
        effects=_EFFECTS.get(name, _UNKNOWN),
        paths=paths,
        argv_text=what if is_shell else None,
        fixed=True,
    )


def choice(asked: QuestionAsked, call: ToolCall | None) -> Question:
    """What a person would have."""
    first = asked.questions[0] if asked.questions else None
    labels = [option.label for option in first.options] if first is not None else []
    texts = [one.question or one.header for one in asked.questions]
    return Question(
        question_id=asked.id,
        kind="choice" if labels else "input",
        tool_call_id=call.call_id if call is not None else None,
        tool_name="question",
        tool_kind="tool",
        summary=line(texts[0]) if texts else "a question without words",
        reason="opencode asks for an answer",
        input={"questions": texts},
        choices=labels,
    )
