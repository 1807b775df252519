"""The routes that the console needs beside those that everybody uses: its own files, and what a page asks to begin with."""

from collections.abc import Iterator
from dataclasses import replace

from runwire.errors import (
    ArtifactNotFound,
    InvalidContent,
    InvalidFilter,
    InvalidLimit,
    NotFound,
    RunActive,
    RunNotFound,
)
from runwire.gateway import documented as doc
from runwire.gateway import sessions
from runwire.gateway.about import About, show_about
from runwire.gateway.artifacts import NothingSaid
from runwire.gateway.checking import VERBS, Check, check_patch, check_patches
from runwire.gateway.console import show_asset, show_page
from runwire.gateway.demo import DemoResource, make_demo, remove_demo, show_demo
from runwire.gateway.operation import V1, Body, Operation, Parameter, Reply, json
from runwire.gateway.sessions import SessionList, list_sessions
from runwire.gateway.tree import Tree, show_tree

_HAVE_IT = Reply("You have it already.", 304)


def _files() -> Iterator[Operation]:
    yield Operation(
        method="GET",
        path="/",
        about="Show the console",
        scope=None,
        answer=show_page,
        parameters=doc.FILE_PARAMETERS,
        replies=(
            Reply("The page.", 200, {"text/html": doc.TEXT}),
            _HAVE_IT,
            Reply("A page that says how to build it.", 503, {"text/html": doc.TEXT}),
        ),
    )
    yield Operation(
        method="GET",
        path="/assets/{name}",
        about="Show a file of the console",
        scope=None,
        answer=show_asset,
        parameters=doc.FILE_PARAMETERS,
        replies=(Reply("The file.", 200, {"*/*": doc.BYTES}), _HAVE_IT),
        refusals=(NotFound,),
    )


def _beginning() -> Iterator[Operation]:
    yield Operation(
        method="GET",
        path=f"{V1}/about",
        about="Say what this gateway is, and what the caller may do",
        scope="read",
        answer=show_about,
        replies=json(About, "This gateway."),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/sessions",
        about="List the newest sessions",
        scope="read",
        answer=list_sessions,
        parameters=(doc.at_most(sessions.LIMIT_DEFAULT, sessions.LIMIT_MAX),),
        replies=json(SessionList, "The newest sessions."),
        refusals=(InvalidLimit,),
    )
    tree = Operation(
        method="GET",
        path=f"{V1}/runs/{{run_id}}/tree",
        about="Show the runs that belong together with a run",
        scope="read",
        answer=show_tree,
        replies=json(Tree, "The runs."),
        refusals=(RunNotFound,),
    )
    yield from (tree, replace(tree, path=f"{V1}/tasks/{{task_id}}/runs/{{run_id}}/tree"))


def _checks() -> Iterator[Operation]:
    yield Operation(
        method="GET",
        path=f"{V1}/artifacts/{{artifact_id}}/check",
        about="Say whether a patch would fit, and write nothing",
        scope="read",
        answer=check_patch,
        parameters=(Parameter("verb", "What would be done.", {"type": "string", "enum": list(VERBS)}),),
        replies=json(Check, "What would come of it."),
        refusals=(ArtifactNotFound, InvalidFilter, InvalidContent),
    )
    yield Operation(
        method="GET",
        path=f"{V1}/runs/{{run_id}}/patches/check",
        about="Say whether all proposed patches of a run would fit, and write nothing",
        scope="read",
        answer=check_patches,
        replies=json(Check, "What would come of it."),
        refusals=(RunNotFound, InvalidContent),
    )


def _demo() -> Iterator[Operation]:
    show = Operation(
        method="GET",
        path=f"{V1}/demo",
        about="Say whether there is a demonstration",
        scope="read",
        answer=show_demo,
        replies=json(DemoResource, "What there is of it."),
    )
    yield show
    yield replace(
        show,
        method="POST",
        about="Make the demonstration anew",
        scope="write",
        answer=make_demo,
        body=Body(NothingSaid, required=False),
        replies=json(DemoResource, "What there is of it.", 201),
        refusals=(*doc.BODY_REFUSALS, RunActive),
    )
    yield replace(
        show,
        method="DELETE",
        about="Remove the demonstration, if there is one",
        scope="operate",
        answer=remove_demo,
        replies=doc.NOTHING,
        refusals=(RunActive,),
    )


ROUTES: tuple[Operation, ...] = (*_files(), *_beginning(), *_checks(), *_demo())
