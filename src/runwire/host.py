"""What an executor sees of its run: one small protocol. It never sees the queue, the lease or the store.

The terminal `run.*` event, `run.started`, `gap.*`, `approval.*` and `run.checkpoint_saved` are written by the other side of
it. So are `policy.tool_blocked`, `tool.invoked`, `tool.started` and the terminal `tool.*` of calls that `permit` lets go; an
executor that only watches another agent tells those itself and asks by `ask`. Everything else comes from the executor.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.tool import ToolFailed
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta

# The pure parts of an executor lean on the values in here, so nothing that reaches a disk is imported at run time.
if TYPE_CHECKING:
    from pathlib import Path

    from runwire.journal.artifact import Artifact, Change, Draft, NewArtifact
    from runwire.journal.records import Effect as RowEffect
    from runwire.journal.records import Stored

Effect = Literal["reads", "writes", "executes", "network"]
Effects = frozenset[Effect]
"""What a tool does to the world; policy speaks of these, not of tools."""

Emit = Callable[..., "Awaitable[Stored]"]
"""The host's `emit`, handed on."""


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an MCP server is found: a command to start, or a URL."""

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    url: str | None = None
    headers: dict[str, str] = {}
    timeout_s: float = 120.0


class ModelRewrite(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule that replaces one model by another: `from` is a glob over `provider:name`."""

    from_: str = field(name="from")
    to: str
    reason: str = ""


class ToolSpec(Struct, frozen=True):
    """A tool as a model is told of it."""

    name: str
    about: str
    schema: Mapping[str, object]


class RunFacts(Struct, frozen=True, kw_only=True):
    """What is settled about a run before its executor begins."""

    run_id: str
    task_id: str
    session_id: str | None
    agent: str
    kind: str
    """agent_loop, shell, git or file."""
    prompt: str
    model: str | None
    input: Mapping[str, object]
    """Of kinds without a model."""
    workspace: "Path"
    workspace_mode: str
    experimental: frozenset[str]
    env: Mapping[str, str]
    timeout_s: float | None
    mcp_servers: Mapping[str, McpServer]
    rewrites: Sequence[ModelRewrite]
    auto_apply: bool
    allow_unconfined: bool
    allow_hosts: Sequence[str]
    allow_network: bool
    max_turns: int
    budget_micros_usd: int | None
    spent_before_micros_usd: int
    """By the whole task, before this run."""
    fresh: bool
    """Nothing but birth events so far."""


class Past(Struct, frozen=True):
    """One stored event, decoded. Pieces of streams are left out."""

    run_id: str
    sequence: int
    event_id: str
    occurred_ns: int
    payload: Payload | Opaque


class LeftBehind(Struct, frozen=True):
    """What an earlier worker left of a run: nobody knows what became of the calls, and somebody may still answer."""

    questions: Sequence[ApprovalRequested]
    """Not answered yet. The same question, asked again, joins the one that waits."""
    calls: Sequence[ToolFailed]
    """Cut short when the last worker was lost, and told as ended since."""


def left_behind(past: Iterable[Past], run_id: str) -> LeftBehind:
    """What a run's own past says was not done when its last worker went."""
    questions: dict[str, ApprovalRequested] = {}
    calls: list[ToolFailed] = []
    for one in past:
        if one.run_id != run_id:
            continue
        match one.payload:
            case GapRunDisconnected():
                calls.clear()
            case ToolFailed(code="interrupted") as call:
                calls.append(call)
            case ApprovalRequested() as question:
                questions[question.approval_id] = question
            case ApprovalResolved(approval_id=approval) | ApprovalTimedOut(approval_id=approval):
                questions.pop(approval, None)
            case _:
                pass
    return LeftBehind(list(questions.values()), calls)


class ToolAsk(Struct, frozen=True, kw_only=True):
    """A tool call that wants to happen: what policy, grants and people decide about."""

    tool_call_id: str
    tool_name: str
    kind: str
    turn_index: int
    input: Mapping[str, object]
    effects: Effects
    summary: str
    """One line for a person: the command, the path."""
    paths: Sequence[str] = ()
    hosts: Sequence[str] = ()
    argv_text: str | None = None
    """The shell text, for grants."""
    timeout_ms: int | None = None
    mcp_server: str | None = None
    mcp_tool: str | None = None
    insists: bool = False
    """The agent itself asks: that a preset happens to allow it is not enough; a rule, a grant or a person decides."""
    needs_person: bool = False
    """A question that only a person can answer, such as a choice: no rule and no grant allows it, and none comes of it."""
    fixed: bool = False
    """It happens with this input or not at all; there is nobody who would take another one."""
    recheck: Callable[[Mapping[str, object]], "ToolAsk"]
    """The same ask for another input, from an edit or a hook; raises ToolInputInvalid."""


class Go(Struct, frozen=True):
    """The call may happen. Its `tool.invoked` and `tool.started` are durable when this is returned."""

    input: Mapping[str, object]
    changed_by: str | None


class No(Struct, frozen=True):
    """The call may not happen. Every event of the refusal is stored; `told` goes to the model."""

    told: str
    stop: bool = False


Verdict = Go | No


