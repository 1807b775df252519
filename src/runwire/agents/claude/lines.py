"""What Claude Code writes with `--output-format stream-json`: one JSON object a line, told apart by `type`.

Only what is read is named. What differs from one subtype to another is taken as it comes and looked at where it is used.
"""

import msgspec
from msgspec import Struct

Number = int | float | None

ASIDE = frozenset(
    {
        "status",
        "thinking_tokens",
        "informational",
        "compact_boundary",
        "permission_denied",
        "hook_started",
        "hook_progress",
        "hook_response",
        "task_started",
        "task_progress",
        "task_updated",
        "task_notification",
        "session_state_changed",
        "files_persisted",
        "plugin_install",
        "elicitation_complete",
    }
)
"""Subtypes of `system` that tell nothing of the work."""
QUIET_EVENTS = frozenset({"content_block_start", "ping"})
QUIET_DELTAS = frozenset({"signature_delta", "citations_delta"})
QUIET_BLOCKS = frozenset({"redacted_thinking"})
"""What of the model's own stream tells nothing that can be shown."""
SUBAGENT_BLOCKS = QUIET_BLOCKS | {"text", "thinking"}
"""What a helper says: its words end up in the result of the call that it works for."""
USER_BLOCKS = frozenset({"tool_result", "text", "image", "document"})
"""What is said for the user."""


class Usage(Struct):
    """Tokens of a call, or of several. What was read from a cache or written to one is counted beside the input."""

    input_tokens: Number = None
    cache_creation_input_tokens: Number = None
    cache_read_input_tokens: Number = None
    output_tokens: Number = None


class Source(Struct):
    """Where a picture is."""

    data: str = ""
    media_type: str = ""


class Part(Struct):
    """A part of what a tool returned."""

    type: str = ""
    text: str = ""
    source: Source | None = None


class Block(Struct):
    """A part of a message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, object] | None = None
    tool_use_id: str = ""
    content: str | list[Part] | None = None
    is_error: bool | None = None


class Message(Struct):
    """What a model or a person said."""

    id: str = ""
    model: str = ""
    content: str | list[Block] = ""
    stop_reason: str | None = None
    usage: Usage | None = None


class Line(Struct, tag_field="type"):
    """One line."""


class System(Line, tag="system"):
    """Something about the session; `subtype` says what."""

    subtype: str = ""
    model: object = None
    cwd: object = None
    attempt: object = None
    max_retries: object = None
    error_status: object = None
    error: object = None
    tool_name: object = None
    tool_use_id: object = None
    message: object = None


class Assistant(Line, tag="assistant"):
    """One finished block of what the model says. The lines of one message share its id."""

    message: Message
    parent_tool_use_id: str | None = None
    error: object = None
    is_api_error_message: bool | None = None
    api_error_status: Number = None
    aborted: bool | None = None


class Decision(Struct):
    """What was decided about a call."""

    decision: str = ""
    source: str = ""


class ResultMeta(Struct):
    """How a result came about."""

    id: str = ""
    non_execution_kind: str | None = None
    permission_decision: Decision | None = None


class User(Line, tag="user"):
    """What a tool returned, or what is said for the user."""

    message: Message
    parent_tool_use_id: str | None = None
    isSynthetic: bool | None = None  # noqa: N815 - the name on the wire
    isReplay: bool | None = None  # noqa: N815 - the name on the wire
    tool_use_result: msgspec.Raw = msgspec.Raw(b"null")
    tool_result_meta: list[ResultMeta] | None = None


class Printed(Struct):
    """What a command printed."""

    stdout: str = ""
    stderr: str = ""
    interrupted: bool = False
    persistedOutputPath: str | None = None  # noqa: N815 - the name on the wire
    backgroundTaskId: str | None = None  # noqa: N815 - the name on the wire


class Delta(Struct):
    """A piece of a block, or of a message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class Event(Struct):
    """One event of the model's own stream."""

    type: str = ""
    index: int = 0
    message: Message | None = None
    delta: Delta | None = None
    usage: Usage | None = None


class StreamEvent(Line, tag="stream_event"):
    """A piece of what the model says, as it comes."""

    event: Event
    parent_tool_use_id: str | None = None


class Request(Struct):
    """What Claude Code asks of its host."""

    subtype: str = ""
    tool_name: str = ""
    tool_use_id: str | None = None
    input: dict[str, object] | None = None
    description: str | None = None
    decision_reason: str | None = None
    blocked_path: str | None = None


class ControlRequest(Line, tag="control_request"):
    """A question to the host."""

    request_id: str
    request: Request


class ControlCancel(Line, tag="control_cancel_request"):
    """A question is withdrawn."""

    request_id: str


class Response(Struct):
    """How a request of the host's went."""

    subtype: str = ""
    request_id: str = ""
    error: str | None = None
    response: msgspec.Raw = msgspec.Raw(b"null")


class ControlResponse(Line, tag="control_response"):
    """The answer to a request of the host's."""

    response: Response


class Result(Line, tag="result"):
    """A prompt is over. `total_cost_usd` counts from the start of the process, `usage` is of this prompt."""

    subtype: str = ""
    is_error: bool = False
    result: str | None = None
    errors: list[object] | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    api_error_status: Number = None
    total_cost_usd: Number = None
    usage: Usage | None = None


class ToolProgress(Line, tag="tool_progress"):
    """A tool is still at work."""

    tool_use_id: str = ""


class RateLimit(Line, tag="rate_limit_event"):
    """How much may still be used."""


class AuthStatus(Line, tag="auth_status"):
    """Whether it is signed in."""


class KeepAlive(Line, tag="keep_alive"):
    """It is still there."""


class ToolUseSummary(Line, tag="tool_use_summary"):
    """What some calls were about."""


class PromptSuggestion(Line, tag="prompt_suggestion"):
    """What a person might say next."""


Noise = RateLimit | AuthStatus | KeepAlive | ToolUseSummary | PromptSuggestion

Any = (
    System
    | Assistant
    | User
    | StreamEvent
    | ControlRequest
    | ControlCancel
    | ControlResponse
    | Result
    | ToolProgress
    | RateLimit
    | AuthStatus
    | KeepAlive
    | ToolUseSummary
    | PromptSuggestion
)
