"""What a person may answer to a question, and what becomes of it."""

import asyncio
from collections.abc import Mapping

import click
import msgspec

from runwire.client.client import Client
from runwire.errors import RunwireError

ANSWERS = frozenset("ynase")
"""Yes, no, always, stop the run, edit."""


class NotEdited(RunwireError):
    """What came out of the editor cannot be used."""

    code = "not_edited"
    hint = "answer e once more, or y to let it happen as it is"


async def decide(client: Client, approval_id: str, answer: str, arguments: Mapping[str, object] | None) -> None:
    """Send the answer; `e` opens the arguments in the person's editor first."""
    match answer:
        case "y":
            await client.approve(approval_id)
        case "a":
            await client.approve(approval_id, scope="always")
        case "n":
            await client.deny(approval_id)
        case "s":
            await client.deny(approval_id, stop=True)
        case "e":
            await client.approve(approval_id, edited_input=await _edited(arguments or {}))
        case _:
            raise ValueError(f"{answer!r} is no answer")


async def _edited(arguments: Mapping[str, object]) -> dict[str, object]:
    text = msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()
    try:
        # In a thread: the run may be carried out by this very process, and goes on meanwhile.
        written = await asyncio.to_thread(click.edit, text, extension=".json")
    except click.ClickException as error:
        raise NotEdited(f"the editor did not work: {error.format_message()}") from error
    if written is None:
        raise NotEdited("nothing was changed, so nothing was answered")
    try:
        return msgspec.json.decode(written, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise NotEdited(f"that is no JSON object: {error}") from error
