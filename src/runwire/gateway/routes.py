"""Every route, on one page: who may call it, what answers it, and what it answers with."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import msgspec
from starlette.responses import Response

from runwire.errors import (
    ArtifactNotFound,
    InvalidRange,
    NotFound,
    RunNotFound,
    TaskNotFound,
    TokenNotFound,
    Unavailable,
)
from runwire.gateway import documented as doc
from runwire.gateway.agno.routes import ROUTES as AGNO_ROUTES
from runwire.gateway.artifacts import (
    ArtifactList,
    ArtifactReply,
    NothingSaid,
    list_artifacts,
    pin_artifact,
    send_body,
    show_artifact,
    unpin_artifact,
)
from runwire.gateway.call import Call
from runwire.gateway.events import read_run
from runwire.gateway.external import append_events
from runwire.gateway.feed import list_feed, stream_feed
from runwire.gateway.health import Health, Readiness, healthz, metrics, readyz
from runwire.gateway.importing import Imported, import_run
from runwire.gateway.json import json_bytes
from runwire.gateway.openapi import document
from runwire.gateway.operation import V1, Body, Operation, Reply, json
from runwire.gateway.operator import (
    NewToken,
    NewTokenRequest,
    PruneReport,
    PruneRequest,
    TokenList,
    create_token,
    list_tokens,
    prune,
    revoke_token,
)
from runwire.gateway.routes_console import ROUTES as CONSOLE
from runwire.gateway.routes_runs import ROUTES as DOING
from runwire.gateway.runs import RunList, RunResource, list_runs, show_run
from runwire.gateway.schemas import SchemaIndex, list_schemas, show_schema
from runwire.gateway.services import Services


async def show_openapi(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """This page, for programs."""
    return json_bytes(_openapi())


@lru_cache(maxsize=1)
def _openapi() -> bytes:
    return msgspec.json.encode(document(ROUTES))


def _in_task(operation: Operation) -> Operation:
    """The same by the path that names the task, too."""
    return replace(operation, path=operation.path.replace(f"{V1}/runs", f"{V1}/tasks/{{task_id}}/runs"))


def _at_root(operation: Operation) -> Operation:
    """The same where probes and scrapers look for it."""
    return replace(operation, path=operation.path.removeprefix(V1))


def _reading_runs() -> Iterator[Operation]:
    run_events = Operation(
        method="GET",
        path=f"{V1}/runs/{{run_id}}/events",
        about="Read a run: live, as a list, or as a file",
        scope="read",
        stream=read_run,
        parameters=doc.RUN_PARAMETERS,
        replies=doc.RUN_REPLIES,
        refusals=doc.RUN_REFUSALS,
    )
    show = Operation(
        method="GET",
        path=f"{V1}/runs/{{run_id}}",
        about="Show a run",
        scope="read",
        answer=show_run,
        replies=json(RunResource, "The run."),
        refusals=(RunNotFound,),
    )
    listing = Operation(
        method="GET",
        path=f"{V1}/runs",
        about="List runs, newest first",
        scope="read",
        answer=list_runs,
        parameters=doc.RUNS_PARAMETERS,
        replies=json(RunList, "Some runs."),
        refusals=doc.LIST_REFUSALS,
    )
    yield from (run_events, show, listing, _in_task(run_events), _in_task(show))
    yield replace(_in_task(listing), about="List the runs of a task", refusals=(*doc.LIST_REFUSALS, TaskNotFound))


def _feed() -> Iterator[Operation]:
    yield Operation(
        method="GET",
        path=f"{V1}/events",
        about="Read the events of all runs",
        scope="read",
        stream=list_feed,
        parameters=doc.FEED_LIST_PARAMETERS,
        replies=doc.FEED_REPLIES,
        refusals=doc.FEED_REFUSALS,
    )
    yield Operation(
        method="GET",
        path=f"{V1}/events/stream",
        about="Follow the events of all runs",
        scope="read",
        stream=stream_feed,
        parameters=doc.FEED_STREAM_PARAMETERS,
        replies=doc.FEED_STREAM_REPLIES,
        refusals=doc.FEED_REFUSALS,
    )


def _writing() -> Iterator[Operation]:
    append = Operation(
        method="POST",
        path=f"{V1}/runs/{{run_id}}/events",
        about="Append external events to a run",
        scope="write",
        answer=append_events,
        body=Body(doc.NEW_EVENTS, limit_bytes=lambda services: services.config.append_limit_bytes),
        replies=doc.APPEND_REPLIES,
        refusals=doc.APPEND_REFUSALS,
    )
    yield from (append, _in_task(append))
    yield Operation(
        method="POST",
        path=f"{V1}/import",
        about="Take in a run from a file of envelopes, one a line",
        scope="write",
        answer=import_run,
        parameters=(doc.AGENT,),
        body=Body(doc.TEXT, "application/x-ndjson", lambda services: services.config.import_limit_bytes, spooled=True),
        replies=json(Imported, "The run is here.", 201),
        refusals=doc.IMPORT_REFUSALS,
    )


def _artifacts() -> Iterator[Operation]:
    one = f"{V1}/artifacts/{{artifact_id}}"
    shown, unknown = json(ArtifactReply, "The artifact."), (ArtifactNotFound,)
    yield Operation(
        method="GET",
        path=f"{V1}/artifacts",
        about="List artifacts, newest first",
        scope="read",
        answer=list_artifacts,
        parameters=doc.ARTIFACTS_PARAMETERS,
        replies=json(ArtifactList, "Some artifacts."),
        refusals=doc.LIST_REFUSALS,
    )
    yield Operation(
        method="GET",
        path=one,
        about="Show an artifact",
        scope="read",
        answer=show_artifact,
        replies=shown,
        refusals=unknown,
    )
    yield Operation(
        method="GET",
        path=f"{one}/raw",
        about="Read the bytes of an artifact",
        scope="read",
        stream=send_body,
        parameters=doc.RAW_PARAMETERS,
        replies=doc.RAW_REPLIES,
        refusals=(ArtifactNotFound, InvalidRange),
    )
    yield Operation(
        method="POST",
        path=f"{one}/pin",
        about="Keep an artifact whatever happens to its run",
        scope="operate",
        answer=pin_artifact,
        body=Body(NothingSaid, required=False),
        replies=shown,
        refusals=(*doc.BODY_REFUSALS, *unknown),
    )
    yield Operation(
        method="POST",
        path=f"{one}/unpin",
        about="Let an artifact go with its run again",
        scope="operate",
        answer=unpin_artifact,
        body=Body(NothingSaid, required=False),
        replies=shown,
        refusals=(*doc.BODY_REFUSALS, *unknown),
    )


def _operator() -> Iterator[Operation]:
    yield Operation(
        method="POST",
        path=f"{V1}/prune",
        about="Remove old events",
        scope="admin",
        answer=prune,
        body=Body(PruneRequest),
        replies=json(PruneReport, "What went."),
        refusals=(*doc.BODY_REFUSALS, RunNotFound),
    )
    yield Operation(
        method="POST",
        path=f"{V1}/tokens",
        about="Make a token",
        scope="admin",
        answer=create_token,
        body=Body(NewTokenRequest),
        replies=json(NewToken, "The token, and its secret this once.", 201),
        refusals=doc.BODY_REFUSALS,
    )
    yield Operation(
        method="GET",
        path=f"{V1}/tokens",
        about="List the tokens",
        scope="admin",
        answer=list_tokens,
        replies=json(TokenList, "Every token."),
    )
    yield Operation(
        method="DELETE",
        path=f"{V1}/tokens/{{token_id}}",
        about="Revoke a token",
        scope="admin",
        answer=revoke_token,
        replies=doc.NOTHING,
        refusals=(TokenNotFound,),
    )


def _documents() -> Iterator[Operation]:
    index = Operation(
        method="GET",
        path=f"{V1}/schemas/events/v1/",
        about="List the schemas of the events",
        scope="read",
        answer=list_schemas,
        replies=json(SchemaIndex, "Every schema there is."),
    )
    yield from (index, replace(index, path=index.path.rstrip("/")))
    yield Operation(
        method="GET",
        path=f"{V1}/schemas/events/v1/{{name}}",
        about="Show the schema of the envelope, or of one type of event",
        scope="read",
        answer=show_schema,
        replies=json(doc.OBJECT, "The JSON Schema."),
        refusals=(NotFound,),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/openapi.json",
        about="Show this page",
        scope="read",
        answer=show_openapi,
        replies=json(doc.OBJECT, "The OpenAPI document."),
    )


def _health() -> Iterator[Operation]:
    alive = Operation(
        method="GET",
        path=f"{V1}/healthz",
        about="Say that the process lives",
        scope=None,
        answer=healthz,
        replies=json(Health, "It does."),
    )
    ready = Operation(
        method="GET",
        path=f"{V1}/readyz",
        about="Say whether the journal can be written",
        scope="read",
        answer=readyz,
        replies=json(Readiness, "It can."),
        refusals=(Unavailable,),
    )
    figures = Operation(
        method="GET",
        path=f"{V1}/metrics",
        about="Show what is counted, for Prometheus",
        scope="read",
        answer=metrics,
        replies=(Reply("The figures.", 200, {"text/plain": doc.TEXT}),),
    )
    for operation in (alive, ready, figures):
        yield from (operation, _at_root(operation))


ROUTES: tuple[Operation, ...] = (
    *_reading_runs(),
    *_feed(),
    *_writing(),
    *_artifacts(),
    *_operator(),
    *_documents(),
    *_health(),
    *DOING,
    *CONSOLE,
    *AGNO_ROUTES,
)
