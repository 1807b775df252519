"""What pi writes: one JSON object a line, told apart by `type`.

Only what is needed is declared. The rest is passed over without being built: older versions repeat the whole message with every
piece of it, so that a transcript grows with the square of what was said.
"""

import msgspec
from msgspec import Struct

BLOCKS = frozenset({"text", "thinking", "toolCall", "image"})
"""The parts that a message has, or what a tool returned."""
PIECES = frozenset({"start", "text_start", "thinking_start", "toolcall_delta", "toolcall_end", "done", "error"})
"""Pieces of a message that tell nothing which is not told otherwise."""
ROLES = frozenset({"system", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary"})
"""Who else has messages in a session, beside a person and the model."""


class Part(Struct, rename="camel"):
    """A part of what a tool returned."""

    type: str = ""
    text: str = ""
    data: str = ""
    mime_type: str = ""


class Block(Struct):
    """A part of a message."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    arguments: object = None


class Cost(Struct):
    """Dollars."""

    total: int | float | None = None


class Usage(Struct, rename="camel"):
    """Tokens and money of one call of the model."""

    input: int | float = 0
    output: int | float = 0
    cache_read: int | float = 0
    cache_write: int | float = 0
    cost: Cost | None = None


class Opening(Struct):
    """A message that begins."""

    role: str = ""
    model: str | None = None
    provider: str | None = None


class Closing(Struct, rename="camel"):
    """A message that is whole."""

    role: str = ""
    content: str | list[Block] = []
    usage: Usage | None = None
    stop_reason: str | None = None
    error_message: str | None = None


class Stopped(Struct, rename="camel"):
    """Why the message of a turn ended."""

    stop_reason: str | None = None
    error_message: str | None = None


class Piece(Struct, rename="camel"):
    """What is new in a message."""

    type: str = ""
    content_index: int = 0
    delta: str = ""


class Truncation(Struct, rename="camel"):
    """How much of an output is shown: its end."""

    truncated: bool = False
    total_bytes: int = 0


class Details(Struct):
    """More about what a tool returned."""

    truncation: Truncation | None = None


class Structured(Struct):
    """What a tool returned, for programs."""

    exit_code: int | None = None
    output: str | None = None
    truncated: bool = False


class Result(Struct, rename="camel"):
    """What a tool returned, or all of it so far."""

    content: list[Part] = []
    details: msgspec.Raw = msgspec.Raw(b"null")
    structured_content: msgspec.Raw = msgspec.Raw(b"null")


class Line(Struct, tag_field="type", rename="camel"):
    """One line."""


class Session(Line, tag="session"):
    """The session; the first line where there is no talking."""


class AgentStart(Line, tag="agent_start"):
    """Work on a prompt begins, or begins again."""


class AgentEnd(Line, tag="agent_end"):
    """It stops working, perhaps only to begin again."""

    will_retry: bool | None = None
    """None from versions that do not say."""


class AgentSettled(Line, tag="agent_settled"):
    """Work on the prompt is over."""

    aborted: bool = False


class TurnStart(Line, tag="turn_start"):
    """The model is about to be called."""


class TurnEnd(Line, tag="turn_end"):
    """The model has answered and its tools have run."""

    message: Stopped = msgspec.field(default_factory=Stopped)


class MessageStart(Line, tag="message_start"):
    """A message begins."""

    message: Opening = msgspec.field(default_factory=Opening)


class MessageUpdate(Line, tag="message_update"):
    """The model's message goes on."""

    assistant_message_event: Piece = msgspec.field(default_factory=Piece)


class MessageEnd(Line, tag="message_end"):
    """A message is whole."""

    message: Closing = msgspec.field(default_factory=Closing)


class ToolStart(Line, tag="tool_execution_start"):
    """A tool begins."""

    tool_call_id: str = ""
    tool_name: str = ""
    args: object = None


class ToolUpdate(Line, tag="tool_execution_update"):
    """All that a tool has returned so far, or the end of it."""

    tool_call_id: str = ""
    tool_name: str = ""
    partial_result: Result | None = None


class ToolEnd(Line, tag="tool_execution_end"):
    """A tool ended."""

    tool_call_id: str = ""
    tool_name: str = ""
    result: Result | None = None
    is_error: bool = False
    duration_ms: int | float | None = None


class RetryStart(Line, tag="auto_retry_start"):
    """It will try again in a while."""

    attempt: int = 0
    max_attempts: int = 0
    error_message: str = ""


class RetryEnd(Line, tag="auto_retry_end"):
    """It tries no more."""

    success: bool = False
    attempt: int = 0
    final_error: str = ""


class CompactionStart(Line, tag="compaction_start"):
    """The conversation is being shortened."""

    reason: str = ""


class CompactionEnd(Line, tag="compaction_end"):
    """The conversation was shortened, or not."""

    will_retry: bool = False
    error_message: str = ""


class QueueUpdate(Line, tag="queue_update"):
    """What people have said and the model has not heard yet."""


class EntryAppended(Line, tag="entry_appended"):
    """The session's file has grown."""


class ThinkingLevelChanged(Line, tag="thinking_level_changed"):
    """How much the model thinks."""


class SessionInfoChanged(Line, tag="session_info_changed"):
    """The session has another name."""


class SummaryRetry(Line, tag="summarization_retry_scheduled"):
    """Shortening the conversation failed and will be tried again."""


class SummaryAttempt(Line, tag="summarization_retry_attempt_start"):
    """It is tried again."""


class SummaryDone(Line, tag="summarization_retry_finished"):
    """It is tried no more."""


class BashUpdate(Line, tag="bash_execution_update"):
    """A command that a person runs has printed something."""


class ExtensionError(Line, tag="extension_error"):
    """An extension failed."""


class ExtensionUi(Line, tag="extension_ui_request"):
    """An extension shows something, or asks."""

    id: str = ""
    method: str = ""
    title: str = ""
    message: str = ""
    options: list[str] = []
    placeholder: str = ""
    prefill: str = ""


class Response(Line, tag="response"):
    """The answer to a command."""

    id: str | int | None = None
    command: str = ""
    success: bool = False
    error: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


class Taken(Struct):
    """What became of a prompt."""

    disposition: str = ""
    """`handled` when an extension took it, so that no model is asked."""


class Model(Struct):
    """A model, as its owner names it."""

    id: str | None = None
    provider: str | None = None


class State(Struct, rename="camel"):
    """What pi is doing."""

    model: Model | None = None
    is_streaming: bool = False
    is_compacting: bool = False


Message = (
    Session
    | AgentStart
    | AgentEnd
    | AgentSettled
    | TurnStart
    | TurnEnd
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolStart
    | ToolUpdate
    | ToolEnd
    | RetryStart
    | RetryEnd
    | CompactionStart
    | CompactionEnd
    | QueueUpdate
    | EntryAppended
    | ThinkingLevelChanged
    | SessionInfoChanged
    | SummaryRetry
    | SummaryAttempt
    | SummaryDone
    | BashUpdate
    | ExtensionError
    | ExtensionUi
    | Response
)
