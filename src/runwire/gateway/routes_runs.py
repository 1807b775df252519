"""The routes by which things are done: tasks, runs, decisions, patches, and what they add up to."""

from collections.abc import Iterator
from dataclasses import replace

from runwire.errors import (
    AlreadyResolved,
    ArtifactNotFound,
    Conflict,
    CursorAhead,
    InvalidContent,
    InvalidFilter,
    RunActive,
    RunExists,
    RunFinished,
    RunNotFound,
    TaskNotFound,
)
from runwire.gateway import documented as doc
from runwire.gateway import documented_runs as runs_doc
from runwire.gateway.agents import AgentList, list_agents
from runwire.gateway.approvals import (
    ApprovalList,
    ApprovalResource,
    PermissionList,
    Preview,
    PreviewRequest,
    Resolution,
    list_approvals,
    list_permissions,
    preview_approval,
    resolve_approval,
    revoke_permission,
    show_approval,
)
from runwire.gateway.artifacts import ArtifactList, ArtifactReply, NothingSaid
from runwire.gateway.audit import AuditList, list_audit
from runwire.gateway.ingesting import ingest
from runwire.gateway.operation import V1, Answer, Body, Operation, Reply, json
from runwire.gateway.panes import PaneList, list_panes, stream_panes
from runwire.gateway.patches import (
    BatchRequest,
    ReasonRequest,
    RevertReply,
    apply_again,
    apply_patch,
    apply_patches,
    apply_patches_again,
    reject_again,
    reject_patch,
    revert_again,
    revert_patch,
    show_run_patch,
)
from runwire.gateway.runs import RunResource
from runwire.gateway.starting import (
    CancelRequest,
    ContinueRequest,
    MessageReply,
    MessageRequest,
    ResumeRequest,
    RetryRequest,
    StartRequest,
    cancel_run,
    continue_run,
    resume_run,
    retry_run,
    say_to_run,
    start_run,
)
from runwire.gateway.tasks import TaskList, TaskResource, create_task, delete_task, list_tasks, show_task
from runwire.gateway.usage import UsageReport, show_usage
from runwire.journal.tokens import Scope
from runwire.runs.errors import ApprovalNotFound, CheckpointNotFound, PermissionNotFound
from runwire.runs.task import NewTask

_TASK = f"{V1}/tasks/{{task_id}}"
_RUN = f"{_TASK}/runs/{{run_id}}"
_STARTED = json(RunResource, "The run.", 201)


def _tasks() -> Iterator[Operation]:
    yield Operation(
        method="POST",
        path=f"{V1}/tasks",
        about="Make a task and, unless it says otherwise, start it",
        scope="write",
        answer=create_task,
        body=Body(NewTask),
        replies=json(TaskResource, "The task.", 201),
        refusals=(*doc.BODY_REFUSALS, *runs_doc.TASK_REFUSALS),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/tasks",
        about="List tasks, newest first",
        scope="read",
        answer=list_tasks,
        parameters=runs_doc.TASKS_PARAMETERS,
        replies=json(TaskList, "Some tasks."),
        refusals=doc.LIST_REFUSALS,
    )
    yield Operation(
        method="GET",
        path=_TASK,
        about="Show a task",
        scope="read",
        answer=show_task,
        replies=json(TaskResource, "The task."),
        refusals=(TaskNotFound,),
    )
    yield Operation(
        method="DELETE",
        path=_TASK,
        about="Remove a task with all its runs",
        scope="operate",
        answer=delete_task,
        replies=doc.NOTHING,
        refusals=(TaskNotFound, RunActive),
    )
    yield Operation(
        method="POST",
        path=f"{_TASK}/runs",
        about="Start another run of a task",
        scope="write",
        answer=start_run,
        body=Body(StartRequest, required=False),
        replies=_STARTED,
        refusals=(*doc.BODY_REFUSALS, *runs_doc.TASK_REFUSALS, TaskNotFound, RunActive),
    )


