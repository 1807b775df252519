"""What `gemini -o stream-json` writes: one JSON object a line, told apart by `type`."""

from msgspec import Struct


class Fault(Struct):
    """What went wrong."""

    type: str = ""
    message: str = ""


class Stats(Struct):
    """What the whole session has used. The input counts what was read from a cache."""

    input_tokens: int | float = 0
    output_tokens: int | float = 0
    cached: int | float = 0


class Line(Struct, tag_field="type"):
    """One line."""


class Init(Line, tag="init"):
    """The session begins."""

    session_id: str = ""
    model: str | None = None


class Message(Line, tag="message"):
    """What a person said, or a piece of what the model says."""

    role: str = ""
    content: str = ""


class ToolUse(Line, tag="tool_use"):
    """A tool begins."""

    tool_name: str = ""
    tool_id: str = ""
    parameters: object = None


class ToolResult(Line, tag="tool_result"):
    """A tool ended."""

    tool_id: str = ""
    status: str = ""
    output: str | None = None
    error: Fault | None = None


class Error(Line, tag="error"):
    """Something went wrong; it need not be the end."""

    severity: str = ""
    message: str = ""


class Result(Line, tag="result"):
    """The end."""

    status: str = ""
    error: Fault | None = None
    stats: Stats | None = None


AnyLine = Init | Message | ToolUse | ToolResult | Error | Result
"""Any line."""
