"""Whether patches would fit now: what applying or reverting them would answer, without doing it."""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
from starlette.responses import Response

from runwire.errors import Conflict, InvalidFilter, RunwireError
from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_response
from runwire.gateway.patches import proposed_patches
from runwire.gateway.services import Services
from runwire.workspace.errors import PathRefused

Verb = Literal["apply", "revert"]
VERBS: tuple[Verb, ...] = get_args(Verb)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What would come of it. Of a file that is not the expected one, both states are named."""

    object: Literal["check"] = "check"
    artifact_ids: list[str]
    verb: Verb
    fits: bool
    code: str | None
    """The code of the refusal."""
    message: str
    hint: str
    path: str | None
    expected: str | None
    actual: str | None


async def check_patch(services: Services, call: Call) -> Response:
    """Whether one patch could be applied, or taken back if it is applied."""
    artifact = await services.artifacts.get(call.path["artifact_id"])
    wanted = call.query.get("verb", "revert" if artifact.status == "applied" else "apply")
    for verb in VERBS:
        if verb == wanted:
            return json_response(await _checked(services, [artifact.artifact_id], verb))
    raise InvalidFilter("verb", wanted)


async def check_patches(services: Services, call: Call) -> Response:
    """Whether all proposed patches of a run could be applied together."""
    run_id = (await find_run(services, call)).birth.run_id
    return json_response(await _checked(services, await proposed_patches(services, run_id), "apply"))


async def _checked(services: Services, ids: Sequence[str], verb: Verb) -> Check:
    try:
        if ids:
            await services.runtime.patches.check(ids, verb)
    except (Conflict, PathRefused) as refusal:
        return _refused(ids, verb, refusal)
    message = "it fits" if ids else "nothing is proposed"
    return Check(
        artifact_ids=list(ids),
        verb=verb,
        fits=True,
        code=None,
        message=message,
        hint="",
        path=None,
        expected=None,
        actual=None,
    )


def _refused(ids: Sequence[str], verb: Verb, refusal: RunwireError) -> Check:
    facts = {name: str(value) for name, value in refusal.details.items()}
    return Check(
        artifact_ids=list(ids),
        verb=verb,
        fits=False,
        code=refusal.code,
        message=refusal.message,
        hint=refusal.hint,
        path=facts.get("path"),
        expected=facts.get("expected"),
        actual=facts.get("actual"),
    )
