"""What zot writes: one JSON object a line, told apart by `type`."""

import msgspec
from msgspec import Struct


class Block(Struct):
    """A part of a message."""

    type: str = ""
    text: str = ""
    id: str = ""
    name: str = ""
    args: dict[str, object] | None = None
    mime_type: str = ""


class Line(Struct, tag_field="type"):
    """One line."""


class Response(Line, tag="response"):
    """The answer to a command."""

    command: str = ""
    success: bool = False
    error: str = ""
    id: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"null")


class UserMessage(Line, tag="user_message"):
    """A prompt, as zot took it."""

    content: list[Block] = []


class TurnStart(Line, tag="turn_start"):
    """The model is called."""

    step: int = 0


class AssistantStart(Line, tag="assistant_start"):
    """The model begins to answer."""


class TextDelta(Line, tag="text_delta"):
    """A piece of text."""

    delta: str = ""


class ToolUseStart(Line, tag="tool_use_start"):
    """The model begins to write a call."""

    id: str = ""
    name: str = ""


class ToolUseArgs(Line, tag="tool_use_args"):
    """A piece of a call's arguments."""

    id: str = ""
    delta: str = ""


class ToolUseEnd(Line, tag="tool_use_end"):
    """A call is written."""

    id: str = ""


class Totals(Struct):
    """Tokens and money since the process began."""

    cost_usd: int | float = 0


class Usage(Line, tag="usage"):
    """Tokens and money of one call of the model."""

    input: int | float = 0
    output: int | float = 0
    cache_read: int | float = 0
    cache_write: int | float = 0
    cost_usd: int | float = 0
    cumulative: Totals | None = None


class AssistantMessage(Line, tag="assistant_message"):
    """The whole answer."""

    content: list[Block] = []


class ToolCall(Line, tag="tool_call"):
    """A call that the model asks for."""

    id: str = ""
    name: str = ""
    args: dict[str, object] | None = None


class TurnEnd(Line, tag="turn_end"):
    """The model has answered, or failed to."""

    stop: str = ""
    error: str = ""


class ToolProgress(Line, tag="tool_progress"):
    """A piece of what a tool prints."""

    id: str = ""
    text: str = ""


class ToolResult(Line, tag="tool_result"):
    """How a tool ended."""

    id: str = ""
    is_error: bool = False
    content: list[Block] = []


class Error(Line, tag="error"):
    """Why the prompt failed."""

    message: str = ""


class Done(Line, tag="done"):
    """The prompt is over."""


class CompactDone(Line, tag="compact_done"):
    """The conversation was shortened."""

    summary: str = ""


class ExtNotify(Line, tag="ext_notify"):
    """A word of an extension."""

    message: str = ""


class ExtDisplay(Line, tag="ext_display"):
    """Text that an extension shows."""

    text: str = ""


Message = (
    Response
    | UserMessage
    | TurnStart
    | AssistantStart
    | TextDelta
    | ToolUseStart
    | ToolUseArgs
    | ToolUseEnd
    | Usage
    | AssistantMessage
    | ToolCall
    | TurnEnd
    | ToolProgress
    | ToolResult
    | Error
    | Done
    | CompactDone
    | ExtNotify
    | ExtDisplay
)
