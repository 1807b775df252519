"""`runwire approve`: let it happen."""

import asyncio
import sys
from pathlib import Path

import click
import msgspec

from runwire.cli import printing
from runwire.cli.completing import ApprovalId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.answers import Approval
from runwire.client.naming import approval_named


@click.command(
    "approve",
    cls=Command,
    epilog="""\b
Examples:
  runwire approve APPROVAL
  runwire approve APPROVAL --scope task --comment "fine here"
  runwire approve APPROVAL --edit input.json    with another input than was asked for""",
)
@click.argument("approval", type=ApprovalId())
@click.option("--comment", metavar="TEXT", help="A word for the log.")
@click.option(
    "--scope",
    type=click.Choice(["once", "session", "task", "always"]),
    help="For how long the same may happen without asking [default: once].",
)
@click.option(
    "--edit",
    "edited",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    metavar="FILE",
    help="A JSON object to use as the input instead; - is stdin.",
)
def command(approval: str, comment: str | None, scope: str | None, edited: Path | None) -> int:
    """Approve APPROVAL. The first answer wins: a later one that differs is refused with status 5.

    Works with or without a running gateway.
    """
    return asyncio.run(_approve(current(), approval, comment, scope, _read(edited)))


def _read(path: Path | None) -> dict[str, object] | None:
    if path is None:
        return None
    body = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise click.UsageError(f"{path} holds no JSON object: {wrong}") from wrong


async def _approve(
    options: Options, approval_id: str, comment: str | None, scope: str | None, edited: dict[str, object] | None
) -> int:
    async with reached_or_embedded(options) as client:
        approval_id = await approval_named(client, approval_id)
        approval = await client.approve(approval_id, comment=comment, scope=scope, edited_input=edited)
    tell_decision(options, approval)
    return DONE


def tell_decision(options: Options, approval: Approval) -> None:
    """Say how a question was answered."""
    if options.json:
        printing.write_json({"approval_id": approval.approval_id, "status": approval.status, "run_id": approval.run_id})
    else:
        printing.write_text(f"{approval.approval_id} {approval.status} ({approval.run_id})")
