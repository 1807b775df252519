"""The parts of an opencode message, which both of its own streams carry."""

from typing import Annotated

from msgspec import Meta, Struct, ValidationError, convert

from runwire.agents.dialect import Body, Usage
from runwire.agents.money import count, micros
from runwire.agents.tools import Ending, ToolCall, ToolEnding
from runwire.host import Failed
from runwire.protocol.events.todo import Todo, TodoWriteUpdated

ExitCode = Annotated[int, Meta(ge=-(2**31), lt=2**31)]
Number = int | float

_REJECTED = "rejected permission"
"""What stands in the error of a call that somebody did not allow."""

_KINDS = {
    "bash": "shell",
    "read": "file",
    "write": "edit",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "glob": "search",
    "grep": "search",
    "list": "search",
    "codesearch": "search",
    "todowrite": "todo",
    "todoread": "todo",
    "webfetch": "web",
    "websearch": "web",
}
_STOPS = {"stop": "end_turn", "tool-calls": "tool_use", "length": "max_tokens", "content-filter": "refusal"}
ENDED = frozenset({"completed", "error"})
"""The statuses of a call that is over."""
QUIET = frozenset({"patch", "compaction", "snapshot", "file", "agent", "subtask", "retry"})
"""The types of parts that tell nothing of the work, or nothing that is not told otherwise."""
_NOTE = "<bash_metadata>"
_NO_OUTPUT = "(no output)"
_CODES = {"ContextOverflowError": "context_overflow", "MessageOutputLengthError": "max_tokens"}


class Span(Struct):
    """When something began and ended, in milliseconds."""

    start: Number | None = None
    end: Number | None = None


class Metadata(Struct):
    """What a tool says beside its result."""

    exit: ExitCode | None = None
    output: object = None
    truncated: object = None


class Attachment(Struct):
    """A file that a tool returned."""

    mime: str = ""
    url: str = ""


class ToolState(Struct):
    """How far a call has come."""

    status: str = ""
    input: dict[str, object] = {}
    output: str | None = None
    title: str | None = None
    error: str | None = None
    metadata: Metadata | None = None
    attachments: list[Attachment] | None = None
    time: Span | None = None


class Cache(Struct):
    """Tokens that a cache had, or took."""

    read: Number = 0
    write: Number = 0


class Tokens(Struct):
    """Tokens of one call of the model; those of the cache are not among the input."""

    total: Number | None = None
    input: Number = 0
    output: Number = 0
    reasoning: Number = 0
    cache: Cache | None = None


class Part(Struct, rename={"session_id": "sessionID", "message_id": "messageID", "call_id": "callID"}):
    """A part of a message. Which members it has depends on its type."""

    id: str = ""
    type: str = ""
    session_id: str = ""
    message_id: str = ""
    text: str = ""
    synthetic: bool | None = None
    time: Span | None = None
    tool: str = ""
    call_id: str = ""
    state: ToolState | None = None
    reason: str | None = None
    tokens: Tokens | None = None
    cost: Number | None = None


class FaultData(Struct, rename={"status_code": "statusCode", "is_retryable": "isRetryable"}):
    """What is known about an error."""

    message: str = ""
    status_code: int | None = None
    is_retryable: bool | None = None


class Fault(Struct):
    """Why something failed."""

    name: str = ""
    data: FaultData | None = None

    @property
    def message(self) -> str:
        """What it says, or what it is called."""
        return (self.data.message if self.data is not None else "") or self.name or "the agent failed"

    @property
    def status(self) -> int | None:
        """The HTTP status, where there was one."""
        status = self.data.status_code if self.data is not None else None
        return status if status is not None and 100 <= status <= 599 else None

    @property
    def is_passing(self) -> bool:
        """Whether another attempt may succeed."""
        return bool(self.data is not None and self.data.is_retryable)

    def failure(self) -> Failed:
        """The end that it makes."""
        named = "model_error" if self.status is not None else "agent_error"
        return Failed(_CODES.get(self.name, named), self.message, retriable=self.is_passing)


class Bill:
    """What the steps of a session cost, so that rounded prices add up to the rounded sum."""

    def __init__(self) -> None:
        self._dollars = 0.0

    def usage(self, part: Part) -> Usage | None:
        """What a step has used; None when it tells of nothing."""
        cost = self._cost(part.cost)
        tokens = part.tokens or Tokens()
        cache = tokens.cache or Cache()
        cached = count(cache.read)
        used = count(tokens.input) + cached + count(cache.write)
        written = count(tokens.output)
        # Reasoning stands beside the output, unless the sum says that it is a part of it.
        if tokens.total is None or count(tokens.total) != used + written:
            written += count(tokens.reasoning)
        if not used and not written and not cost:
            return None
        return Usage(used, written, cached, cost)

    def _cost(self, dollars: Number | None) -> int:
        before = micros(self._dollars) or 0
        if dollars is not None and 0 <= dollars < 1e9:
            self._dollars += dollars
        return max(0, (micros(self._dollars) or 0) - before)


