"""What the routes by which things are done take and refuse: the part of their page that is only read."""

from runwire import errors
from runwire.gateway import approvals, audit, panes, tasks, usage
from runwire.gateway.documented import (
    CURSOR,
    FEED_CURSOR,
    ID_PREFIX,
    RUN_STATUSES,
    SINCE,
    TYPE,
    UNTIL,
    at_most,
    named,
    several,
    yes_or_no,
)
from runwire.gateway.operation import Parameter
from runwire.runs import errors as run_errors
from runwire.workspace import errors as workspace_errors

TASKS_PARAMETERS = (
    named("session_id", "Tasks of this session only."),
    named("agent", "Tasks of this agent only."),
    yes_or_no("demo", "Tasks of the demonstration only, or only others."),
    at_most(tasks.LIMIT_DEFAULT, tasks.LIMIT_MAX),
    CURSOR,
)
APPROVALS_PARAMETERS = (
    Parameter("status", "Approvals of this status only.", {"type": "string", "enum": list(approvals.STATUSES)}),
    named("run_id", "Approvals of this run only."),
    ID_PREFIX,
    at_most(approvals.LIMIT_DEFAULT, approvals.LIMIT_MAX),
    CURSOR,
)
INGEST_PARAMETERS = (
    named("agent", "Whose stream it is."),
    named("run_id", "The id that the run is to have; one is made when it is left out."),
)
PANES_STREAM_PARAMETERS = (
    several("run_id", "Panes of these runs only."),
    Parameter("status", "Panes of runs of these statuses only, as a comma list.", RUN_STATUSES),
    several("task_id", "Panes of these tasks' runs only."),
    several("session_id", "Panes of these sessions' runs only."),
    several("agent", "Panes of these agents' runs only."),
)
PANES_PARAMETERS = (
    *PANES_STREAM_PARAMETERS,
    yes_or_no("attention", "Panes that need a person only, or only others."),
    at_most(panes.LIMIT_DEFAULT, panes.LIMIT_MAX),
    CURSOR,
)
USAGE_PARAMETERS = (
    Parameter("group_by", "What to add up by.", {"type": "string", "enum": list(usage.GROUPS), "default": "agent"}),
    SINCE,
)
AUDIT_PARAMETERS = (
    TYPE,
    named("run_id", "What was done in this run only."),
    named("task_id", "What was done for this task only."),
    named("session_id", "What was done in this session only."),
    named("agent", "What was done in this agent's runs only."),
    Parameter("q", "Words that must be mentioned.", {"type": "string", "maxLength": 256}),
    SINCE,
    UNTIL,
    at_most(audit.LIMIT_DEFAULT, audit.LIMIT_MAX),
    FEED_CURSOR,
)

TASK_REFUSALS = (
    run_errors.TaskInvalid,
    run_errors.AgentUnknown,
    run_errors.ModelUnknown,
    run_errors.PriceUnknown,
    run_errors.BudgetLowered,
    workspace_errors.WorkspaceInvalid,
    errors.Forbidden,
)
PATCH_REFUSALS = (
    workspace_errors.WorkspaceDrifted,
    workspace_errors.PatchRedacted,
    workspace_errors.PatchUnavailable,
    workspace_errors.PathRefused,
    errors.Conflict,
    errors.InvalidContent,
)
