"""gemini-cli: `-o stream-json`, one JSON object a line, told apart by `type`; and `--acp`, which is the Agent Client Protocol.

With stream-json there is nobody to talk to: one prompt a process, and permission is never asked for. The model's thoughts, the
exit status of a command and the end of a message are not shown; a turn ends when its tools have, for their results come together.
A stream without a `result` was cut off, whatever the exit status says.
"""

import re
from collections.abc import Callable

import msgspec

from runwire.agents import glasspane as gp
from runwire.agents.catalogue import make_dialect
from runwire.agents.choosing import Choosing, is_rpc
from runwire.agents.dialect import Dialect, Outcome, Seen, StreamEnd, Telling, Usage
from runwire.agents.gemini import lines as wire
from runwire.agents.hearing import hear
from runwire.agents.money import count
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, ToolEnding
from runwire.host import Failed, Finished
from runwire.protocol.events.todo import Todo, TodoWriteUpdated

_KINDS = {
    "run_shell_command": "shell",
    "read_file": "file",
    "read_many_files": "file",
    "write_file": "edit",
    "replace": "edit",
    "edit": "edit",
    "list_directory": "search",
    "glob": "search",
    "grep_search": "search",
    "search_file_content": "search",
    "google_web_search": "web",
    "web_fetch": "web",
    "write_todos": "todo",
}
_CODE = re.compile(r'"code":\s*(\d{3})\b')
_STEPS = re.compile(r"TurnLimit|max(?:imum)? (?:session )?turns|maximum number of (?:session )?turns", re.IGNORECASE)
_RETRIABLE = frozenset({408, 409, 425, 429})

_DECODER: "msgspec.json.Decoder[object]" = msgspec.json.Decoder(wire.AnyLine)


def gemini(telling: Telling) -> Dialect:
    """A dialect for either of the two that gemini-cli writes."""
    return Choosing(telling, [(is_rpc, _acp)], GeminiDialect)


def _acp(telling: Telling) -> Dialect:
    return make_dialect("acp", telling)


