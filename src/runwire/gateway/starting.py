"""Starting, steering and ending runs."""

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.responses import Response

from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_response
from runwire.gateway.runs import resource
from runwire.gateway.services import Services
from runwire.gateway.tasks import caller_of, claiming
from runwire.journal.records import RunInfo
from runwire.runs.starting import Again
from runwire.runs.task import Attachment

_T = TypeVar("_T")
Budget = Annotated[int, Meta(ge=0, le=2**53)]
Sequence = Annotated[int, Meta(ge=0, le=2**53)]


class StartRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How another run of a task is to differ."""

    prompt: str | None = None
    model: str | None = None


class RetryRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a repeated run is to differ."""

    model: str | None = None
    budget_micros_usd: Budget | None = None


class ResumeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to go on: at a sequence, at a checkpoint, or else at the last checkpoint."""

    from_sequence: Sequence | None = None
    checkpoint_id: str | None = None
    model: str | None = None
    budget_micros_usd: Budget | None = None
    branch: bool = False


class ContinueRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to go on with."""

    prompt: Annotated[str, Meta(min_length=1)]
    attachments: list[Attachment] = []
    """Files that go with the prompt."""
    from_sequence: Sequence | None = None
    checkpoint_id: str | None = None
    model: str | None = None
    budget_micros_usd: Budget | None = None


class CancelRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a run is to end."""

    reason: str = ""


class MessageRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a run is to hear."""

    text: Annotated[str, Meta(min_length=1)]


class MessageReply(msgspec.Struct, frozen=True, kw_only=True):
    """It will be heard before the next turn."""

    object: Literal["message"] = "message"
    run_id: str


async def start_run(services: Services, call: Call) -> Response:
    """One more run of a task."""
    asked = await _asked(services, call, StartRequest)
    info = await services.runtime.starter.another(
        call.path["task_id"],
        prompt=asked.prompt,
        model=await services.runtime.tasks.accepted_model(call.path["task_id"], asked.model),
        also=claiming(services, call),
    )
    return await _born(services, info)


async def retry_run(services: Services, call: Call) -> Response:
    """The same again, from nothing."""
    asked = await _asked(services, call, RetryRequest)
    run_id, model = await _run_and_model(services, call, asked.model)
    again = Again(model=model, budget_micros_usd=asked.budget_micros_usd)
    return await _born(services, await services.runtime.starter.retry(run_id, again, also=claiming(services, call)))


async def resume_run(services: Services, call: Call) -> Response:
    """A new run that goes on from a place in this one; as a branch, in a task of its own."""
    asked = await _asked(services, call, ResumeRequest)
    run_id, model = await _run_and_model(services, call, asked.model)
    again = Again(
        from_sequence=asked.from_sequence,
        checkpoint_id=asked.checkpoint_id,
        model=model,
        budget_micros_usd=asked.budget_micros_usd,
    )
    starter = services.runtime.starter
    begin = starter.branch if asked.branch else starter.resume
    return await _born(services, await begin(run_id, again, also=claiming(services, call)))


async def continue_run(services: Services, call: Call) -> Response:
    """A new run that goes on with something more said."""
    asked = await _asked(services, call, ContinueRequest)
    run_id, model = await _run_and_model(services, call, asked.model)
    again = Again(
        prompt=asked.prompt,
        attachments=asked.attachments,
        from_sequence=asked.from_sequence,
        checkpoint_id=asked.checkpoint_id,
        model=model,
        budget_micros_usd=asked.budget_micros_usd,
    )
    return await _born(services, await services.runtime.starter.resume(run_id, again, also=claiming(services, call)))


async def cancel_run(services: Services, call: Call) -> Response:
    """End a run that is not over. 202: it has been told, and is still ending what it does."""
    asked = await _asked(services, call, CancelRequest)
    run_id = (await find_run(services, call)).birth.run_id
    ended = await services.runtime.cancelling.cancel(
        run_id, by=caller_of(call), reason=asked.reason, also=claiming(services, call)
    )
    return json_response(await resource(ended.info, services), 200 if ended.settled else 202)


async def say_to_run(services: Services, call: Call) -> Response:
    """Let a live run hear something."""
    asked = await _asked(services, call, MessageRequest)
    run_id = (await find_run(services, call)).birth.run_id
    await services.runtime.messages.say(run_id, asked.text, by=caller_of(call), also=claiming(services, call))
    return json_response(MessageReply(run_id=run_id), 202)


async def _born(services: Services, info: RunInfo) -> Response:
    return json_response(await resource(info, services), 201)


async def _run_and_model(services: Services, call: Call, model: str | None) -> tuple[str, str | None]:
    """The run that is taken up, and the model that is wished for, if it can be called."""
    birth = (await find_run(services, call)).birth
    return birth.run_id, await services.runtime.tasks.accepted_model(birth.task_id or "", model)


async def _asked(services: Services, call: Call, kind: type[_T]) -> _T:
    """The body; one that is left out altogether stands for an empty object."""
    return await call.json(kind, services.config.body_limit_bytes, default=b"{}")
