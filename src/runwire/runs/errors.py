"""What can be wrong with a task, a run or a decision about one. Leaves of the tree in `runwire.errors`."""

from collections.abc import Sequence

from runwire.errors import Conflict, InvalidContent, NotFound


class SessionNotFound(NotFound):
    """No such session."""

    code = "session_not_found"
    hint = "a session is made by the first task that names it"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"there is no session {session_id[:64]}", details={"session_id": session_id[:64]})


class ApprovalNotFound(NotFound):
    """No such approval."""

    code = "approval_not_found"
    hint = "`runwire approvals` lists those that wait"

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"there is no approval {approval_id[:64]}", details={"approval_id": approval_id[:64]})


class PermissionNotFound(NotFound):
    """No such standing permission."""

    code = "permission_not_found"
    hint = "GET /hecate/v1/permissions lists those that stand"

    def __init__(self, permission_id: str) -> None:
        super().__init__(f"there is no permission {permission_id[:64]}", details={"permission_id": permission_id[:64]})


class CheckpointNotFound(NotFound):
    """No such checkpoint in that run."""

    code = "checkpoint_not_found"
    hint = "`run.checkpoint_saved` events carry the ids"

    def __init__(self, checkpoint_id: str) -> None:
        super().__init__(f"there is no checkpoint {checkpoint_id[:64]}", details={"checkpoint_id": checkpoint_id[:64]})


class TaskInvalid(InvalidContent):
    """The task makes no sense as it was described."""

    code = "task_invalid"
    hint = "say what is to be done: a prompt for an agent, an input for shell, git and file"

    def __init__(self, problem: str, *, field: str = "") -> None:
        super().__init__(problem, details={"field": field} if field else None)


class AgentUnknown(InvalidContent):
    """No agent of that name."""

    code = "agent_unknown"
    hint = "GET /hecate/v1/agents lists the agents there are; `[agents.NAME]` in config.toml adds one"

    def __init__(self, agent: str, *, known: Sequence[str] = ()) -> None:
        hint = f"there are {', '.join(known)}; `[agents.NAME]` in config.toml adds one" if known else ""
        super().__init__(f"there is no agent {agent[:64]!r}", hint=hint, details={"agent": agent[:64]})


class ModelUnknown(InvalidContent):
    """No model of that name can be called."""

    code = "model_unknown"
    hint = "name it provider:name, such as anthropic:claude-sonnet-4-5, and configure the provider"

    def __init__(self, model: str, problem: str = "") -> None:
        super().__init__(
            f"there is no model {model[:128]!r}{problem and ': '}{problem}", details={"model": model[:128]}
        )


class PriceUnknown(InvalidContent):
    """The model has no known price, so a budget could not be kept."""

    code = "price_unknown"
    hint = "leave the budget out, or choose a model whose price is known"

    def __init__(self, model: str) -> None:
        super().__init__(f"the price of {model[:128]!r} is not known", details={"model": model[:128]})


class BudgetLowered(InvalidContent):
    """A budget can be raised, never lowered."""

    code = "budget_lowered"
    hint = "send the present budget or more, or leave it out"

    def __init__(self, given: int, *, current: int) -> None:
        message = f"a budget of {given} is below the present {current}"
        super().__init__(message, details={"given": given, "current": current})


class NotResumable(InvalidContent):
    """The run cannot be taken up from there."""

    code = "not_resumable"
    hint = "retry starts the task anew instead"

    def __init__(self, problem: str) -> None:
        super().__init__(problem)


class NotSteerable(InvalidContent):
    """The run listens to nobody: its kind calls no model."""

    code = "not_steerable"
    hint = "cancel it, or start another run"

    def __init__(self, run_id: str, *, kind: str) -> None:
        super().__init__(f"{run_id} is of kind {kind}, which takes no messages", details={"run_id": run_id})


class EditDenied(InvalidContent):
    """The edited input is not allowed by policy."""

    code = "edit_denied"
    hint = "edit it otherwise, or deny the call"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the edited input is not allowed: {reason}")


class ClaimLost(Conflict):
    """Another was faster: the run is not as it was when this was decided."""

    code = "claim_lost"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} has moved on", details={"run_id": run_id})


class ChildRefused(InvalidContent):
    """The run may not start another for a part of its work."""

    code = "child_refused"
    hint = "ask for run.child_started and run.child_finished in `experimental`"
