"""Ids for the shell: what could be meant by what is typed so far. It never fails, never waits long, and makes nothing."""

import asyncio
import io
from collections.abc import Sequence
from contextlib import redirect_stderr

import click
import msgspec
from click.shell_completion import CompletionItem

from runwire.cli.options import Options
from runwire.ids import is_foreign_id

SHELLS = ("bash", "zsh", "fish")

# Whoever presses TAB does not wait longer than this for ids.
_PATIENCE_S = 3.0
_MOST = 50


class _Id(click.ParamType[str]):
    """Something that has an id, whole or as a unique beginning."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, unless it could be no id at all."""
        text = str(value)
        if not is_foreign_id(text):
            self.fail(f"{text[:64]!r} is no id", param, ctx)
        return text


class RunId(_Id):
    """A run, whole or as a unique beginning."""

    name = "run"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's own signature
        """The newest runs that begin so."""
        return _items(ctx, incomplete, "runs")


class ApprovalId(_Id):
    """An approval, whole or as a unique beginning."""

    name = "approval"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's own signature
        """Those that wait and begin so."""
        return _items(ctx, incomplete, "approvals")


class ArtifactId(_Id):
    """An artifact, whole or as a unique beginning."""

    name = "artifact"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's own signature
        """The newest patches that begin so."""
        return _items(ctx, incomplete, "artifacts")


class RunOrArtifactId(_Id):
    """A run or an artifact, whole or as a unique beginning."""

    name = "run|artifact"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's own signature
        """Runs, and once it says so, patches."""
        return _items(ctx, incomplete, "artifacts" if incomplete.startswith("a") else "runs")


class RunOrFile(click.ParamType[str]):
    """A run or a file."""

    name = "run|file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, unless there is none."""
        if not value:
            self.fail("'' is neither a run nor a file", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's own signature
        """Runs that begin so, else files."""
        return _items(ctx, incomplete, "runs") or [CompletionItem(incomplete, type="file")]


class _Thing(msgspec.Struct, frozen=True):
    """What a list tells of a run, an approval or an artifact."""

    id: str = ""
    run_id: str = ""
    approval_id: str = ""
    status: str | None = None
    agent: str = ""
    summary: str = ""


def _items(context: click.Context, incomplete: str, kind: str) -> list[CompletionItem]:
    options = context.find_object(Options) or Options()
    try:
        # Whatever is said now would stand in the line that somebody types.
        with redirect_stderr(io.StringIO()):
            found = asyncio.run(asyncio.wait_for(_found(options, incomplete, kind), _PATIENCE_S))
    except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed, whatever is wrong with the gateway
        return []
    return [item for item in found if item.value.startswith(incomplete)]


async def _found(options: Options, incomplete: str, kind: str) -> Sequence[CompletionItem]:
    from runwire.cli.reaching import look_in

    filters = {"id_prefix": incomplete} if incomplete else {}
    async with look_in(options) as client:
        if client is None:
            return []
        match kind:
            case "runs":
                listing = await client.runs(limit=_MOST, **filters)
            case "approvals":
                listing = await client.approvals(limit=_MOST, **filters)
            case _:
                listing = await client.artifacts(kind="patch", limit=str(_MOST), **filters)
    things = [msgspec.json.decode(one, type=_Thing) for one in listing.data]
    return [_item(thing) for thing in things]


def _item(thing: _Thing) -> CompletionItem:
    from runwire.cli.lines import plain

    told = " ".join(part for part in (thing.status, thing.agent, thing.summary) if part)
    # An approval names its run, too, so its own id comes first.
    return CompletionItem(thing.approval_id or thing.id or thing.run_id, help=plain(told)[:60])
