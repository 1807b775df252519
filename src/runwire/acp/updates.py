"""What an editor is told, in the words of the Agent Client Protocol, version 1. What is left out stays as it was."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class Text(Struct, frozen=True, tag_field="type", tag="text"):
    """A text, in Markdown."""

    text: str


class Content(Struct, frozen=True, tag_field="type", tag="content"):
    """A text that a call shows."""

    content: Text


class Diff(Struct, frozen=True, tag_field="type", tag="diff", rename="camel"):
    """A change to a file: a passage before, null where there was no file, and after."""

    path: str
    old_text: str | None
    new_text: str


class Location(Struct, frozen=True, omit_defaults=True):
    """A file that a call is about."""

    path: str
    line: int | None = None


class UserSaid(Struct, frozen=True, tag_field="sessionUpdate", tag="user_message_chunk", rename="camel"):
    """What a person said."""

    content: Text
    message_id: str


class AgentSaid(Struct, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk", rename="camel"):
    """What the agent says."""

    content: Text
    message_id: str


class AgentThought(Struct, frozen=True, tag_field="sessionUpdate", tag="agent_thought_chunk", rename="camel"):
    """What the agent thinks, and what is worth knowing beside what it says."""

    content: Text
    message_id: str


class Call(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A tool call, or what has changed about it."""

    tool_call_id: str
    title: str | UnsetType = UNSET
    kind: ToolKind | UnsetType = UNSET
    status: ToolStatus | UnsetType = UNSET
    content: list[Content | Diff] | UnsetType = UNSET
    locations: list[Location] | UnsetType = UNSET
    raw_input: dict[str, object] | UnsetType = UNSET


class CallBegun(Call, frozen=True, tag_field="sessionUpdate", tag="tool_call", rename="camel", omit_defaults=True):
    """A tool call that is new."""


class CallChanged(
    Call, frozen=True, tag_field="sessionUpdate", tag="tool_call_update", rename="camel", omit_defaults=True
):
    """A tool call that was told before."""


class PlanEntry(Struct, frozen=True):
    """Something that the agent wants to do."""

    content: str
    priority: Literal["high", "medium", "low"]
    status: Literal["pending", "in_progress", "completed"]


class Plan(Struct, frozen=True, tag_field="sessionUpdate", tag="plan"):
    """All that the agent wants to do."""

    entries: list[PlanEntry]


class Cost(Struct, frozen=True):
    """Money."""

    amount: float
    currency: str = "USD"


class Used(Struct, frozen=True, tag_field="sessionUpdate", tag="usage_update"):
    """How full the conversation is, and what it has cost. A size of 0 is not known."""

    used: int
    size: int
    cost: Cost


class Titled(Struct, frozen=True, tag_field="sessionUpdate", tag="session_info_update"):
    """What the conversation is about."""

    title: str


Update = UserSaid | AgentSaid | AgentThought | CallBegun | CallChanged | Plan | Used | Titled


class Option(Struct, frozen=True, rename="camel"):
    """A way to answer a question."""

    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class Question(Struct, frozen=True, rename="camel"):
    """Whether a call may happen."""

    session_id: str
    tool_call: Call
    options: list[Option]


class Mode(Struct, frozen=True):
    """A way to work."""

    id: str
    name: str
    description: str


class Modes(Struct, frozen=True, rename="camel"):
    """The ways to work, and the one in use."""

    current_mode_id: str
    available_modes: list[Mode]


class Opened(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A conversation that can be used now. Its id is left out where it was asked for by that."""

    modes: Modes
    session_id: str | UnsetType = UNSET


class Listed(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A conversation that can be taken up."""

    session_id: str
    cwd: str
    title: str
    updated_at: str | UnsetType = UNSET


class Sessions(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Some conversations, newest first."""

    sessions: list[Listed]
    next_cursor: str | UnsetType = UNSET


class RunMeta(Struct, frozen=True, rename="camel"):
    """Where a prompt's work can be looked up, and what it has cost."""

    run_id: str
    task_id: str | None
    cost_micros_usd: int


class Answered(Struct, frozen=True, omit_defaults=True):
    """A prompt has been dealt with."""

    stop_reason: StopReason = msgspec.field(name="stopReason")
    meta: dict[str, RunMeta] | UnsetType = msgspec.field(name="_meta", default=UNSET)
