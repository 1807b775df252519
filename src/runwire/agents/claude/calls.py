"""The tools of Claude Code: what kind each is, what a question about one says, and how a result tells that it ended."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from runwire.agents.claude import lines as wire
from runwire.agents.dialect import Question
from runwire.agents.tools import ToolCall, ToolEnding, line
from runwire.host import Effects
from runwire.protocol.events.todo import Todo, TodoWriteUpdated

_KINDS = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Read": "file",
    "NotebookRead": "file",
    "Write": "edit",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "TodoWrite": "todo",
    "Task": "agent",
    "Agent": "agent",
}
_EFFECTS: Mapping[str, Effects] = {
    "shell": frozenset({"reads", "writes", "executes"}),
    "edit": frozenset({"writes"}),
    "file": frozenset({"reads"}),
    "search": frozenset({"reads"}),
    "web": frozenset({"network"}),
    "todo": frozenset(),
    "agent": frozenset({"executes"}),
    "mcp": frozenset({"executes", "network"}),
}
_ANYTHING: Effects = frozenset({"reads", "writes", "executes"})
_CHOICE = "AskUserQuestion"
_PATHS = ("file_path", "path", "notebook_path")
_EXIT = re.compile(r"Exit code (\d{1,9})(?:\n|\Z)")
_RAN = ("Exit code ", "<tool_use_error>", "Command timed out")
_TIMED_OUT = re.compile(r"\bCommand timed out after ")
_PRINTED = msgspec.json.Decoder(wire.Printed)


def call_of(call_id: str, name: str, given: Mapping[str, object], cwd: str | None = None) -> ToolCall:
    """A call as the model asks for it."""
    server, tool = _mcp(name)
    kind = "mcp" if server else _KINDS.get(name, "tool")
    command, timeout = given.get("command"), given.get("timeout")
    return ToolCall(
        call_id=call_id,
        name=name or "unknown",
        kind=kind,
        input=given,
        argv=[name.lower(), "-c", command] if kind == "shell" and isinstance(command, str) else None,
        cwd=cwd,
        timeout_ms=timeout if type(timeout) is int and 0 <= timeout < 2**53 else None,
        mcp_server=server,
        mcp_tool=tool,
    )


def _mcp(name: str) -> tuple[str | None, str | None]:
    if not name.startswith("mcp__"):
        return None, None
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return (server, tool) if server and tool else (None, None)


def todos_of(call: ToolCall) -> TodoWriteUpdated | None:
    """The list that a call writes, if it fits."""
    found = call.input.get("todos")
    if call.kind != "todo" or not isinstance(found, list):
        return None
    try:
        todos = msgspec.convert(found, list[Todo])
    except msgspec.ValidationError:
        return None
    return TodoWriteUpdated(tool_call_id=call.call_id, todos=todos)


# Questions.


def question_of(request_id: str, request: wire.Request) -> Question:
    """What Claude Code wants to be decided."""
    call = call_of(request.tool_use_id or request_id, request.tool_name, request.input or {})
    choices = _choices(call) if call.name == _CHOICE else None
    kind: Literal["permission", "choice"] = "permission" if choices is None else "choice"
    command = call.argv[-1] if call.argv else None
    about = request.description or command or next(iter(_paths(call, None)), "")
    return Question(
        question_id=request_id,
        kind=kind,
        tool_call_id=request.tool_use_id,
        tool_name=call.name,
        tool_kind=call.kind,
        summary=line(_asked(call) or (f"{call.name}: {about}" if about else call.name)),
        reason=request.decision_reason or "Claude Code asks before it uses this tool",
        input=call.input,
        effects=_EFFECTS.get(call.kind, _ANYTHING),
        paths=_paths(call, request.blocked_path),
        hosts=_hosts(call),
        argv_text=command,
        choices=choices or (),
    )


def updated_input(question: Question, given: Mapping[str, object], *, edited: bool) -> dict[str, object]:
    """The input that an allowed call is to have."""
    if question.kind != "choice":
        return dict(given if edited else question.input)
    answer = given.get("value") if edited else None
    asked = _asked_of(question.input)
    if not isinstance(answer, str) or asked is None:
        return dict(question.input)
    return {**question.input, "answers": {asked: answer}}


def _paths(call: ToolCall, blocked: str | None) -> Sequence[str]:
    named = [call.input.get(key) for key in _PATHS]
    return list(dict.fromkeys(path for path in (*named, blocked) if isinstance(path, str) and path))


def _hosts(call: ToolCall) -> Sequence[str]:
    url = call.input.get("url") if call.kind == "web" else None
    found = re.match(r"[a-z]+://(?:[^/@]*@)?([^/:?#]+)", url) if isinstance(url, str) else None
    return [found[1]] if found else ()


def _asked(call: ToolCall) -> str:
    return (_asked_of(call.input) or "") if call.name == _CHOICE else ""


def _only(given: Mapping[str, object]) -> Mapping[str, object] | None:
    """The question of a call that asks one."""
    questions = given.get("questions")
    only = questions[0] if isinstance(questions, list) and len(questions) == 1 else None
    return only if isinstance(only, dict) else None


def _asked_of(given: Mapping[str, object]) -> str | None:
    asked = (_only(given) or {}).get("question")
    return asked if isinstance(asked, str) else None


def _choices(call: ToolCall) -> Sequence[str] | None:
    """What may be chosen; None when it is not one choice of one."""
    only = _only(call.input) or {}
    options = only.get("options")
    if not isinstance(options, list) or only.get("multiSelect") or _asked_of(call.input) is None:
        return None
    labels = [option.get("label") for option in options if isinstance(option, dict)]
    return [label for label in labels if isinstance(label, str)] or None


# Results.


@dataclass(frozen=True, slots=True)
class Returned:
    """A result as it came."""

    text: str
    is_error: bool
    images: Sequence[wire.Source]
    meta: wire.ResultMeta | None
    raw: bytes
    """What the tool itself returned, as JSON."""

    @property
    def decision(self) -> str:
        """accept or reject, where it says so."""
        found = self.meta.permission_decision if self.meta else None
        return found.decision if found else ""

    @property
    def never_ran(self) -> bool:
        """Whether it says that the call was not made. A call that was interrupted says so too."""
        return self.decision == "reject" or bool(self.meta and self.meta.non_execution_kind)

    @property
    def was_allowed(self) -> bool:
        """What was decided about a call that was asked about."""
        if self.decision or self.never_ran:
            return self.decision == "accept"
        # Older ones do not say: a denial is told in the words of whoever denied.
        return not self.is_error or self.text.startswith(_RAN)

    @property
    def was_stopped(self) -> bool:
        """Whether somebody put an end to it."""
        return self.raw == b'"User rejected tool use"' or bool(
            self.meta and self.meta.non_execution_kind == "user-rejected"
        )


def returned(block: wire.Block, message: wire.User) -> Returned:
    """What a call returned."""
    parts = [] if isinstance(block.content, str) or block.content is None else block.content
    text = block.content if isinstance(block.content, str) else "\n".join(p.text for p in parts if p.type == "text")
    return Returned(
        text=text,
        is_error=bool(block.is_error),
        images=[part.source for part in parts if part.type == "image" and part.source is not None],
        meta=next((meta for meta in message.tool_result_meta or () if meta.id == block.tool_use_id), None),
        raw=bytes(message.tool_use_result),
    )


def printed(found: Returned) -> wire.Printed | None:
    """What a command printed, apart by stream; None when that is not told."""
    if not found.raw.startswith(b"{"):
        return None
    try:
        return _PRINTED.decode(found.raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def ending_of(call: ToolCall, found: Returned, duration_ms: int | None) -> ToolEnding:
    """How a call ended."""
    outcome: Literal["completed", "failed"] = "failed" if found.is_error else "completed"
    if call.kind != "shell":
        return ToolEnding(outcome=outcome, output=_plain(found.text), duration_ms=duration_ms)
    said = printed(found)
    if said is None:
        return _by_words(found, duration_ms)
    output = "\n".join(part for part in (said.stdout, said.stderr) if part)
    goes_on = said.backgroundTaskId is not None
    exit_code = None if found.is_error or said.interrupted or goes_on else 0
    return ToolEnding(
        outcome=outcome,
        output=output,
        exit_code=exit_code,
        summary=f"exited with status {exit_code}" if exit_code is not None else line(found.text),
        truncated=said.persistedOutputPath is not None,
        duration_ms=duration_ms,
    )


def _by_words(found: Returned, duration_ms: int | None) -> ToolEnding:
    exited = _EXIT.match(found.text) if found.is_error else None
    exit_code = int(exited[1]) if exited else None
    output = found.text[exited.end() :] if exited else _plain(found.text)
    timed_out = found.is_error and _TIMED_OUT.search(output[:4096]) is not None
    return ToolEnding(
        outcome="timed_out" if timed_out else "failed" if found.is_error else "completed",
        # Words that explain why it never ran are not what it printed.
        output=output if exited or not found.is_error else None,
        message=_why(exit_code, output, timed_out=timed_out) if found.is_error else "",
        exit_code=exit_code,
        duration_ms=duration_ms,
    )


def _why(exit_code: int | None, output: str, *, timed_out: bool) -> str:
    return line(output) if exit_code is None or timed_out else f"exited with status {exit_code}"


def _plain(text: str) -> str:
    return text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
