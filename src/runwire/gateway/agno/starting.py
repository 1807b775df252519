"""Starting runs, and taking their streams up again, the way Agno's clients do."""

import re

import msgspec
from starlette.types import Send

from runwire.errors import RunActive
from runwire.gateway.agno.answering import Begun, answer, begun_once, find_run, require_flags
from runwire.gateway.agno.errors import AgentNotFound, InvalidForm
from runwire.gateway.agno.following import Stretch, about_run, stream
from runwire.gateway.agno.forms import Form, read_form
from runwire.gateway.agno.sessions import kept_session
from runwire.gateway.call import Call
from runwire.gateway.idempotency import key_of
from runwire.gateway.services import Services
from runwire.gateway.tasks import claiming, keep_task
from runwire.runs.errors import AgentUnknown, NotResumable
from runwire.runs.starting import Again
from runwire.runs.task import NewTask, Policy, WorkspaceSpec

NATIVE = "native"
_MEDIA = ("images", "audio", "videos", "input_files")
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_PRESET = re.compile(r"[a-z_]{1,64}", re.ASCII)


async def start_run(services: Services, call: Call, send: Send) -> None:
    """Start a run and tell how it goes."""
    form = await read_form(services, call)
    require_flags(form)
    new = _wished(services, call.path["agent_id"], form)
    goes_on = form.flag("add_history_to_context", default=services.config.agno_history)
    begun = await begun_once(services, call, lambda: _begin(services, call, new, goes_on=goes_on))
    await answer(services, call, send, form, begun)


async def resume_stream(services: Services, call: Call, send: Send) -> None:
    """Tell a run from behind the last frame that a client has. It does nothing, so a key is only looked at."""
    key_of(call)
    form = await read_form(services, call)
    info = await find_run(services, call)
    last = call.header(b"last-event-id") or form.text("last_event_index") or "-1"
    if last != "-1" and _NUMBER.fullmatch(last) is None:
        raise InvalidForm("last_event_index", "it is no number of a frame")
    stretch = Stretch(after=int(last), history=True, numbered=True)
    await stream(services, call, send, await about_run(services, info), stretch)


async def _begin(services: Services, call: Call, new: NewTask, *, goes_on: bool) -> Begun:
    if goes_on and not new.attachments and (run_id := await _gone_on(services, call, new)) is not None:
        return Begun(run_id=run_id)
    try:
        view = await keep_task(services, call, new)
    except AgentUnknown as unknown:
        raise AgentNotFound(new.agent) from unknown
    if view.latest_run is None:
        raise InvalidForm("", "nothing was started")
    return Begun(run_id=view.latest_run.birth.run_id)


async def _gone_on(services: Services, call: Call, new: NewTask) -> str | None:
    """A run that goes on with the session's last conversation; None when there is none that could be."""
    page = await services.runtime.tasks.list(session_id=new.session_id, agent=new.agent, limit=1)
    last = page.tasks[0] if page.tasks else None
    if last is None or last.latest_run is None or not last.latest_run.story.finished:
        return None
    model = await services.runtime.tasks.accepted_model(last.task.task_id, new.model)
    again = Again(prompt=new.prompt, model=model)
    try:
        info = await services.runtime.starter.resume(last.latest_run.birth.run_id, again, also=claiming(services, call))
    except (NotResumable, RunActive):
        return None
    return info.birth.run_id


def _wished(services: Services, agent_id: str, form: Form) -> NewTask:
    """The task that a form asks for."""
    message = form.fields.get("message", "")
    if not message.strip():
        raise InvalidForm("message", "it is missing or empty")
    for name in ("files", *_MEDIA):
        # Agno takes an empty list of the others as text, but of files only files.
        if form.fields.get(name, "") not in {"", "[]", "null"} or (name == "files" and name in form.fields):
            raise InvalidForm(name, "send what goes with the message as files of a multipart form")
    config, session_id = services.config, form.text("session_id")
    path = form.text("workspace") or (None if config.agno_workspace is None else str(config.agno_workspace))
    dependencies, is_told = _dependencies(form), form.flag("add_dependencies_to_context", default=False)
    told = {"user_id": form.text("user_id"), "dependencies": dependencies}
    if dependencies is not None and is_told:
        context = msgspec.json.encode(dependencies).decode()
        message = f"{message}\n\n<additional context>\n{context}\n</additional context>"
    return NewTask(
        prompt=message,
        agent=agent_id,
        model=form.text("model") or (config.agno_model if agent_id == NATIVE else None),
        workspace=None if path is None else WorkspaceSpec(path=path),
        session_id=services.ids.new("chat") if session_id is None else kept_session(session_id),
        policy=_policy(form),
        input={name: value for name, value in told.items() if value is not None},
        attachments=list(form.files),
    )


def _dependencies(form: Form) -> dict[str, object] | None:
    """What the client gives its agent to know. What cannot be read is ignored, as Agno does."""
    if form.text("dependencies") is None:
        return None
    try:
        given = form.json("dependencies")
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def _policy(form: Form) -> Policy:
    """The name of a preset, or rules as JSON."""
    text = form.text("policy")
    if text is None or _PRESET.fullmatch(text):
        return text
    try:
        given = form.json("policy")
    except ValueError as wrong:
        raise InvalidForm("policy", "it is neither a preset nor JSON") from wrong
    if not isinstance(given, dict):
        raise InvalidForm("policy", "rules are a JSON object")
    return given
