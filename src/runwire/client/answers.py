"""What a gateway answers, as far as a client reads it. Unknown fields are ignored; stored bytes stay raw."""

import msgspec

from runwire.protocol.payload import Record


class Answer(Record):
    """A JSON object from a gateway; a later release may add fields."""


class Health(Answer):
    """A gateway that answers."""

    status: str = "ok"
    version: str = ""


class Run(Answer):
    """What a run is now."""

    run_id: str
    status: str
    head_sequence: int
    head_hash: str
    task_id: str | None = None
    session_id: str | None = None
    parent_run_id: str | None = None
    agent: str = ""
    first_sequence: int = 0
    created_at: str = ""
    updated_at: str = ""
    cost_micros_usd: int = 0
    error_code: str | None = None
    error_message: str | None = None

    @property
    def finished(self) -> bool:
        """Whether it has ended, one way or another."""
        return self.status in {"completed", "failed", "cancelled"}


class Pane(Answer):
    """One run at a glance."""

    run_id: str
    task_id: str | None = None
    agent: str = ""
    status: str = ""
    state: str = ""
    stalled: bool = False
    attention: bool = False
    reason: str = ""
    doing: str = ""
    since: str | None = None
    last_event_type: str = ""
    last_event_at: str = ""
    head_sequence: int = -1
    cost_micros_usd: int = 0
    budget_micros_usd: int | None = None
    malformed: int = 0


class Workspace(Answer):
    """Where a task works."""

    path: str | None = None
    mode: str | None = None


class Task(Answer):
    """A task, and the last of its runs."""

    task_id: str
    title: str = ""
    kind: str = ""
    agent: str = ""
    session_id: str | None = None
    workspace: Workspace = Workspace()
    policy: str | dict[str, object] | None = None
    latest_run: Run | None = None


class Approval(Answer):
    """A question to a person, and its answer once there is one."""

    approval_id: str
    status: str
    run_id: str
    tool_name: str = ""
    summary: str = ""
    policy_reason: str = ""
    agent: str = ""
    input: dict[str, object] | None = None
    needs_person: bool = False
    requested_at: str = ""
    expires_at: str | None = None
    by: str | None = None
    comment: str | None = None


class Agent(Answer):
    """An agent, and whether it is there."""

    name: str
    installed: bool
    aliases: tuple[str, ...] = ()
    dialect: str = ""
    version: str | None = None
    driven: str = ""
    asks: bool = False
    survives_restart: bool = False
    place: str | None = None
    install: str | None = None
    event_types: tuple[str, ...] = ()


class UsageRow(Answer):
    """What one group of runs has used."""

    group: str
    runs: int
    turns: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_micros_usd: int


class UsageReport(Answer):
    """What was used, group by group."""

    data: list[UsageRow]


class AuditEntry(Answer):
    """One fact of the audit."""

    occurred_at: str
    run_id: str
    sequence: int
    type: str
    who: str = ""
    what: str = ""


class EventPage(Answer):
    """Some events of one run; `next_after_sequence` is where to go on."""

    data: list[msgspec.Raw]
    has_more: bool
    next_after_sequence: int


class FeedPage(Answer):
    """Some events of all runs; `next_cursor` is where to go on."""

    data: list[msgspec.Raw]
    next_cursor: str
    has_more: bool = False


class Listing(Answer):
    """Some resources, each as it came."""

    data: list[msgspec.Raw]
    has_more: bool = False
    next_cursor: str | None = None


class Imported(Answer):
    """The run that a file became."""

    run_id: str


class Token(Answer):
    """A token without its secret."""

    token_id: str
    name: str
    scopes: list[str]
    created_at: str = ""
    expires_at: str | None = None
    revoked_at: str | None = None


class NewToken(Token):
    """A token with its secret, which is shown this once."""

    token: str


class Pruned(Answer):
    """What went of one run."""

    run_id: str
    events: int
    through_sequence: int
    reason: str


class PruneReport(Answer):
    """What went, run by run."""

    data: list[Pruned]


class Artifact(Answer):
    """What is known about an artifact."""

    id: str
    kind: str
    size_bytes: int
    sha256: str
    mime: str = ""
    summary: str = ""
    status: str | None = None
    pinned: bool = False
    truncated: bool = False
    produced_by_run_id: str | None = None
    target_path: str | None = None
    created_at: str = ""
    reverted_at: str | None = None
    diff: str | None = None


class ArtifactAnswer(Answer):
    """One artifact."""

    data: Artifact


class PatchAnswer(ArtifactAnswer):
    """A patch that was taken back, and the patch that did it."""

    inverse_artifact_id: str | None = None