class GeminiDialect:
    """Understands stream-json."""

    def __init__(self, telling: Telling) -> None:
        self.teller = Teller(telling)
        self._is_speaking = False
        """Whether the model is in the middle of a message."""
        self._fault = ""

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:  # noqa: ARG002 - lines have no names
        """Take one line."""
        return hear(self, _DECODER, _HEARD, data, at_ns)

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over."""
        self.teller.begin_frame(at_ns)
        return self.teller.end(end)

    def _init(self, message: wire.Init) -> Seen:
        self.teller.leg_begins()
        self._is_speaking, self._fault = False, ""
        self.teller.model = message.model or self.teller.model
        self.teller.provider = "google"
        return _INIT

    def _message(self, message: wire.Message) -> Seen:
        if message.role == "user":
            self.teller.user(message.content)
            return _USER
        if message.role != "assistant":
            self.teller.unknown("role", message.role)
            return _ASIDE
        first = not self._is_speaking
        opens = not self.teller.is_in_turn
        self._is_speaking = True
        if opens:
            self.teller.turn_begins()
        self.teller.text(message.content)
        if first:
            return _FIRST_OF_TURN if opens else _FIRST
        return _MORE

    def _tool_use(self, message: wire.ToolUse) -> Seen:
        spoke, self._is_speaking = self._is_speaking, False
        opens = not self.teller.is_in_turn
        if opens:
            self.teller.turn_begins()
        self.teller.tool_begins(_call(message.tool_id, message.tool_name, message.parameters))
        return _TOOL_USE_FIRST if opens else _TOOL_USE_AFTER_TEXT if spoke else _TOOL_USE

    def _tool_result(self, message: wire.ToolResult) -> Seen:
        teller = self.teller
        call = teller.tools.call(message.tool_id) or _call(message.tool_id, message.tool_id.partition("__")[0], None)
        if not teller.tools.is_open(call.call_id):
            teller.tool_begins(call)
        failed = message.status != "success"
        if failed and message.status != "error":
            teller.unknown("status of a result", message.status)
        if call.kind == "todo" and not failed:
            todos = _todos(call)
            if todos:
                teller.say(TodoWriteUpdated(tool_call_id=call.call_id, todos=todos))
        fault = message.error or wire.Fault()
        teller.tool_ends(
            call.call_id,
            ToolEnding(
                outcome="failed" if failed else "completed",
                output=message.output,
                code=fault.type,
                message=fault.message if failed else "",
            ),
        )
        if teller.tools.open:
            return _TOOL_RESULT
        self._is_speaking = False
        teller.turn_ends("tool_use")
        return _TOOL_RESULT_LAST

    def _error(self, message: wire.Error) -> Seen:
        if message.severity == "warning":
            self.teller.upstream(message.message, status=_status(message.message), retriable=True)
            return _WARNING
        if message.severity not in {"error", ""}:
            self.teller.unknown("severity", message.severity)
            return _WARNING
        self._fault = message.message or "the agent failed"
        if not self.teller.is_in_turn:
            self.teller.turn_begins()
        self.teller.upstream(self._fault, status=_status(self._fault), retriable=_passes(self._fault))
        return _ERROR

    def _result(self, message: wire.Result) -> Seen:
        teller = self.teller
        names = [gp.MESSAGE_END] if self._is_speaking else []
        names += [gp.TURN_END] if teller.is_in_turn else []
        self._is_speaking = False
        if message.status == "success":
            self._use(message.stats)
            if teller.is_in_turn and teller.outcome is None:
                teller.final()
            teller.leg_ends(Finished(teller.words.said[:200]))
            return Seen("result", (*names, gp.AGENT_END))
        if message.status != "error":
            teller.unknown("status of a run", message.status)
        if not teller.is_in_turn:
            teller.turn_begins()
        self._use(message.stats)
        teller.leg_ends(self._failure(message.error))
        return Seen("result", (*names, gp.ERROR, gp.AGENT_END))

    def _failure(self, fault: wire.Fault | None) -> Failed:
        told = fault.message if fault is not None else ""
        message = told or self._fault or "the agent says that it failed"
        if fault is not None and (_STEPS.search(fault.type) or _STEPS.search(message)):
            return Failed("max_steps", message)
        retriable = _passes(message)
        if not self._fault:
            self.teller.upstream(message, status=_status(message), retriable=retriable)
        return Failed("model_error", message, retriable=retriable)

    def _use(self, stats: wire.Stats | None) -> None:
        """The stats are those of the whole session, so they stand with its last turn."""
        if stats is None:
            return
        used = Usage(
            input_tokens=count(stats.input_tokens),
            output_tokens=count(stats.output_tokens),
            cached_input_tokens=count(stats.cached),
        )
        if used.input_tokens or used.output_tokens:
            self.teller.use(used)


def _call(call_id: str, name: str, parameters: object) -> ToolCall:
    given: dict[str, object] = parameters if isinstance(parameters, dict) else {}
    server, _, tool = name.removeprefix("mcp_").partition("_") if name.startswith("mcp_") else ("", "", "")
    kind = "mcp" if server and tool else _KINDS.get(name, "tool")
    command, folder = given.get("command"), given.get("dir_path")
    return ToolCall(
        call_id=call_id,
        name=name,
        kind=kind,
        input=given,
        argv=["bash", "-c", command] if kind == "shell" and isinstance(command, str) else None,
        cwd=folder if kind == "shell" and isinstance(folder, str) and folder else None,
        mcp_server=server if kind == "mcp" else None,
        mcp_tool=tool if kind == "mcp" else None,
    )


def _todos(call: ToolCall) -> list[Todo]:
    """The list that a call wrote, as far as it is one."""
    given = call.input.get("todos")
    found: list[Todo] = []
    for one in given if isinstance(given, list) else []:
        content = one.get("description") if isinstance(one, dict) else None
        status = one.get("status") if isinstance(one, dict) else None
        if isinstance(content, str) and isinstance(status, str):
            found.append(Todo(content=content, status=status))
    return found


def _passes(message: str) -> bool:
    """Whether the same might work another time."""
    status = _status(message)
    return status is None or status in _RETRIABLE or status >= 500


def _status(message: str) -> int | None:
    """The HTTP status that an error of the provider tells."""
    found = _CODE.search(message)
    return int(found[1]) if found and 400 <= int(found[1]) < 600 else None


_INIT = Seen("init")
_USER = Seen("message", (gp.MESSAGE_UPDATE,))
_ASIDE = Seen("message")
_FIRST_OF_TURN = Seen("message", (gp.TURN_START, gp.MESSAGE_START, gp.MESSAGE_UPDATE))
_FIRST = Seen("message", (gp.MESSAGE_START, gp.MESSAGE_UPDATE))
_MORE = Seen("message", (gp.MESSAGE_UPDATE,))
_TOOL_USE_FIRST = Seen("tool_use", (gp.TURN_START, gp.TOOL_START))
_TOOL_USE_AFTER_TEXT = Seen("tool_use", (gp.MESSAGE_END, gp.TOOL_START))
_TOOL_USE = Seen("tool_use", (gp.TOOL_START,))
_TOOL_RESULT = Seen("tool_result", (gp.TOOL_END,))
_TOOL_RESULT_LAST = Seen("tool_result", (gp.TOOL_END, gp.TURN_END))
_WARNING = Seen("error")
_ERROR = Seen("error", (gp.ERROR,))

_HEARD: dict[type, Callable[..., Seen]] = {
    wire.Init: GeminiDialect._init,
    wire.Message: GeminiDialect._message,
    wire.ToolUse: GeminiDialect._tool_use,
    wire.ToolResult: GeminiDialect._tool_result,
    wire.Error: GeminiDialect._error,
    wire.Result: GeminiDialect._result,
}
