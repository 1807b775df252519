"""The life of any tool call, whatever its kind, and of calls to MCP servers."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload

_Output = Annotated[
    str | UnsetType,
    Meta(description="What the model is told, when that is short; otherwise the result artifact holds it."),
]


class ToolEvent(Payload):
    """What every event of a tool call's own life carries."""

    tool_call_id: Annotated[str, Meta(description="The model's own id of the call.")]
    tool_name: str
    kind: Annotated[
        str, Meta(description="shell, edit, file, search, todo, http, web, mcp, or a kind from the future.")
    ]
    mcp_server: Annotated[str | UnsetType, Meta(description="The MCP server that the call goes to.")] = UNSET
    mcp_tool: Annotated[str | UnsetType, Meta(description="The tool's name on that server.")] = UNSET


class ToolInvoked(ToolEvent):
    """The runtime accepted the call and is about to execute it."""

    type: ClassVar[str] = "tool.invoked"

    turn_index: Count
    timeout_ms: Annotated[Count | UnsetType, Meta(description="How long the call may take.")] = UNSET


class ToolStarted(ToolEvent):
    """Execution began."""

    type: ClassVar[str] = "tool.started"

    turn_index: Count | UnsetType = UNSET
    timeout_ms: Annotated[Count | UnsetType, Meta(description="How long the call may take.")] = UNSET
    input: Annotated[
        dict[str, object] | UnsetType, Meta(description="The arguments in use, where they are not the proposed ones.")
    ] = UNSET
    changed_by: Annotated[str | UnsetType, Meta(description="Who changed the arguments: an approver, or a hook.")] = (
        UNSET
    )


class ToolCompleted(ToolEvent):
    """The call succeeded. Terminal for the call."""

    type: ClassVar[str] = "tool.completed"

    duration_ms: Count
    summary: Annotated[str | UnsetType, Meta(description="One line for a person.")] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What became of an MCP call, such as dispatched.")] = UNSET
    result_artifact_id: str | UnsetType = UNSET
    output: _Output = UNSET


class ToolFailed(ToolEvent):
    """The call failed. Terminal for the call."""

    type: ClassVar[str] = "tool.failed"

    duration_ms: Count
    code: Annotated[str, Meta(description="A stable name for the cause, such as nonzero_exit.")]
    message: str
    summary: Annotated[str | UnsetType, Meta(description="One line for a person.")] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What became of an MCP call, such as failed.")] = UNSET
    result_artifact_id: str | UnsetType = UNSET
    output: _Output = UNSET


class ToolCancelled(ToolEvent):
    """The call was stopped on request. Terminal for the call."""

    type: ClassVar[str] = "tool.cancelled"

    duration_ms: Count
    by: Annotated[str, Meta(description="Who asked: operator, system, or the name of a token.")]
    reason: str = ""
    result_artifact_id: str | UnsetType = UNSET
    output: _Output = UNSET


class ToolTimedOut(ToolEvent):
    """The call ran past its time or its output cap. Terminal for the call."""

    type: ClassVar[str] = "tool.timed_out"

    duration_ms: Count
    limit: Annotated[str, Meta(description="Which limit was passed: wall_clock or output_bytes.")]
    message: str
    result_artifact_id: str | UnsetType = UNSET
    output: _Output = UNSET
