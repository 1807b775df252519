"""Patches: applied, rejected, reverted, and all of a run as one diff."""

from hashlib import sha256
from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.errors import ArtifactNotFound
from runwire.gateway.artifacts import ArtifactList, ArtifactResource, NothingSaid, resource_of, shown
from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_response
from runwire.gateway.ranges import names
from runwire.gateway.services import Services
from runwire.gateway.tasks import caller_of
from runwire.journal.artifact import ArtifactFilter

_PATCHES_MAX = 1000


class ReasonRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a patch is refused or taken back, and whether the whole edit is meant that it is part of."""

    reason: str = ""
    whole_batch: bool = False


class BatchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which patches; all that are proposed unless some are named."""

    artifact_ids: list[str] | None = None


class RevertReply(msgspec.Struct, frozen=True, kw_only=True):
    """A patch that was taken back, and the patch that did it."""

    object: Literal["artifact"] = "artifact"
    data: ArtifactResource
    inverse_artifact_id: str


async def apply_patch(services: Services, call: Call) -> Response:
    """Write one proposed patch into its workspace."""
    await call.json(NothingSaid, services.config.body_limit_bytes, default=b"{}")
    (artifact,) = await services.runtime.patches.apply([call.path["artifact_id"]], by=caller_of(call))
    return await shown(services, artifact)


async def reject_patch(services: Services, call: Call) -> Response:
    """Refuse a proposed patch; the agent is told why."""
    asked = await call.json(ReasonRequest, services.config.body_limit_bytes, default=b"{}")
    patches, artifact_id, by = services.runtime.patches, call.path["artifact_id"], caller_of(call)
    if asked.whole_batch:
        await patches.reject_all(await patches.batch_of(artifact_id), by=by, reason=asked.reason)
        return await shown(services, await services.artifacts.get(artifact_id))
    return await shown(services, await patches.reject(artifact_id, by=by, reason=asked.reason))


async def revert_patch(services: Services, call: Call) -> Response:
    """Take an applied patch back by its inverse."""
    asked = await call.json(ReasonRequest, services.config.body_limit_bytes, default=b"{}")
    patches, artifact_id, by = services.runtime.patches, call.path["artifact_id"], caller_of(call)
    chosen = await patches.batch_of(artifact_id) if asked.whole_batch else [artifact_id]
    reverted = await patches.revert_all(chosen, by=by, reason=asked.reason)
    artifact, inverse = next(one for one in reverted if one[0].artifact_id == artifact_id)
    return json_response(RevertReply(data=resource_of(artifact, None), inverse_artifact_id=inverse))


async def apply_patches(services: Services, call: Call) -> Response:
    """Write several patches of a run, all of them or none."""
    asked = await call.json(BatchRequest, services.config.body_limit_bytes, default=b"{}")
    run_id = (await find_run(services, call)).birth.run_id
    chosen = asked.artifact_ids
    if chosen is None:
        which = ArtifactFilter(kind="patch", run_id=run_id, status="proposed")
        page = await services.artifacts.list(which, cursor=None, limit=_PATCHES_MAX)
        chosen = [artifact.artifact_id for artifact in reversed(page.artifacts)]
    for artifact_id in asked.artifact_ids or ():
        if (await services.artifacts.get(artifact_id)).run_id != run_id:
            raise ArtifactNotFound(artifact_id)
    applied = await services.runtime.patches.apply(chosen, by=caller_of(call)) if chosen else []
    data = [resource_of(artifact, None) for artifact in applied]
    return json_response(ArtifactList(data=data, has_more=False, next_cursor=None))


async def show_run_patch(services: Services, call: Call) -> Response:
    """All that a run has changed, as one diff that `git apply` takes."""
    run_id = (await find_run(services, call)).birth.run_id
    body = await services.runtime.patches.merged(run_id)
    etag = f'"{sha256(body).hexdigest()}"'
    if names(call.header(b"if-none-match"), etag):
        return Response(status_code=304, headers={"etag": etag})
    headers = {"etag": etag, "cache-control": "no-store"}
    return Response(body, media_type="text/x-diff", headers=headers)