class Answer(Struct, frozen=True, kw_only=True):
    """What is to become of a call that an agent of somebody else's asks about."""

    allowed: bool
    input: Mapping[str, object]
    """What was asked about, or what a person made of it."""
    edited: bool = False
    """Whether a person gave another input. To a question that needs a person, that input is the answer; one that was
    approved without it leaves the choice to the agent."""
    scope: str = "once"
    """once, session, task or always: how far the decision reaches."""
    told: str = ""
    """Why not, for the agent."""
    stop: bool = False
    """Whether the run is to end with this denial."""
    by: str = ""
    """Who decided: a person, `grant:<ids>`, `policy`, or `system` when nobody did in time."""
    policy_id: str = ""
    """What decided: a rule, a preset, or `approval:<id>`."""


class ToolEnd(Struct, frozen=True, kw_only=True):
    """How a call that was let go has ended."""

    outcome: Literal["completed", "failed", "cancelled", "timed_out"]
    duration_ms: int
    summary: str
    output: str | None
    """What the model is told when that is short (4096 characters at most); None when the result artifact holds it."""
    code: str = ""
    message: str = ""
    limit: str = ""
    by: str = "operator"
    result: str | None = None
    drafts: "Sequence[Draft]" = ()
    result_artifact_id: str | None = None


class Said(Struct, frozen=True):
    """What a person said to a run while it was at work."""

    text: str
    by: str
    kind: Literal["message", "rejection"]


class ChildEnd(Struct, frozen=True):
    """How a run that was started for a part of the work has ended."""

    run_id: str
    final_status: str
    summary: str
    cost_micros_usd: int


class ToolInputInvalid(ValueError):
    """The input is not what the tool takes. The message names the field, for the model or whoever edited it."""


WhyStopped = Literal["cancelled", "lost", "parked", "closing"]


class Stopped(BaseException):
    """The run is not ours to go on with: it was cancelled, its lease is lost, it is parked, or the worker closes."""

    def __init__(self, why: WhyStopped) -> None:
        super().__init__(why)
        self.why: WhyStopped = why


class Finished(Struct, frozen=True):
    """The work is done."""

    summary: str = ""


class Failed(Struct, frozen=True):
    """The work cannot be done."""

    code: str
    message: str
    retriable: bool = False


Ended = Finished | Failed


class RunHost(Protocol):
    """One run, as its executor may touch it."""

    @property
    def facts(self) -> RunFacts:
        """What is settled about the run."""
        ...

    def emit(
        self, *payloads: Payload | Opaque, kept: "Sequence[Draft | Change]" = (), also: "RowEffect | None" = None
    ) -> "Awaitable[Stored]":
        """Append all or none, under the lease, with the rows that `also` changes; events of `kept` go first.

        Order is the order of calls; await only where the events must be durable before what comes next.
        """
        ...

    async def offer(self, delta: Delta) -> None:
        """Hand over a piece of stream text; it is stored soon, joined with its neighbours."""
        ...

    async def draft(self, new: "NewArtifact", body: bytes) -> "Draft":
        """Make an artifact's body safe; pass the draft to `emit` and it exists."""
        ...

    async def body(self, artifact_id: str) -> "tuple[Artifact, bytes]":
        """An artifact of this run's task, else ArtifactNotFound."""
        ...

    async def past(self) -> Sequence[Past]:
        """This run so far, and before it the runs that it was resumed from, each up to where."""
        ...

    async def permit(self, ask: ToolAsk) -> Verdict:
        """Ask whether a call may happen, and wait as long as that takes. Raises Stopped."""
        ...

    async def ask(self, ask: ToolAsk, *, parks: bool = False) -> Answer:
        """Decide about a call that another agent asks about, and wait as long as that takes. Raises Stopped.

        Stores `approval.*` and nothing else. What an earlier worker asked about the same call is taken up again. With
        `parks`, a long wait gives the worker back: only for agents that can be answered after a restart.
        """
        ...

    async def settle(self, ask: ToolAsk, end: ToolEnd) -> None:
        """Store the call's terminal event, then run what follows a tool's use."""
        ...

    async def checkpoint(self) -> str:
        """Store that the run can be resumed from here; does not wait until that is durable."""
        ...

    def spend(self, cost_micros_usd: int) -> None:
        """Count money, for the run's totals and the task's ceiling."""
        ...

    def spent(self) -> int:
        """Micro-dollars of the whole task, this run included."""
        ...

    async def said(self) -> Sequence[Said]:
        """Steering messages and rejection texts since the last call; taking them emits their `user.message`."""
        ...

    def redact(self, text: str) -> str:
        """The text without known secrets."""
        ...

    async def spawn(self, agent: str, prompt: str, tool_call_id: str) -> ChildEnd:
        """Start a run for a part of the work and wait for its end; only where the task asked for it by name."""
        ...

    def may_emit(self, event_type: str) -> bool:
        """Whether the task asked for this experimental type, or it is not experimental."""
        ...


class Executor(Protocol):
    """What does a run's work."""

    async def run(self, host: RunHost) -> Ended:
        """Work until done. Raises nothing but Stopped; whatever else escapes fails the run as `internal_error`."""
        ...
