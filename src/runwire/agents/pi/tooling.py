"""The tools of pi: of which kind they are, what they returned, and what a command printed."""

import re
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from runwire.agents.dialect import Cancelled
from runwire.agents.pi import lines as wire
from runwire.agents.tools import ToolCall, ToolEnding
from runwire.host import Effects

_KINDS = {
    "bash": "shell",
    "powershell": "shell",
    "read": "file",
    "write": "edit",
    "edit": "edit",
    "ls": "search",
    "grep": "search",
    "find": "search",
}
_SHELLS = {"bash": ("bash", "-c"), "powershell": ("powershell", "-Command")}
_EFFECTS: Mapping[str, Effects] = {
    "shell": frozenset({"reads", "writes", "executes", "network"}),
    "file": frozenset({"reads"}),
    "search": frozenset({"reads"}),
    "edit": frozenset({"writes"}),
}
_ANY: Effects = frozenset({"reads", "writes", "executes", "network"})

# What pi writes below the output of a command.
_STATUS = re.compile(
    r"(?:\A|\n\n)Command (?:exited with code (?P<code>-?\d+)|aborted|terminated without an exit code|timed out after (?P<limit>[\d.]+) seconds)\Z"
)
_NOTICE = re.compile(r"\n\n\[Showing [^\n]*\]\Z")
_NOTHING = "(no output)"
_ABORTED = re.compile(r"(?:Operation|Command) aborted\Z")
_TAIL = 64

_DETAILS: "msgspec.json.Decoder[wire.Details | None]" = msgspec.json.Decoder(wire.Details | None)
_STRUCTURED: "msgspec.json.Decoder[wire.Structured | None]" = msgspec.json.Decoder(wire.Structured | None)
_Known = TypeVar("_Known")


def call_of(call_id: str, name: str, arguments: object) -> ToolCall:
    """A call as pi tells of it. Arguments that are no object are none."""
    given: dict[str, object] = arguments if isinstance(arguments, dict) else {}
    kind = _KINDS.get(name, "tool")
    server, _, tool = name.removeprefix("mcp__").partition("__") if name.startswith("mcp__") else ("", "", "")
    command, timeout = given.get("command"), given.get("timeout")
    return ToolCall(
        call_id=call_id,
        name=name,
        kind="mcp" if tool else kind,
        input=given,
        argv=[*_SHELLS[name], command] if name in _SHELLS and isinstance(command, str) else None,
        timeout_ms=_milliseconds(timeout) if kind == "shell" else None,
        mcp_server=server if tool else None,
        mcp_tool=tool or None,
    )


def effects_of(call: ToolCall) -> Effects:
    """What a call may do; a tool that nobody knows may do anything."""
    return _EFFECTS.get(call.kind, _ANY)


def paths_of(call: ToolCall) -> tuple[str, ...]:
    """The files that a call names."""
    path = call.input.get("path")
    return (path,) if isinstance(path, str) else ()


def text_of(result: wire.Result | None) -> str:
    """The text that a tool returned."""
    if result is None:
        return ""
    return "\n".join(block.text for block in result.content if block.type == "text")


class Printing:
    """What a command has printed, of which pi shows all, or the end, again and again."""

    __slots__ = ("_size", "_tail", "has_left_out")

    def __init__(self) -> None:
        self._size = 0
        self._tail = b""
        self.has_left_out = False
        """Whether any of it was never shown."""

    def fresh(self, shown: str, total_bytes: int | None) -> tuple[int, str]:
        """How many bytes were left out since the last time, and what is new in what is shown.

        The total is that of all output, when only its end is shown.
        """
        data = shown.encode("utf-8", "replace")
        total = len(data) if total_bytes is None else max(total_bytes, len(data))
        begin = total - len(data)
        at = self._aligned(data, self._size - begin)
        skipped = max(0, begin - self._size)
        self.has_left_out = self.has_left_out or skipped > 1
        new = data[max(0, at) :]
        self._size = max(total, self._size)
        self._tail = (self._tail + new)[-_TAIL:]
        return skipped, new.decode("utf-8", "replace")

    def _aligned(self, data: bytes, at: int) -> int:
        """Where the known part ends: about `at`, for pi leaves a last line's end out of what it shows but counts it."""
        if at <= 0:
            return at
        for guess in (at, at - 1, at + 1):
            known = self._tail[-guess:] if guess < len(self._tail) else self._tail
            if guess > 0 and data[guess - len(known) : guess] == known:
                return guess
        found = data.rfind(self._tail)
        return found + len(self._tail) if found >= 0 else at


def shown_so_far(result: wire.Result | None) -> tuple[str, int | None]:
    """What an update shows of a command's output, and how many bytes there are in all if it is only the end."""
    return text_of(result), _total(result)


def printed(message: wire.ToolEnd) -> tuple[str, int | None]:
    """What a command has printed by its end, without what pi writes below it; all of it, from versions that give it whole."""
    structured = _structured(message.result)
    if structured is not None and structured.output is not None and not structured.truncated:
        return structured.output, None
    whole = text_of(message.result)
    if message.is_error and not _STATUS.search(whole):
        # It never ran: this is why not.
        return "", None
    text = _NOTICE.sub("", _STATUS.sub("", whole))
    return "" if text == _NOTHING else text, _total(message.result)


def ending_of(call: ToolCall, message: wire.ToolEnd, cancelled: Cancelled | None, *, left_out: bool) -> ToolEnding:
    """How a call ended."""
    text = text_of(message.result)
    duration = message.duration_ms
    duration_ms = int(duration) if duration is not None and 0 <= duration < 2**53 else None
    if message.is_error and (cancelled is not None or _ABORTED.search(text)):
        who = cancelled or Cancelled()
        return ToolEnding(outcome="cancelled", by=who.by, message=who.reason, duration_ms=duration_ms)
    if call.kind != "shell":
        return ToolEnding(outcome="failed" if message.is_error else "completed", output=text, duration_ms=duration_ms)
    return _ending_of_command(message, text, duration_ms, left_out=left_out)


def _ending_of_command(message: wire.ToolEnd, text: str, duration_ms: int | None, *, left_out: bool) -> ToolEnding:
    status = _STATUS.search(text)
    structured = _structured(message.result)
    code = structured.exit_code if structured is not None else None
    if code is None and status is not None and status["code"] is not None:
        code = int(status["code"])
    if code is None and not message.is_error:
        # A command that fails is an error here, so this one did not.
        code = 0
    output, _ = printed(message)
    told = status[0].strip() if status is not None else text if message.is_error else ""
    return ToolEnding(
        outcome="timed_out"
        if status is not None and status["limit"]
        else "failed"
        if message.is_error
        else "completed",
        output=output,
        exit_code=code if code is None or code >= 0 else None,
        message=told,
        summary="" if code is None else f"exited with status {code}",
        duration_ms=duration_ms,
        truncated=left_out,
    )


def _structured(result: wire.Result | None) -> wire.Structured | None:
    return None if result is None else _known(_STRUCTURED, result.structured_content)


def _total(result: wire.Result | None) -> int | None:
    details = None if result is None else _known(_DETAILS, result.details)
    if details is None or details.truncation is None or not details.truncation.truncated:
        return None
    return details.truncation.total_bytes


def _known(decoder: "msgspec.json.Decoder[_Known]", raw: msgspec.Raw) -> _Known | None:
    """What a tool tells beside its text: of any shape, so one that is not known says nothing."""
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e9:
        return None
    return round(seconds * 1000)
