"""The life of a run, from the queue to its one terminal event."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class RunQueued(Payload):
    """The run has been accepted and waits for a worker."""

    type: ClassVar[str] = "run.queued"

    kind: Annotated[str, Meta(description="What the run executes: agent_loop, shell, git or file.")]
    model: Annotated[str | None, Meta(description="Null for a kind that calls no model.")]
    provider: Annotated[str | None, Meta(description="Null for a kind that calls no model.")]
    workspace_path: str | None
    workspace_mode: Annotated[str | None, Meta(description="in_place, clone, worktree or scratch.")]
    prior_run_id: Annotated[str | None, Meta(description="The run that this one retries, resumes or continues.")] = None
    agent: Annotated[str | UnsetType, Meta(description="Who does the work, such as native, claude or acp:name.")] = (
        UNSET
    )
    parent_run_id: Annotated[
        str | UnsetType, Meta(description="The run that started this one for a part of its work.")
    ] = UNSET
    input: Annotated[
        dict[str, object] | UnsetType, Meta(description="What a kind that calls no model is to execute.")
    ] = UNSET


class RunStarted(Payload):
    """A worker has claimed the run."""

    type: ClassVar[str] = "run.started"

    worker_id: str
    lease_until: Annotated[
        str | None, Meta(description="When the claim lapses unless renewed; null if it never does.")
    ] = None


class RunFinished(Payload):
    """The run succeeded. Terminal."""

    type: ClassVar[str] = "run.finished"

    final_status: str = "completed"
    turns: Count
    cost_micros_usd: Count
    duration_ms: Count


class RunFailed(Payload):
    """The run failed. Terminal."""

    type: ClassVar[str] = "run.failed"

    code: Annotated[str, Meta(description="A stable name for the cause, such as model_unreachable.")]
    message: str
    retriable: Annotated[bool, Meta(description="Whether the same run may succeed when tried again.")] = False
    turns: Count
    cost_micros_usd: Count | UnsetType = UNSET
    duration_ms: Count | UnsetType = UNSET


class RunCancelled(Payload):
    """The run was stopped on request. Terminal."""

    type: ClassVar[str] = "run.cancelled"

    by: Annotated[str, Meta(description="Who asked: operator, system, or the name of a token.")]
    reason: str = ""
    turns: Count | UnsetType = UNSET
    cost_micros_usd: Count | UnsetType = UNSET
    duration_ms: Count | UnsetType = UNSET


class RunResumedFromEvent(Payload):
    """The run takes up where another left off. Always the first event of its run."""

    type: ClassVar[str] = "run.resumed_from_event"

    from_run_id: str
    from_sequence: Annotated[Count, Meta(description="The last event of the other run that still counts.")]
    prior_cost_micros_usd: Count
    checkpoint_id: str | UnsetType = UNSET


class RunCheckpointSaved(Payload):
    """Enough state was stored to resume from this point."""

    type: ClassVar[str] = "run.checkpoint_saved"

    checkpoint_id: str