def _on_run(verb: str, about: str, scope: Scope, answer: Answer, body: Body) -> Operation:
    """A POST that does something to one run."""
    return Operation(
        method="POST",
        path=f"{_RUN}/{verb}",
        about=about,
        scope=scope,
        answer=answer,
        body=body,
        replies=_STARTED,
        refusals=(*doc.BODY_REFUSALS, *runs_doc.TASK_REFUSALS, RunNotFound, TaskNotFound, RunActive),
    )


def _runs() -> Iterator[Operation]:
    cancel = _on_run("cancel", "End a run", "operate", cancel_run, Body(CancelRequest, required=False))
    yield replace(
        cancel,
        replies=(
            Reply("The run, which is over.", 200, {"application/json": RunResource}),
            Reply("The run, which is still ending what it does.", 202, {"application/json": RunResource}),
        ),
        refusals=(*doc.BODY_REFUSALS, RunNotFound, RunFinished, Conflict),
    )
    say = _on_run("messages", "Say something to a live run", "operate", say_to_run, Body(MessageRequest))
    yield replace(
        say,
        replies=json(MessageReply, "It will be heard before the next turn.", 202),
        refusals=(*doc.BODY_REFUSALS, RunNotFound, RunFinished, InvalidContent),
    )
    yield _on_run("retry", "Do the same again, from nothing", "write", retry_run, Body(RetryRequest, required=False))
    optional = Body(ResumeRequest, required=False)
    resume = _on_run("resume", "Go on in a new run from a place in this one", "write", resume_run, optional)
    more = (CheckpointNotFound, CursorAhead, InvalidContent)
    yield replace(resume, refusals=(*resume.refusals, *more))
    go_on = _on_run(
        "continue", "Go on in a new run with something more said", "write", continue_run, Body(ContinueRequest)
    )
    yield replace(go_on, refusals=(*go_on.refusals, *more))


def _ingesting() -> Iterator[Operation]:
    yield Operation(
        method="POST",
        path=f"{V1}/ingest",
        about="Make a run of the raw stream of an agent that runs elsewhere, live",
        scope="write",
        answer=ingest,
        parameters=runs_doc.INGEST_PARAMETERS,
        body=Body(
            doc.TEXT,
            ("application/octet-stream", "application/x-ndjson", "text/event-stream", "text/plain"),
            lambda services: services.config.import_limit_bytes,
            required=False,
            spooled=True,
        ),
        replies=_STARTED,
        refusals=(*doc.BODY_REFUSALS, *runs_doc.TASK_REFUSALS, InvalidFilter, RunExists),
    )


def _deciding() -> Iterator[Operation]:
    one = f"{V1}/approvals/{{approval_id}}"
    listing = Operation(
        method="GET",
        path=f"{V1}/approvals",
        about="List approvals across runs, newest first",
        scope="read",
        answer=list_approvals,
        parameters=runs_doc.APPROVALS_PARAMETERS,
        replies=json(ApprovalList, "Some approvals."),
        refusals=doc.LIST_REFUSALS,
    )
    yield listing
    yield replace(listing, path=f"{_TASK}/approvals", refusals=(*doc.LIST_REFUSALS, TaskNotFound))
    yield Operation(
        method="GET",
        path=one,
        about="Show an approval",
        scope="read",
        answer=show_approval,
        replies=json(ApprovalResource, "The approval."),
        refusals=(ApprovalNotFound,),
    )
    resolve = Operation(
        method="POST",
        path=f"{one}/resolve",
        about="Answer a question; the first answer wins",
        scope="operate",
        answer=resolve_approval,
        body=Body(Resolution),
        replies=json(ApprovalResource, "The approval, answered."),
        refusals=(*doc.BODY_REFUSALS, ApprovalNotFound, AlreadyResolved, InvalidContent),
    )
    yield from (resolve, replace(resolve, path=f"{_TASK}/approvals/{{approval_id}}/resolve"))
    yield replace(
        resolve,
        path=f"{one}/preview",
        about="Say what an approval of an edited input would allow",
        answer=preview_approval,
        body=Body(PreviewRequest),
        replies=json(Preview, "What it would allow."),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/permissions",
        about="List standing grants",
        scope="read",
        answer=list_permissions,
        replies=json(PermissionList, "Every grant that stands."),
    )
    yield Operation(
        method="DELETE",
        path=f"{V1}/permissions/{{permission_id}}",
        about="Take a standing grant back",
        scope="operate",
        answer=revoke_permission,
        replies=doc.NOTHING,
        refusals=(PermissionNotFound,),
    )


