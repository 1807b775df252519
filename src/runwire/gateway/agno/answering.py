"""What a client gets once something was begun: a stream, one JSON body, or just the news."""

from collections.abc import Awaitable, Callable
from hashlib import sha256

import msgspec
from starlette.responses import Response
from starlette.types import Send

from runwire.errors import RunNotFound
from runwire.gateway.agents import agents_of
from runwire.gateway.agno.following import Stretch, about_run, collect, stream
from runwire.gateway.agno.forms import Form
from runwire.gateway.agno.frames import one_line
from runwire.gateway.call import Call, tell
from runwire.gateway.idempotency import once
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.gateway.sse import begin
from runwire.journal.records import RunInfo


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """What a request has set going."""

    run_id: str
    continues_at: int | None = None
    """The sequence of the first decision that it brought."""


async def begun_once(services: Services, call: Call, begin_it: Callable[[], Awaitable[Begun]]) -> Begun:
    """Set something going; under an idempotency key, once."""

    async def act() -> Response:
        return json_response(await begin_it())

    digest = sha256(await call.body(services.config.body_limit_bytes)).digest()
    return msgspec.json.decode(bytes((await once(services, call, digest, act)).body), type=Begun)


async def answer(services: Services, call: Call, send: Send, form: Form, begun: Begun) -> None:
    """Tell how it goes on from there, in the form that the client asked for."""
    about = await about_run(services, await services.journal.reader.run(begun.run_id))
    background = form.flag("background", default=False)
    if form.flag("stream", default=True):
        stretch = Stretch(continues_at=begun.continues_at, numbered=background)
        await stream(services, call, send, about, stretch)
    elif background:
        status = {"run_id": about.run_id, "session_id": about.session_id, "status": "PENDING"}
        await send_json(call, send, one_line(status), 202)
    else:
        translation = await collect(services, call, about)
        await send_json(call, send, one_line(translation.output()))


def require_flags(form: Form) -> None:
    """Refuse a form whose flags make no sense, before anything is done."""
    form.flag("background", default=False)
    form.flag("stream", default=True)


async def find_run(services: Services, call: Call) -> RunInfo:
    """The run that the path names, of the agent that it names, too."""
    info = await services.journal.reader.run(call.path["run_id"])
    ours, theirs = info.birth.agent, call.path["agent_id"]
    if ours != theirs and agent_of(services, ours) != agent_of(services, theirs):
        raise RunNotFound(call.path["run_id"])
    return info


def agent_of(services: Services, name: str) -> str:
    """The name of an agent that is known by another one, too."""
    return next((known.name for known in agents_of(services) if name in known.aliases), name)


async def send_json(call: Call, send: Send, body: bytes, status: int = 200) -> None:
    """Answer with JSON that is ready."""
    headers = (
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    )
    await begin(call, send, headers, status)
    await tell(send, {"type": "http.response.body", "body": body, "more_body": False})
