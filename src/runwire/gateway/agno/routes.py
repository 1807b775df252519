"""The routes of /agno: who may call each, what answers it, and what it answers with."""

from collections.abc import Iterator

from runwire.errors import AlreadyResolved, Conflict, InvalidContent, RunFinished, RunNotFound
from runwire.gateway import documented as doc
from runwire.gateway import documented_runs as runs_doc
from runwire.gateway.agno.deciding import Ended, cancel_run, continue_run, show_run
from runwire.gateway.agno.discovering import (
    AgentReply,
    ConfigReply,
    HealthReply,
    InfoReply,
    list_agents,
    list_nothing,
    show_agent,
    show_config,
    show_health,
    show_info,
)
from runwire.gateway.agno.errors import AgentNotFound, InvalidForm, RunNotPaused, ToolCallNotPaused
from runwire.gateway.agno.forms import MULTIPART, URL_ENCODED
from runwire.gateway.agno.starting import resume_stream, start_run
from runwire.gateway.operation import AGNO, Answer, Body, Operation, Parameter, Reply, Schema, json

_AGENT = f"{AGNO}/agents/{{agent_id}}"
_RUN = f"{_AGENT}/runs/{{run_id}}"
_FLAG: Schema = {"enum": ["true", "false"]}
_FORM = (URL_ENCODED, MULTIPART)


def _form(*required: str, **fields: Schema) -> Schema:
    """A form; what it does not name is ignored."""
    return {"type": "object", "required": list(required), "properties": fields}


_START = _form(
    "message",
    message={"type": "string", "pattern": r"\S", "description": "What is to be done."},
    stream={**_FLAG, "description": "Whether the answer is a stream, as it is by default, or one JSON body."},
    session_id={**doc.TEXT, "description": "Any text; one is made when it is left out."},
    user_id={**doc.TEXT, "description": "Kept with the task; it proves nothing."},
    dependencies={**doc.TEXT, "description": "A JSON object, kept with the task; what is no JSON is ignored."},
    add_dependencies_to_context={**_FLAG, "description": "Whether the model is told the dependencies."},
    add_history_to_context={**_FLAG, "description": "Whether to go on where the session's last run ended."},
    background={**_FLAG, "description": "With stream=false: answer at once. Runs outlive their streams in any case."},
    model={**doc.TEXT, "description": "`provider:name`; the setting agno_model when left out."},
    workspace={**doc.TEXT, "description": "The folder to work in; the setting agno_workspace when left out."},
    policy={**doc.TEXT, "description": "The name of a preset, or rules as JSON."},
    files={"type": "array", "items": doc.BYTES, "description": "What goes with the message, in a multipart form."},
)
_CONTINUE = _form(
    "tools",
    tools={
        **doc.TEXT,
        "description": "A JSON list of the tools that RunPaused named, each with `confirmed` true or false.",
        "minLength": 2,
    },
    stream=_FLAG,
    background=_FLAG,
    session_id=doc.TEXT,
    user_id=doc.TEXT,
)
_OUTPUT: Schema = {
    "type": "object",
    "required": ["run_id", "agent_id", "status", "content"],
    "properties": {"status": {"enum": ["PENDING", "RUNNING", "PAUSED", "COMPLETED", "CANCELLED", "ERROR"]}},
}
_FRAME: Schema = {
    "type": "object",
    "required": ["event", "data", "id"],
    "properties": {
        "event": {"type": "string", "description": "As Agno names it; the same as `event` in the data."},
        "data": {"type": "string", "description": "A JSON object in one line."},
        "id": {"type": "string", "description": "What to send to `resume` as Last-Event-ID."},
    },
}
_ANSWERS = (
    Reply(
        "The run, live or in one piece, until it pauses or ends.",
        200,
        {"text/event-stream": _FRAME, "application/json": _OUTPUT},
    ),
    Reply("The run goes on in the background.", 202, {"application/json": doc.OBJECT}),
)


def _discovering() -> Iterator[Operation]:
    def read(path: str, about: str, answer: Answer, shape: type | Schema) -> Operation:
        replies = json(shape, f"{about}.")
        return Operation(method="GET", path=AGNO + path, about=about, scope="read", answer=answer, replies=replies)

    some: Schema = {"type": "array", "items": doc.OBJECT}
    yield read("/health", "Say to a client of Agno that the process lives", show_health, HealthReply)
    yield read("/info", "Say to a client of Agno what this is", show_info, InfoReply)
    yield read("/config", "Show a client of Agno what can be asked", show_config, ConfigReply)
    yield read("/agents", "List the agents for a client of Agno", list_agents, some)
    yield read("/teams", "List no teams for a client of Agno", list_nothing, some)
    yield read("/workflows", "List no workflows for a client of Agno", list_nothing, some)
    yield Operation(
        method="GET",
        path=_AGENT,
        about="Show an agent to a client of Agno",
        scope="read",
        answer=show_agent,
        replies=json(AgentReply, "The agent."),
        refusals=(AgentNotFound,),
    )


def _starting() -> Iterator[Operation]:
    yield Operation(
        method="POST",
        path=f"{_AGENT}/runs",
        about="Start a run for a client of Agno",
        scope="write",
        stream=start_run,
        body=Body(_START, _FORM),
        replies=_ANSWERS,
        refusals=(InvalidForm, *doc.BODY_REFUSALS, *runs_doc.TASK_REFUSALS, AgentNotFound),
    )
    yield Operation(
        method="GET",
        path=_RUN,
        about="Show a run to a client of Agno",
        scope="read",
        answer=show_run,
        replies=json(_OUTPUT, "The run."),
        refusals=(RunNotFound,),
    )
    yield Operation(
        method="POST",
        path=f"{_RUN}/resume",
        about="Take up a run's stream behind the last frame that a client of Agno has",
        scope="read",
        stream=resume_stream,
        parameters=(Parameter("Last-Event-ID", "The last frame's `id`; beats the form.", doc.TEXT, "header"),),
        body=Body(_form(last_event_index={"type": "integer", "minimum": -1}), _FORM, required=False),
        replies=(Reply("The rest of the run, until it pauses or ends.", 200, {"text/event-stream": _FRAME}),),
        refusals=(InvalidForm, RunNotFound),
    )


def _deciding() -> Iterator[Operation]:
    yield Operation(
        method="POST",
        path=f"{_RUN}/continue",
        about="Decide what a paused run waits for",
        scope="operate",
        stream=continue_run,
        body=Body(_CONTINUE, _FORM),
        replies=_ANSWERS,
        refusals=(
            InvalidForm,
            ToolCallNotPaused,
            InvalidContent,
            *doc.BODY_REFUSALS,
            RunNotFound,
            RunFinished,
            RunNotPaused,
            AlreadyResolved,
        ),
    )
    yield Operation(
        method="POST",
        path=f"{_RUN}/cancel",
        about="End a run for a client of Agno",
        scope="operate",
        answer=cancel_run,
        body=Body(_form(), _FORM, required=False),
        replies=(
            Reply("The run is over.", 200, {"application/json": Ended}),
            Reply("The run is still ending what it does.", 202, {"application/json": Ended}),
        ),
        refusals=(RunNotFound, RunFinished, Conflict),
    )


ROUTES: tuple[Operation, ...] = (*_discovering(), *_starting(), *_deciding())
