"""What an agent writes that speaks the Agent Client Protocol, version 1: JSON-RPC 2.0, one object a line.

Ids of its requests and ids of ours are counted apart and meet by chance, so a frame with a method is never an answer.
"""

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

Number = int | float | None

CONTENTS = frozenset({"text", "image", "audio", "resource_link", "resource"})
"""The types of what a message is made of."""
TOOL_CONTENTS = frozenset({"content", "diff", "terminal"})
"""The types of what a call shows."""
STATUSES = frozenset({"pending", "in_progress", "completed", "failed"})
"""How far a call can have come."""
STOPS = frozenset({"end_turn", "max_tokens", ""})
"""Why a prompt ends that has not failed."""
OFFERS = frozenset(
    {
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/release",
        "terminal/wait_for_exit",
        "terminal/kill",
    }
)
"""What a client may offer to do for an agent. We offer none of it."""


class Resource(Struct):
    """Something that is embedded."""

    uri: str = ""
    text: str = ""


class Content(Struct):
    """A part of a message."""

    type: str = ""
    text: str = ""
    data: str = ""
    mime_type: str | None = field(name="mimeType", default=None)
    uri: str | None = None
    resource: Resource | None = None


class ToolContent(Struct):
    """A part of what a call shows: content, a diff of a file, or a terminal."""

    type: str = ""
    content: Content | None = None
    path: str = ""
    old_text: str | None = field(name="oldText", default=None)
    new_text: str = field(name="newText", default="")


class Location(Struct):
    """A file that a call is about."""

    path: str = ""


class Entry(Struct):
    """One thing of a plan."""

    content: str = ""
    status: str = ""


class Cost(Struct):
    """What the session has cost so far."""

    amount: Number = None
    currency: str = ""


class Update(Struct):
    """What happens in a session. `session_update` says which; a call's fields are only those that changed."""

    session_update: str = field(name="sessionUpdate", default="")
    content: Content | list[ToolContent] | None = None
    message_id: str | None = field(name="messageId", default=None)
    call_id: str = field(name="toolCallId", default="")
    title: str | None = None
    name: str | None = None
    kind: str | None = None
    status: str | None = None
    locations: list[Location] | None = None
    raw_input: object = field(name="rawInput", default=None)
    raw_output: object = field(name="rawOutput", default=None)
    entries: list[Entry] | None = None
    cost: Cost | None = None


class Option(Struct):
    """A way to answer a question."""

    option_id: str = field(name="optionId", default="")
    kind: str = ""
    name: str = ""


class Params(Struct):
    """What a request or a notification of the agent's is about."""

    update: Update | None = None
    tool_call: Update | None = field(name="toolCall", default=None)
    options: list[Option] | None = None


class Fault(Struct):
    """Why a request failed."""

    code: Number = None
    message: str = ""
    data: object = None


class Wrapped(Struct):
    """A fault of the model's provider, handed on in words."""

    error: Fault


class Frame(Struct):
    """One line: a request, a notification, or an answer to one of ours."""

    id: int | float | str | UnsetType | None = UNSET
    method: str = ""
    params: Params | None = None
    result: msgspec.Raw | UnsetType = UNSET
    error: Fault | None = None


class Tokens(Struct):
    """What a prompt has used."""

    total_tokens: Number = field(name="totalTokens", default=None)
    input_tokens: Number = field(name="inputTokens", default=None)
    output_tokens: Number = field(name="outputTokens", default=None)
    thought_tokens: Number = field(name="thoughtTokens", default=None)
    cached_read_tokens: Number = field(name="cachedReadTokens", default=None)
    cached_write_tokens: Number = field(name="cachedWriteTokens", default=None)


class TokenCount(Struct):
    """The same in the words of Gemini, which counts what was cached as a part of the input."""

    input_tokens: Number = None
    output_tokens: Number = None


class Quota(Struct):
    """What Gemini adds."""

    token_count: TokenCount | None = None


class Meta(Struct):
    """What an agent adds to the protocol."""

    quota: Quota | None = None


class AuthMethod(Struct):
    """A way to sign in."""

    id: str = ""
    type: str = ""


class AgentInfo(Struct):
    """Who it is."""

    name: str = ""


class Setting(Struct):
    """Something that can be chosen for a session."""

    id: str = ""
    category: str | None = None
    current: object = field(name="currentValue", default=None)


class Models(Struct):
    """The models of a session."""

    current: str = field(name="currentModelId", default="")


class Result(Struct):
    """The answer to any request of ours; its fields say to which."""

    protocol_version: Number = field(name="protocolVersion", default=None)
    auth_methods: list[AuthMethod] | None = field(name="authMethods", default=None)
    agent_info: AgentInfo | None = field(name="agentInfo", default=None)
    session_id: str | None = field(name="sessionId", default=None)
    settings: list[Setting] | None = field(name="configOptions", default=None)
    models: Models | None = None
    stop_reason: str | None = field(name="stopReason", default=None)
    usage: Tokens | None = None
    meta: Meta | None = field(name="_meta", default=None)
