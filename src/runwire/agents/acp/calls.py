"""The calls of an agent that speaks ACP: what becomes known of each, piece by piece, and how it is told."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from runwire.agents.acp import frames as wire
from runwire.agents.dialect import Cancelled, Question
from runwire.agents.tools import ToolCall, ToolEnding, line
from runwire.host import Effects

_KINDS = {
    "read": "file",
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "search": "search",
    "execute": "shell",
    "fetch": "web",
}
_EFFECTS: Mapping[str, Effects] = {
    "file": frozenset({"reads"}),
    "edit": frozenset({"writes"}),
    "search": frozenset({"reads"}),
    "shell": frozenset({"reads", "writes", "executes"}),
    "web": frozenset({"network"}),
    "todo": frozenset(),
    "mcp": frozenset({"executes", "network"}),
}
_ANYTHING: Effects = frozenset({"reads", "writes", "executes"})
_TODO = frozenset({"todowrite", "todo_write", "write_todos"})
_WORD = re.compile(r"[A-Za-z_][\w-]{0,63}\Z")
_IN_ID = re.compile(r"([A-Za-z][A-Za-z_]{1,63}?)(?:__.+|-\d{6,}.*)\Z", re.DOTALL)
_REFUSED = re.compile(r"reject|denied|deny|declin|refus|not allow|cancel|abort", re.IGNORECASE)
_STOPPED = re.compile(r"\babort|\bcancel|\binterrupt", re.IGNORECASE)
_NOTHING = "(no output)"
_CANCELLED = "Command cancelled by user"
_DIFF_MAX = 64 * 1024
_DIFF_LINES_MAX = 2000
"""A change of more than that is told by its size: to compare it would take too long."""


@dataclass(slots=True)
class Known:
    """A call, as far as it is known."""

    call_id: str
    title: str = ""
    name: str = ""
    kind: str = ""
    status: str = ""
    input: dict[str, object] = field(default_factory=dict)
    paths: Sequence[str] = ()
    changes: Sequence[str] = ()
    """The files that it shows changes of."""
    diff: str = ""
    text: str = ""
    """What came of it, as far as it shows."""
    about: str = ""
    """What it is about to do, in words of the agent's."""
    output: object = None
    asked: int = 0
    """How many questions were asked about it."""
    worked: int = 0
    """How often it was said to be at work."""

    def learn(self, update: wire.Update, *, is_question: bool = False) -> None:
        """Take what an update says of it. That it is pending in a question is no news."""
        is_news = update.session_update == "tool_call_update"
        if update.title is not None:
            if not self.name and not self.title and _WORD.match(update.title):
                # At first some agents give the tool's own name, and say later what it does.
                self.name = update.title
            self.title = update.title
        self.name = update.name or self.name
        self.kind = update.kind or self.kind
        self.status = self.status if is_question else update.status or self.status
        if isinstance(update.raw_input, dict) and update.raw_input:
            self.input = {**self.input, **update.raw_input}
        if update.locations:
            self.paths = [location.path for location in update.locations if location.path]
        if isinstance(update.content, list):
            self._look(update.content, is_news=is_news)
        if update.raw_output is not None:
            self.output = update.raw_output
        self.worked += update.status == "in_progress" and not is_question

    def _look(self, content: Sequence[wire.ToolContent], *, is_news: bool) -> None:
        diffs = [part for part in content if part.type == "diff"]
        self.changes = [part.path for part in diffs if part.path]
        self.diff = "\n".join(map(_diff, diffs))
        words = "\n".join(text for text in map(_words, content) if text)
        self.about = self.about if is_news else words
        # Before it is at work, what it shows is what it wants to do.
        self.text = "\n".join(text for text in (words if is_news else "", self.diff) if text)

    @property
    def tool_name(self) -> str:
        """What the tool is called, as far as the agent lets it be seen."""
        found = _IN_ID.match(self.call_id)
        return self.name or (found[1] if found else "") or self.kind or "tool"

    @property
    def tool_kind(self) -> str:
        """What kind of tool it is."""
        name = self.tool_name
        if name.lower() in _TODO:
            return "todo"
        return "mcp" if name.startswith("mcp__") else _KINDS.get(self.kind, "tool")

    @property
    def command(self) -> str | None:
        """The command of a shell call."""
        if self.tool_kind != "shell":
            return None
        given = self.input.get("command")
        if isinstance(given, str):
            return given
        if isinstance(given, list) and all(isinstance(word, str) for word in given):
            return " ".join(given)
        return self.title if self.title and self.title != self.name else None

    @property
    def given(self) -> dict[str, object]:
        """Its input; where the agent does not show it, what can be seen of it."""
        if self.input:
            return self.input
        seen: dict[str, object] = {"command": self.command} if self.command else {}
        if self.title and not seen:
            seen["title"] = self.title
        if self.paths:
            seen["paths"] = list(self.paths)
        if self.diff:
            seen["diff"] = self.diff
        return seen


