"""`runwire token`: who may call the gateway."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.look import Moment, look_of
from runwire.cli.options import Group, Options, current
from runwire.cli.quantities import Duration
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.answers import Token

_SCOPES = ("read", "operate", "write", "admin")


@click.group(
    "token",
    cls=Group,
    epilog="""\b
Examples:
  runwire token create --name dashboard --scope read
  runwire token create --name ci --scope write --scope operate --expires 30d
  runwire token list
  runwire token revoke tok_01J…""",
)
def command() -> None:
    """Make, list and revoke tokens. Works with or without a running gateway."""


@command.command("create")
@click.option("--name", required=True, metavar="NAME", help="What the token is for; shown in lists and in the log.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(_SCOPES), help="What it may do [default: read].")
@click.option("--expires", type=Duration(), metavar="TIME", help="When it stops being good, such as 30d; else never.")
def create(name: str, scopes: tuple[str, ...], expires: float | None) -> int:
    """Make a token and print its secret, which cannot be shown again.

    read: look at everything. operate: approve, cancel, apply. write: create and ingest. admin: all of it, and tokens.
    """
    return asyncio.run(_create(current(), name, list(scopes or ("read",)), expires))


@command.command("list")
def list_tokens() -> int:
    """List the tokens, also those that are no longer good."""
    return asyncio.run(_list(current()))


@command.command("revoke")
@click.argument("token_id", metavar="TOKEN_ID")
def revoke(token_id: str) -> int:
    """Make a token worthless."""
    return asyncio.run(_revoke(current(), token_id))


async def _create(options: Options, name: str, scopes: list[str], expires_s: float | None) -> int:
    async with reached_or_embedded(options) as client:
        made = await client.create_token(name, scopes, ttl_s=expires_s)
    if options.json:
        printing.write_json(made)
    else:
        printing.write_text(made.token)
        click.echo(f"{made.token_id}: keep the secret now, it cannot be shown again", err=True)
    return DONE


async def _list(options: Options) -> int:
    async with reached_or_embedded(options) as client:
        listing = await client.tokens()
    if options.json:
        for token in listing.data:
            printing.write(bytes(token))
        return DONE
    tokens = [msgspec.json.decode(token, type=Token) for token in listing.data]
    write_table(
        ("TOKEN", "NAME", "SCOPES", "CREATED", "EXPIRES", "REVOKED"),
        [
            (
                # Whole: `revoke` takes no less.
                token.token_id,
                token.name,
                ",".join(token.scopes),
                Moment(token.created_at),
                Moment(token.expires_at or ""),
                Moment(token.revoked_at or ""),
            )
            for token in tokens
        ],
        look=look_of(options),
    )
    return DONE


async def _revoke(options: Options, token_id: str) -> int:
    async with reached_or_embedded(options) as client:
        await client.revoke_token(token_id)
    return DONE
