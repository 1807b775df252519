"""What can be wrong with a request to /agno beyond what can be wrong with any. Leaves of the tree in `runwire.errors`."""

from runwire.errors import Conflict, InvalidContent, NotFound


class AgentNotFound(NotFound):
    """No agent of that name."""

    code = "agent_not_found"
    hint = "GET /agno/agents lists the agents there are"

    def __init__(self, agent_id: str) -> None:
        super().__init__(f"there is no agent {agent_id[:64]!r}", details={"agent_id": agent_id[:64]})


class InvalidForm(InvalidContent):
    """A field of the form is missing or cannot be what it is."""

    code = "invalid_form"
    hint = "send a form, url-encoded or multipart; /hecate/v1/openapi.json lists its fields"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem, details={"field": field} if field else None)


class ToolCallNotPaused(InvalidContent):
    """The run does not wait for a decision about that call."""

    code = "tool_call_not_paused"
    hint = "send the tools that RunPaused named, under the ids that they have there"

    def __init__(self, tool_call_id: str, *, waiting: list[str]) -> None:
        message = f"no decision about {tool_call_id[:128]!r} is waited for"
        super().__init__(message, details={"tool_call_id": tool_call_id[:128], "waiting": waiting})


class RunNotPaused(Conflict):
    """The run waits for no decision."""

    code = "run_not_paused"
    hint = "it has been continued already, or has not paused yet; GET the run says where it stands"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} is not paused", details={"run_id": run_id})