def call_of(known: Known) -> ToolCall:
    """The call as it is told."""
    name, command, cwd = known.tool_name, known.command, known.input.get("cwd")
    argv = known.input.get("command")
    server, _, tool = name.removeprefix("mcp__").partition("__")
    is_mcp = known.tool_kind == "mcp" and bool(server and tool)
    return ToolCall(
        call_id=known.call_id,
        name=name,
        kind=known.tool_kind,
        input=known.given,
        argv=[str(word) for word in argv] if isinstance(argv, list) else ["bash", "-c", command] if command else None,
        cwd=cwd if isinstance(cwd, str) else None,
        mcp_server=server if is_mcp else None,
        mcp_tool=tool if is_mcp else None,
    )


def question_of(question_id: str, known: Known) -> Question:
    """What the agent wants to be decided."""
    command, kind = known.command, known.tool_kind
    about = command or known.title or next(iter(known.paths), "")
    return Question(
        question_id=question_id,
        tool_call_id=known.call_id or None,
        tool_name=known.tool_name,
        tool_kind=kind,
        summary=line(f"{known.tool_name}: {about}" if about and about != known.tool_name else known.tool_name),
        reason=line(known.about) or "the agent asks before it does this",
        input=known.given,
        effects=_EFFECTS.get(kind, _ANYTHING),
        paths=list(dict.fromkeys([*known.changes, *known.paths])),
        argv_text=command,
        fixed=True,
    )


def was_refused(known: Known) -> bool:
    """Whether a call that was asked about, and that failed, says that it was not allowed."""
    return known.status == "failed" and _REFUSED.search(_returned(known)[:4096]) is not None


def was_stopped(known: Known, *, is_cancelling: bool = False) -> bool:
    """Whether a call says that somebody stopped it. Some call that completed."""
    metadata = known.output.get("metadata") if isinstance(known.output, dict) else None
    if isinstance(metadata, dict) and metadata.get("interrupted") is True:
        return True
    words = _returned(known)[:4096]
    if known.status == "failed" or is_cancelling:
        return _STOPPED.search(words) is not None
    return words.startswith(_CANCELLED)


def printed(known: Known) -> str:
    """What a command has printed so far."""
    text = known.text
    return "" if text == _NOTHING else text


def ending_of(known: Known, cancelled: Cancelled | None) -> ToolEnding:
    """How a call ended."""
    exit_code = _exit_code(known.output)
    is_stopped = was_stopped(known, is_cancelling=cancelled is not None)
    if is_stopped or (known.status == "failed" and cancelled is not None):
        by = cancelled or Cancelled()
        return ToolEnding(outcome="cancelled", by=by.by, message=by.reason, exit_code=exit_code)
    has_failed = known.status == "failed" or bool(exit_code)
    outcome: Literal["completed", "failed"] = "failed" if has_failed else "completed"
    output = printed(known) if known.tool_kind == "shell" else _returned(known)
    return ToolEnding(
        outcome=outcome,
        output=output,
        exit_code=exit_code,
        message=_why(exit_code, output) if has_failed else "",
        summary=known.title if known.tool_kind == "edit" and not has_failed else "",
        truncated=_is_truncated(known.output),
    )


def _why(exit_code: int | None, output: str) -> str:
    return f"exited with status {exit_code}" if exit_code else line(output)


def _returned(known: Known) -> str:
    """What a call returned, as text."""
    text = known.text
    if text:
        return text
    output = known.output
    if isinstance(output, dict):
        output = next((output[key] for key in ("error", "output", "message") if key in output), None)
    return output if isinstance(output, str) else ""


def _inner(output: object) -> list[Mapping[str, object]]:
    if not isinstance(output, dict):
        return []
    metadata = output.get("metadata")
    return [output, metadata] if isinstance(metadata, dict) else [output]


def _exit_code(output: object) -> int | None:
    """The exit status, under any of the names that agents have for it."""
    for where in _inner(output):
        for key in ("exit", "exit_code", "exitCode"):
            found = where.get(key)
            if type(found) is int and abs(found) < 2**31:
                return found
    return None


def _is_truncated(output: object) -> bool:
    return any(where.get("truncated") is True for where in _inner(output))


def _words(part: wire.ToolContent) -> str:
    content = part.content
    if content is None:
        return ""
    return content.text or (content.resource.text if content.resource else "") or content.uri or ""


def _diff(part: wire.ToolContent) -> str:
    old, new = part.old_text or "", part.new_text
    if len(old) + len(new) > _DIFF_MAX or old.count("\n") + new.count("\n") > _DIFF_LINES_MAX:
        return f"{part.path}: {len(old)} characters became {len(new)}"
    name = part.path.lstrip("/")
    before = "/dev/null" if part.old_text is None else f"a/{name}"
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), before, f"b/{name}", lineterm="")
    return "\n".join(lines)
