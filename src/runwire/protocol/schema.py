"""JSON Schema (2020-12) of the envelope and of every payload, drawn from the classes. Fields may be added; none is closed."""

import msgspec

from runwire.protocol.catalogue import CATALOGUE, STABILITY
from runwire.protocol.envelope import Envelope

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ROOT = "/hecate/v1/schemas/events/v1/"

ENVELOPE = "envelope"
EVENT = "event"

Schema = dict[str, object]


def schema_names() -> list[str]:
    """Name every schema: the envelope, the whole event, and each type."""
    return [ENVELOPE, EVENT, *sorted(CATALOGUE)]


def schema_for(name: str) -> Schema:
    """Return the schema of that name, or raise KeyError."""
    if name == ENVELOPE:
        return _document(ENVELOPE, Envelope)
    if name == EVENT:
        return _event()
    return _document(name, CATALOGUE[name]) | {"x-stability": STABILITY[name]}


def properties_of(schema: Schema) -> dict[str, Schema]:
    """Return the fields that a schema describes."""
    fields = schema.get("properties")
    return fields if isinstance(fields, dict) else {}


def required_of(schema: Schema) -> list[str]:
    """Return the names of the fields that must be there."""
    names = schema.get("required")
    return names if isinstance(names, list) else []


def definitions_of(schema: Schema) -> dict[str, Schema]:
    """Return the nested schemas that a schema refers to."""
    nested = schema.get("$defs")
    return nested if isinstance(nested, dict) else {}


def _document(name: str, cls: type[msgspec.Struct]) -> Schema:
    (reference,), components = msgspec.json.schema_components(
        [cls], schema_hook=_anything, ref_template="#/$defs/{name}"
    )
    body: Schema = components.pop(str(reference["$ref"]).rpartition("/")[2])
    properties = properties_of(body)
    if "redacted_paths" in properties:
        # Every payload may have it, so what is particular to the type comes first.
        properties["redacted_paths"] = properties.pop("redacted_paths")
    head: Schema = {"$schema": DIALECT, "$id": f"{ROOT}{name}.json"}
    return head | body | {"title": name} | ({"$defs": components} if components else {})


def _event() -> Schema:
    """An envelope whose data, when its type is known, has the shape of the type."""
    known = [
        {
            "if": {"properties": {"type": {"const": name}}},
            "then": {"properties": {"data": {"$ref": f"{name}.json"}}},
        }
        for name in sorted(CATALOGUE)
    ]
    return {
        "$schema": DIALECT,
        "$id": f"{ROOT}{EVENT}.json",
        "title": EVENT,
        "description": "An envelope whose data has the shape of its type. Unknown types may hold any object.",
        "$ref": f"{ENVELOPE}.json",
        "allOf": known,
    }


def _anything(cls: type) -> Schema:
    if cls is object:
        return {"description": "Any JSON value."}
    # This is how msgspec wants a hook to say that it does not know a type.
    raise NotImplementedError(cls)
