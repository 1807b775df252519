"""Patches: applied, rejected, reverted, and all of a run as one diff."""

from collections.abc import Sequence
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
from runwire.gateway.tasks import caller_of, claiming
from runwire.journal.artifact import Artifact, ArtifactFilter
from runwire.journal.replies import answer_lost

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
    also = claiming(services, call)
    (artifact,) = await services.runtime.patches.apply([call.path["artifact_id"]], by=caller_of(call), also=also)
    return await shown(services, artifact)


async def apply_again(services: Services, call: Call) -> Response | None:
    """The answer to an application that was carried out before a crash."""
    artifact = await _settled(services, call)
    return await shown(services, artifact) if artifact.status == "applied" else None


async def reject_patch(services: Services, call: Call) -> Response:
    """Refuse a proposed patch; the agent is told why."""
    asked = await call.json(ReasonRequest, services.config.body_limit_bytes, default=b"{}")
    patches, artifact_id, by = services.runtime.patches, call.path["artifact_id"], caller_of(call)
    chosen = await patches.batch_of(artifact_id) if asked.whole_batch else [artifact_id]
    await patches.reject_all(chosen, by=by, reason=asked.reason, also=claiming(services, call))
    return await shown(services, await services.artifacts.get(artifact_id))


async def reject_again(services: Services, call: Call) -> Response | None:
    """The answer to a rejection that was told before a crash."""
    artifact = await _settled(services, call)
    return await shown(services, artifact) if artifact.status == "rejected" else None


async def revert_patch(services: Services, call: Call) -> Response:
    """Take an applied patch back by its inverse."""
    asked = await call.json(ReasonRequest, services.config.body_limit_bytes, default=b"{}")
    patches, artifact_id, by = services.runtime.patches, call.path["artifact_id"], caller_of(call)
    chosen = await patches.batch_of(artifact_id) if asked.whole_batch else [artifact_id]
    reverted = await patches.revert_all(chosen, by=by, reason=asked.reason, also=claiming(services, call))
    artifact, inverse = next(one for one in reverted if one[0].artifact_id == artifact_id)
    return json_response(RevertReply(data=resource_of(artifact, None), inverse_artifact_id=inverse))


async def revert_again(services: Services, call: Call) -> Response | None:
    """The answer to a revert that was carried out before a crash."""
    artifact = await _settled(services, call)
    if artifact.meta.reverted_at is None:
        return None
    cursor: int | None = None
    while True:
        which = ArtifactFilter(kind="patch", run_id=artifact.run_id)
        page = await services.artifacts.list(which, cursor=cursor, limit=_PATCHES_MAX)
        for one in page.artifacts:
            if one.meta.inverse_of == artifact.artifact_id:
                answer = RevertReply(data=resource_of(artifact, None), inverse_artifact_id=one.artifact_id)
                return json_response(answer)
        cursor = page.next_cursor
        if cursor is None:
            raise answer_lost()


async def apply_patches(services: Services, call: Call) -> Response:
    """Write several patches of a run, all of them or none."""
    asked = await call.json(BatchRequest, services.config.body_limit_bytes, default=b"{}")
    run_id = (await find_run(services, call)).birth.run_id
    chosen = asked.artifact_ids
    if chosen is None:
        chosen = await proposed_patches(services, run_id)
    for artifact_id in asked.artifact_ids or ():
        if (await services.artifacts.get(artifact_id)).run_id != run_id:
            raise ArtifactNotFound(artifact_id)
    also = claiming(services, call)
    applied = await services.runtime.patches.apply(chosen, by=caller_of(call), also=also) if chosen else []
    return _listed(applied)


async def proposed_patches(services: Services, run_id: str) -> list[str]:
    """The patches of a run that nobody has decided about, oldest first."""
    which = ArtifactFilter(kind="patch", run_id=run_id, status="proposed")
    page = await services.artifacts.list(which, cursor=None, limit=_PATCHES_MAX)
    return [artifact.artifact_id for artifact in reversed(page.artifacts)]


async def apply_patches_again(services: Services, call: Call) -> Response | None:
    """The answer to an application of several patches that was carried out before a crash, if they were named."""
    asked = await call.json(BatchRequest, services.config.body_limit_bytes, default=b"{}")
    run_id = (await find_run(services, call)).birth.run_id
    await services.runtime.patches.settle(run_id)
    if asked.artifact_ids is None:
        left = await services.artifacts.list(
            ArtifactFilter(kind="patch", run_id=run_id, status="proposed"), cursor=None, limit=1
        )
        if left.artifacts:
            return None
        # All that were proposed then are applied now; which of those that are applied they were, nobody knows.
        raise answer_lost()
    found = [await services.artifacts.get(artifact_id) for artifact_id in dict.fromkeys(asked.artifact_ids)]
    found.sort(key=lambda artifact: (artifact.created_ns, artifact.artifact_id))
    return _listed(found) if found and all(artifact.status == "applied" for artifact in found) else None


def _listed(applied: Sequence[Artifact]) -> Response:
    data = [resource_of(artifact, None) for artifact in applied]
    return json_response(ArtifactList(data=data, has_more=False, next_cursor=None))


async def _settled(services: Services, call: Call) -> Artifact:
    """A patch once nothing of its run is half written any more."""
    artifact = await services.artifacts.get(call.path["artifact_id"])
    await services.runtime.patches.settle(artifact.run_id or "")
    return await services.artifacts.get(artifact.artifact_id)


async def show_run_patch(services: Services, call: Call) -> Response:
    """All that a run has changed, as one diff that `git apply` takes."""
    run_id = (await find_run(services, call)).birth.run_id
    body = await services.runtime.patches.merged(run_id)
    etag = f'"{sha256(body).hexdigest()}"'
    if names(call.header(b"if-none-match"), etag):
        return Response(status_code=304, headers={"etag": etag})
    headers = {"etag": etag, "cache-control": "no-store"}
    return Response(body, media_type="text/x-diff", headers=headers)
