"""`runwire schema`: the contract of the events, from the classes themselves."""

import click
import msgspec

from runwire.cli import printing
from runwire.cli.options import Command, current
from runwire.cli.statuses import DONE
from runwire.errors import NotFound
from runwire.protocol.catalogue import ALIASES
from runwire.protocol.schema import EVENT, Schema, schema_for, schema_names
from runwire.protocol.typescript import typescript as typescript_module
from runwire.protocol.typescript import typescript_of


class SchemaNotFound(NotFound):
    """There is no schema of that name."""

    code = "schema_not_found"
    hint = "`runwire schema` prints all of them; `external.*` and unknown types may hold any object"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no event type {name!r}", details={"type": name})


@click.command(
    "schema",
    cls=Command,
    epilog="""\b
Examples:
  runwire schema                          one document with everything in it
  runwire schema tool.shell.exited        the data of one type
  runwire schema envelope                 what is around it
  runwire schema --typescript > wire.ts   types for a TypeScript program
  runwire schema run.failed --typescript  the type of one event's data""",
)
@click.argument("type", required=False, metavar="[TYPE]")
@click.option("--typescript", is_flag=True, help="TypeScript types instead of JSON Schema.")
def command(type: str | None, typescript: bool) -> int:  # noqa: A002 - the argument's name is shown to people
    """Print the JSON Schema (2020-12) of TYPE, or of all events in one document. Needs no gateway."""
    name = None if type is None else ALIASES.get(type, type)
    if typescript:
        printing.write_text(_typescript(name).rstrip("\n"))
        return DONE
    document = _bundle() if name is None else _schema(name)
    text = msgspec.json.encode(document)
    if not current().json:
        text = msgspec.json.format(text, indent=2)
    printing.write(text)
    return DONE


def _schema(name: str) -> Schema:
    try:
        return schema_for(name)
    except KeyError:
        raise SchemaNotFound(name) from None


def _typescript(name: str | None) -> str:
    # An event is any of them, so its type needs them all.
    if name is None or name == EVENT:
        return typescript_module()
    try:
        return typescript_of(name)
    except KeyError:
        raise SchemaNotFound(name) from None


def _bundle() -> Schema:
    """The schema of an event with all the others inside, each under its own `$id`: a validator needs nothing else."""
    return schema_for(EVENT) | {"$defs": {name: schema_for(name) for name in schema_names() if name != EVENT}}
