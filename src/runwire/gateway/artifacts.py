"""Artifacts: what is known about them, and their bytes."""

import re
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Send

from runwire.clock import rfc3339
from runwire.errors import InvalidFilter, InvalidRange
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.parameters import limit, name, number_cursor
from runwire.gateway.ranges import names, span
from runwire.gateway.services import Services
from runwire.gateway.sse import Headers, answer_empty, opened
from runwire.journal.artifact import KINDS, STATUSES, Artifact, ArtifactFilter, PatchStats

LIMIT_DEFAULT = 100
LIMIT_MAX = 1000
# The diff of a patch is part of what is known about it, as long as it is one that a person would read.
_DIFF_MAX = 256 * 1024
# An agent may have named any text as the type; only what is one may stand in a header.
_MIME = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+( *; *[\w!#$&^.+-]+=[\w!#$&^.+-]+)*", re.ASCII)


class ArtifactResource(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact. What its kind does not have is null."""

    id: str
    kind: str
    status: str | None
    target_path: str | None
    base_revision: str | None
    diff: str | None
    stats: PatchStats | None
    summary: str
    mime: str
    size_bytes: int
    sha256: str
    pinned: bool
    truncated: bool
    original_size_bytes: int | None
    redactions: int
    created_at: str
    applied_at: str | None
    rejected_at: str | None
    reverted_at: str | None
    inverse_of: str | None
    path: str | None
    revision: str | None
    exit_code: int | None
    url: str | None
    status_code: int | None
    query: str | None
    task_id: str | None
    produced_by_run_id: str | None
    produced_by_tool_call_id: str | None


class NothingSaid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing has to be said."""


class ArtifactReply(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact."""

    object: Literal["artifact"] = "artifact"
    data: ArtifactResource


class ArtifactList(msgspec.Struct, frozen=True, kw_only=True):
    """Some artifacts, newest first; their diffs are left out."""

    object: Literal["list"] = "list"
    data: list[ArtifactResource]
    has_more: bool
    next_cursor: str | None


async def list_artifacts(services: Services, call: Call) -> Response:
    """Artifacts by kind, run, task and status, newest first."""
    query = call.query
    which = ArtifactFilter(
        kind=_one_of("kind", query.get("kind"), KINDS),
        run_id=name(call, "run_id"),
        task_id=name(call, "task_id"),
        status=_one_of("status", query.get("status"), STATUSES),
        id_prefix=name(call, "id_prefix"),
    )
    most = limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX)
    cursor = None if "cursor" not in query else number_cursor(query["cursor"])
    page = await services.artifacts.list(which, cursor=cursor, limit=most)
    following = None if page.next_cursor is None else str(page.next_cursor)
    data = [resource_of(artifact, None) for artifact in page.artifacts]
    return json_response(ArtifactList(data=data, has_more=following is not None, next_cursor=following))


async def show_artifact(services: Services, call: Call) -> Response:
    """One artifact, with the diff of a patch."""
    artifact = await services.artifacts.get(call.path["artifact_id"])
    return await shown(services, artifact)


async def pin_artifact(services: Services, call: Call) -> Response:
    """Keep an artifact whatever happens to its run."""
    await call.json(NothingSaid, services.config.body_limit_bytes, default=b"{}")
    return await shown(services, await services.artifacts.pin(call.path["artifact_id"], True))


async def unpin_artifact(services: Services, call: Call) -> Response:
    """Let an artifact go with its run again."""
    await call.json(NothingSaid, services.config.body_limit_bytes, default=b"{}")
    return await shown(services, await services.artifacts.pin(call.path["artifact_id"], False))


async def send_body(services: Services, call: Call, send: Send) -> None:
    """The bytes of an artifact, whole or a range of them."""
    artifact = await services.artifacts.get(call.path["artifact_id"])
    lasting = ((b"etag", artifact.etag.encode()), (b"cache-control", b"private, max-age=31536000, immutable"))
    if names(call.header(b"if-none-match"), artifact.etag):
        await answer_empty(call, send, lasting, 304)
        return
    part = _part(call, artifact)
    start, end = part or (0, artifact.size)
    headers = (*_body_headers(artifact, start, end, partial=part is not None), *lasting)
    status = 200 if part is None else 206
    if call.method == "HEAD":
        await answer_empty(call, send, headers, status)
        return
    async with (
        await services.artifacts.open(artifact.artifact_id) as body,
        opened(call, send, services.tally, headers, status) as writer,
    ):
        async for chunk in body.chunks(start, end):
            await writer.put(chunk)


def _part(call: Call, artifact: Artifact) -> tuple[int, int] | None:
    """The range that is asked for, unless it is asked of another body."""
    if call.header(b"if-range") not in {None, artifact.etag}:
        return None
    try:
        return span(call.header(b"range"), artifact.size)
    except InvalidRange:
        call.headers.append((b"content-range", b"bytes */%d" % artifact.size))
        raise


def _body_headers(artifact: Artifact, start: int, end: int, *, partial: bool) -> Headers:
    mime = artifact.meta.mime
    headers = [
        (b"content-type", mime.encode() if _MIME.fullmatch(mime) else b"application/octet-stream"),
        (b"content-length", b"%d" % (end - start)),
        (b"accept-ranges", b"bytes"),
        # What an agent produced must never run as a page of this gateway.
        (b"content-security-policy", b"sandbox; default-src 'none'"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if partial:
        headers.append((b"content-range", b"bytes %d-%d/%d" % (start, end - 1, artifact.size)))
    return tuple(headers)


async def shown(services: Services, artifact: Artifact) -> Response:
    diff = None
    if artifact.kind == "patch" and artifact.size <= _DIFF_MAX:
        async with await services.artifacts.open(artifact.artifact_id) as body:
            diff = (await body.read()).decode("utf-8", "replace")
    return json_response(ArtifactReply(data=resource_of(artifact, diff)))


def resource_of(artifact: Artifact, diff: str | None) -> ArtifactResource:
    meta = artifact.meta
    return ArtifactResource(
        id=artifact.artifact_id,
        kind=artifact.kind,
        status=artifact.status,
        target_path=meta.target_path,
        base_revision=meta.base_revision,
        diff=diff,
        stats=meta.stats,
        summary=meta.summary,
        mime=meta.mime,
        size_bytes=artifact.size,
        sha256=artifact.digest.hex(),
        pinned=artifact.pinned,
        truncated=meta.truncated,
        original_size_bytes=meta.original_size,
        redactions=meta.redactions,
        created_at=rfc3339(artifact.created_ns),
        applied_at=meta.applied_at,
        rejected_at=meta.rejected_at,
        reverted_at=meta.reverted_at,
        inverse_of=meta.inverse_of,
        path=meta.path,
        revision=meta.revision,
        exit_code=meta.exit_code,
        url=meta.url,
        status_code=meta.status_code,
        query=meta.query,
        task_id=artifact.task_id,
        produced_by_run_id=artifact.run_id,
        produced_by_tool_call_id=meta.produced_by_tool_call_id,
    )


def _one_of(parameter: str, wanted: str | None, known: frozenset[str]) -> str | None:
    if wanted is not None and wanted not in known:
        raise InvalidFilter(parameter, wanted)
    return wanted
