"""Decisions that a policy took by itself."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Payload


class PolicyToolBlocked(Payload):
    """A tool call was refused; it is not invoked."""

    type: ClassVar[str] = "policy.tool_blocked"

    tool_call_id: str
    tool_name: str
    reason: str
    policy_id: Annotated[str | UnsetType, Meta(description="The rule that refused it.")] = UNSET
    kind: str | UnsetType = UNSET
    mcp_server: Annotated[str | UnsetType, Meta(description="The MCP server that the call was meant for.")] = UNSET
    mcp_tool: Annotated[str | UnsetType, Meta(description="The tool's name on that server.")] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What became of an MCP call: blocked.")] = UNSET


class PolicyModelRewrote(Payload):
    """Another model was used than the one asked for."""

    type: ClassVar[str] = "policy.model_rewrote"

    from_model: str
    to_model: str
    reason: str