def stop_of(reason: str | None) -> str:
    """Why the model stopped, in our words."""
    return _STOPS.get(reason or "", reason or "end_turn")


def status_of(part: Part) -> str:
    """How far the call that a part is has come."""
    return part.state.status if part.state is not None else ""


def call_of(part: Part, call_id: str) -> ToolCall:
    """The call that a part is."""
    given = part.state.input if part.state is not None else {}
    command, folder, limit = given.get("command"), given.get("workdir"), given.get("timeout")
    is_shell = part.tool == "bash" and isinstance(command, str)
    return ToolCall(
        call_id=call_id,
        name=part.tool or "unknown",
        kind=_KINDS.get(part.tool, "tool"),
        input=given,
        argv=["bash", "-c", command] if is_shell and isinstance(command, str) else None,
        cwd=folder if is_shell and isinstance(folder, str) else None,
        timeout_ms=limit if is_shell and type(limit) is int and 0 < limit < 2**53 else None,
    )


def printed(text: object) -> str:
    """What a command printed, without what opencode adds to it."""
    if not isinstance(text, str) or text == _NO_OUTPUT:
        return ""
    at = text.rfind(_NOTE)
    return text if at < 0 else text[:at].removesuffix("\n\n")


def ending_of(part: Part) -> ToolEnding:
    """How the call that a part is has ended. A command that fails counts as completed there, and as failed here."""
    state = part.state or ToolState()
    told = state.metadata or Metadata()
    output = state.output or ""
    is_shell = _KINDS.get(part.tool) == "shell"
    outcome: Ending = "completed"
    code = message = ""
    if state.status == "error" or state.error:
        outcome, message = "failed", state.error or ""
        code = "permission_denied" if _REJECTED in message else ""
    elif part.tool == "invalid":
        outcome, code, message = "failed", "invalid_call", output
    elif is_shell:
        outcome = _shell_outcome(output, told.exit)
        message = f"exited with status {told.exit}" if told.exit else ""
    if is_shell:
        output = printed(output)
    return ToolEnding(
        outcome=outcome,
        output=output if state.status != "error" or output else None,
        exit_code=told.exit if is_shell else None,
        code=code,
        message=message,
        summary=_summary(state, told, is_shell=is_shell),
        duration_ms=_took(state.time),
        truncated=told.truncated is True,
    )


def refusal_of(part: Part) -> str:
    """Why a call was not allowed; nothing when it was."""
    error = (part.state.error if part.state is not None else None) or ""
    return error if _REJECTED in error else ""


def todos_of(part: Part, call_id: str) -> TodoWriteUpdated | None:
    """The list that a call writes; None when it writes none."""
    if part.tool != "todowrite" or part.state is None:
        return None
    try:
        todos = convert(part.state.input.get("todos"), list[Todo])
    except ValidationError:
        return None
    return TodoWriteUpdated(tool_call_id=call_id, todos=todos)


def bodies_of(part: Part, call_id: str) -> list[Body]:
    """The files that a call returned, as far as they came along."""
    found = (part.state.attachments if part.state is not None else None) or []
    bodies = []
    for one in found:
        head, is_whole, data = one.url.partition(";base64,")
        if is_whole and head.startswith("data:"):
            mime = one.mime or head.removeprefix("data:") or "application/octet-stream"
            bodies.append(Body(tool_call_id=call_id, mime=mime, base64=data, summary="a file that was returned"))
    return bodies


def _shell_outcome(output: str, exit_code: int | None) -> Ending:
    at = output.rfind(_NOTE)
    note = output[at:] if at >= 0 else ""
    if "User aborted" in note:
        return "cancelled"
    if "exceeding timeout" in note:
        return "timed_out"
    return "failed" if exit_code else "completed"


def _summary(state: ToolState, told: Metadata, *, is_shell: bool) -> str:
    if is_shell and told.exit is not None:
        return f"exited with status {told.exit}"
    return state.title or "" if state.status == "completed" else ""


def _took(span: Span | None) -> int | None:
    if span is None or span.start is None or span.end is None:
        return None
    took = span.end - span.start
    return int(took) if 0 <= took < 2**53 else None
