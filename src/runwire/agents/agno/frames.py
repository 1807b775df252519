"""What an AgentOS sends: events told apart by `event`, and the output of a whole run, which has no such name.

An event of a team is named like that of an agent with `Team` before it, and has the same fields.
"""

import msgspec
from msgspec import Struct


class Frame(Struct):
    """What every event says about where it belongs. An event that has no more fields of interest is just this."""

    event: str = ""
    run_id: str | None = None
    parent_run_id: str | None = None
    workflow_run_id: str | None = None
    nested_depth: int | None = None
    event_index: int | None = None

    @property
    def is_childs(self) -> bool:
        """Whether it tells of a run within the run: a member's of a team, or that of a step."""
        return bool(self.parent_run_id or self.workflow_run_id or self.nested_depth)


class Started(Frame):
    """A run begins, or goes on, or calls its model."""

    model: str | None = None
    model_provider: str | None = None


class Answered(Started):
    """The model has answered."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    cache_read_tokens: float | None = None
    cache_write_tokens: float | None = None


class Content(Frame):
    """A piece of text or of reasoning; the `content` of structured answers is no text."""

    content: object = None
    reasoning_content: str | None = None


class Metrics(Struct):
    """What a run or a call has used. Zeros are left out, and some releases send an empty object."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    cache_read_tokens: float | None = None
    cache_write_tokens: float | None = None
    cost: float | None = None
    duration: float | None = None


class Tool(Struct):
    """A call."""

    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_args: object = None
    tool_call_error: bool | None = None
    result: object = None
    metrics: Metrics | None = None
    confirmed: bool | None = None
    confirmation_note: str | None = None


class ToolEvent(Frame):
    """A call begins or ends."""

    tool: Tool | None = None
    error: object = None


class Custom(Frame):
    """Something that a tool tells in its own words."""

    tool_call_id: str | None = None


class Step(Struct):
    """How a step of a workflow ended."""

    step_name: str | None = None
    success: bool | None = None
    error: object = None
    steps: "list[Step] | None" = None


class Completed(Frame):
    """A run says that it is done."""

    content: object = None
    metrics: Metrics | None = None
    step_results: list[Step] | None = None


class Stopped(Frame):
    """A run was cancelled."""

    content: object = None
    reason: str | None = None


class Broken(Frame):
    """A run failed. It may not say which."""

    content: object = None
    error: object = None
    error_type: str | None = None


class Paused(Frame):
    """A run waits for decisions. Calls are kept as they came, for they go back whole."""

    session_id: str | None = None
    content: object = None
    tools: list[dict[str, object]] | None = None
    requirements: list[dict[str, object]] | None = None
    step_requirements: list[dict[str, object]] | None = None


class StepEvent(Frame):
    """A step begins, goes on or ends."""

    step_id: str | None = None
    step_name: str | None = None


class Replay(Frame):
    """What follows was sent before, or would have been."""

    status: str | None = None
    total_events: int | None = None
    missed_events: int | None = None
    last_event_index_requested: int | None = None


class Member(Struct):
    """A run within a run, as the output of the outer one tells of it."""

    run_id: str | None = None
    tools: list[dict[str, object]] | None = None
    metrics: Metrics | None = None


class Output(Paused):
    """A whole run: the answer to a request that did not ask for a stream, and to one that asks how the run is."""

    status: str = ""
    model: str | None = None
    model_provider: str | None = None
    metrics: Metrics | None = None
    step_results: list[Step] | None = None
    input: object = None
    member_responses: list[Member] | None = None
    step_executor_runs: list[Member] | None = None
    team_id: str | None = None
    workflow_id: str | None = None


class Refusal(Frame):
    """The answer to a request that the server does not take."""

    detail: object = None


class Named(Struct):
    """What tells events apart when the framing does not."""

    event: str = ""
    status: object = None
    run_id: object = None
    detail: object = None


NAMED = msgspec.json.Decoder(Named)

OUTPUT = "RunOutput"
"""What the output of a run is called, which does not name itself."""

REFUSAL = "detail"
"""Nor does what comes instead of one."""

STATUSES = frozenset({"PENDING", "RUNNING", "COMPLETED", "PAUSED", "CANCELLED", "ERROR", "REGENERATED"})
"""How a run can stand."""

AGENT: dict[str, type[Frame]] = {
    "RunStarted": Started,
    "RunContinued": Started,
    "ModelRequestStarted": Started,
    "ModelRequestCompleted": Answered,
    "RunContent": Content,
    "RunIntermediateContent": Content,
    "RunContentCompleted": Frame,
    "ReasoningContentDelta": Content,
    "ReasoningStep": Content,
    "ReasoningStarted": Frame,
    "ReasoningCompleted": Frame,
    "ToolCallStarted": ToolEvent,
    "ToolCallCompleted": ToolEvent,
    "ToolCallError": ToolEvent,
    "RunPaused": Paused,
    "RunCompleted": Completed,
    "RunCancelled": Stopped,
    "RunError": Broken,
    "CustomEvent": Custom,
}
"""Events of agents, and with `Team` before their names of teams."""

_ASIDE = (
    "PreHookStarted",
    "PreHookCompleted",
    "PostHookStarted",
    "PostHookCompleted",
    "MemoryUpdateStarted",
    "MemoryUpdateCompleted",
    "SessionSummaryStarted",
    "SessionSummaryCompleted",
    "ParserModelResponseStarted",
    "ParserModelResponseCompleted",
    "OutputModelResponseStarted",
    "OutputModelResponseCompleted",
    "CompressionStarted",
    "CompressionCompleted",
    "FollowupsStarted",
    "FollowupsCompleted",
    "CompactionStarted",
    "CompactionCompleted",
)
AGENT.update(dict.fromkeys(_ASIDE, Frame))

TEAM: dict[str, type[Frame]] = dict.fromkeys(
    (
        "TeamTaskIterationStarted",
        "TeamTaskIterationCompleted",
        "TeamTaskStateUpdated",
        "TeamTaskCreated",
        "TeamTaskUpdated",
    ),
    Frame,
)
"""Events that only teams have; none has a counterpart."""

WORKFLOW: dict[str, type[Frame]] = {
    "WorkflowStarted": Started,
    "WorkflowPaused": Paused,
    "WorkflowCompleted": Completed,
    "WorkflowCancelled": Stopped,
    "WorkflowError": Broken,
    "StepContinued": StepEvent,
    "StepStarted": StepEvent,
    "StepCompleted": StepEvent,
    "StepExecutorContinued": StepEvent,
}
_FLOW_ASIDE = (
    "WorkflowAgentStarted",
    "WorkflowAgentCompleted",
    "StepError",
    "StepOutput",
    "StepProgress",
    "StepPaused",
    "StepExecutorPaused",
    "StepOutputReview",
    "LoopExecutionStarted",
    "LoopExecutionCompleted",
    "LoopIterationStarted",
    "LoopIterationCompleted",
    "ParallelExecutionStarted",
    "ParallelExecutionCompleted",
    "ConditionExecutionStarted",
    "ConditionExecutionCompleted",
    "ConditionPaused",
    "RouterExecutionStarted",
    "RouterExecutionCompleted",
    "RouterPaused",
    "StepsExecutionStarted",
    "StepsExecutionCompleted",
    "WorkflowRunOutput",
)
WORKFLOW.update(dict.fromkeys(_FLOW_ASIDE, Frame))

CONTROL: dict[str, type[Frame]] = {
    "replay": Replay,
    "catch_up": Replay,
    "subscribed": Frame,
    "stream_expired": Frame,
    "error": Broken,
}
"""What a stream that was taken up again says about itself."""
