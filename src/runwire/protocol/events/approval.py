"""Decisions that block a run until someone takes them."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class ApprovalRequested(Payload):
    """The run waits for a decision."""

    type: ClassVar[str] = "approval.requested"

    approval_id: str
    tool_call_id: Annotated[str | None, Meta(description="The call in question; null when it is not about one.")]
    kind: Annotated[str, Meta(description="What is to be approved, such as shell_exec.")]
    summary: Annotated[str, Meta(description="One line for a person: what will happen if approved.")]
    policy_reason: Annotated[str, Meta(description="Why a decision is needed.")]
    expires_at: Annotated[str | UnsetType, Meta(description="When the request times out.")] = UNSET
    input: Annotated[
        dict[str, object] | UnsetType,
        Meta(description="The arguments of the call, for whoever decides to see and edit."),
    ] = UNSET
    input_digest: Annotated[
        str | UnsetType, Meta(description="A digest of the exact call; a decision is good for no other.")
    ] = UNSET
    effects: Annotated[
        list[str] | UnsetType, Meta(description="What the call would do: reads, writes, executes, network.")
    ] = UNSET


class ApprovalResolved(Payload):
    """The decision was taken. It precedes every run event that it causes."""

    type: ClassVar[str] = "approval.resolved"

    approval_id: str
    decision: Literal["approved", "denied"]
    by: Annotated[str, Meta(description="Who decided.")]
    comment: str = ""
    scope: Annotated[
        str | UnsetType, Meta(description="How far the decision reaches: once, session, task or always.")
    ] = UNSET
    edited_input: Annotated[
        dict[str, object] | UnsetType, Meta(description="The arguments to use instead of the proposed ones.")
    ] = UNSET
    stop: Annotated[bool | UnsetType, Meta(description="Whether a denial also ends the run.")] = UNSET


class ApprovalTimedOut(Payload):
    """Nobody decided in time."""

    type: ClassVar[str] = "approval.timed_out"

    approval_id: str
    after_seconds: Count