def _patches() -> Iterator[Operation]:
    one = f"{V1}/artifacts/{{artifact_id}}"
    apply = Operation(
        method="POST",
        path=f"{one}/apply",
        about="Write a proposed patch into its workspace",
        scope="operate",
        answer=apply_patch,
        again=apply_again,
        body=Body(NothingSaid, required=False),
        replies=json(ArtifactReply, "The patch, applied."),
        refusals=(*doc.BODY_REFUSALS, ArtifactNotFound, *runs_doc.PATCH_REFUSALS),
    )
    yield apply
    yield replace(
        apply,
        path=f"{one}/reject",
        about="Refuse a proposed patch",
        answer=reject_patch,
        again=reject_again,
        body=Body(ReasonRequest, required=False),
        replies=json(ArtifactReply, "The patch, rejected."),
    )
    yield replace(
        apply,
        path=f"{one}/revert",
        about="Take an applied patch back",
        answer=revert_patch,
        again=revert_again,
        body=Body(ReasonRequest, required=False),
        replies=json(RevertReply, "The patch, taken back."),
    )
    yield replace(
        apply,
        path=f"{V1}/runs/{{run_id}}/patches/apply",
        about="Write several patches of a run, all of them or none",
        answer=apply_patches,
        again=apply_patches_again,
        body=Body(BatchRequest, required=False),
        replies=json(ArtifactList, "The patches, applied."),
        refusals=(*apply.refusals, RunNotFound),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/runs/{{run_id}}/patch",
        about="Show all that a run has changed, as one diff",
        scope="read",
        answer=show_run_patch,
        replies=(Reply("The diff.", 200, {"text/x-diff": doc.TEXT}), Reply("You have it already.", 304)),
        refusals=(RunNotFound, *runs_doc.PATCH_REFUSALS),
    )


def _adding_up() -> Iterator[Operation]:
    panes = Operation(
        method="GET",
        path=f"{V1}/panes",
        about="Show every run at a glance",
        scope="read",
        answer=list_panes,
        parameters=runs_doc.PANES_PARAMETERS,
        replies=json(PaneList, "Some panes."),
        refusals=doc.LIST_REFUSALS,
    )
    yield panes
    yield Operation(
        method="GET",
        path=f"{V1}/panes/stream",
        about="Follow every run at a glance",
        scope="read",
        stream=stream_panes,
        parameters=runs_doc.PANES_STREAM_PARAMETERS,
        replies=doc.FEED_STREAM_REPLIES,
        refusals=doc.LIST_REFUSALS,
    )
    yield Operation(
        method="GET",
        path=f"{V1}/agents",
        about="List the agents that can be asked",
        scope="read",
        answer=list_agents,
        replies=json(AgentList, "Every known agent."),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/usage",
        about="Add up tokens and money",
        scope="read",
        answer=show_usage,
        parameters=runs_doc.USAGE_PARAMETERS,
        replies=json(UsageReport, "The sums."),
        refusals=(InvalidFilter,),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/audit",
        about="List what was done, by whom and with whose permission",
        scope="read",
        answer=list_audit,
        parameters=runs_doc.AUDIT_PARAMETERS,
        replies=json(AuditList, "Some facts."),
        refusals=doc.FEED_REFUSALS,
    )


ROUTES: tuple[Operation, ...] = (*_tasks(), *_runs(), *_ingesting(), *_deciding(), *_patches(), *_adding_up())
