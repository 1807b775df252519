"""Changes to files as patches: proposed, then applied or rejected, then perhaps reverted. The diff is in the artifact.

A patch that creates a file (`tool.file_write.proposed`) is applied, rejected and reverted by `tool.edit.*` too.
"""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Payload


class EditProposed(Payload):
    """A tool wants to change a file that exists."""

    type: ClassVar[str] = "tool.edit.proposed"

    tool_call_id: str
    path: str
    patch_artifact_id: str
    summary: Annotated[str, Meta(description="One line for a person, such as 1 hunk, +1/-1 line.")]
    auto_apply: Annotated[bool, Meta(description="Whether it is applied without waiting for a person.")]


class EditApplied(Payload):
    """The patch is now in the workspace."""

    type: ClassVar[str] = "tool.edit.applied"

    tool_call_id: str
    patch_artifact_id: str
    applied_at: str
    applied_by: Annotated[str | UnsetType, Meta(description="Who applied it, when a person did.")] = UNSET


class EditRejected(Payload):
    """A person refused the patch; the workspace is untouched."""

    type: ClassVar[str] = "tool.edit.rejected"

    patch_artifact_id: str
    rejected_by: str
    reason: str = ""
    tool_call_id: str | UnsetType = UNSET


class EditReverted(Payload):
    """An applied patch was taken back."""

    type: ClassVar[str] = "tool.edit.reverted"

    patch_artifact_id: str
    reverted_by: str
    reason: str = ""
    tool_call_id: str | UnsetType = UNSET
    inverse_artifact_id: Annotated[str | UnsetType, Meta(description="The patch that undid it.")] = UNSET


class MultiEditProposed(Payload):
    """A tool wants to change several files, all or none."""

    type: ClassVar[str] = "tool.multi_edit.proposed"

    tool_call_id: str
    paths: list[str]
    patch_artifact_ids: list[str]
    summary: Annotated[str, Meta(description="One line for a person.")]
    auto_apply: Annotated[bool, Meta(description="Whether they are applied without waiting for a person.")]


class MultiEditApplied(Payload):
    """All patches of the batch are now in the workspace."""

    type: ClassVar[str] = "tool.multi_edit.applied"

    tool_call_id: str
    patch_artifact_ids: list[str]
    applied_at: str
    applied_by: Annotated[str | UnsetType, Meta(description="Who applied them, when a person did.")] = UNSET


class MultiEditRejected(Payload):
    """A person refused the whole batch; the workspace is untouched."""

    type: ClassVar[str] = "tool.multi_edit.rejected"

    patch_artifact_ids: list[str]
    rejected_by: str
    reason: str = ""
    tool_call_id: str | UnsetType = UNSET


class MultiEditReverted(Payload):
    """The whole applied batch was taken back."""

    type: ClassVar[str] = "tool.multi_edit.reverted"

    patch_artifact_ids: list[str]
    reverted_by: str
    reason: str = ""
    tool_call_id: str | UnsetType = UNSET
    inverse_artifact_ids: Annotated[list[str] | UnsetType, Meta(description="The patches that undid them.")] = UNSET
