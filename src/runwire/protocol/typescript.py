"""TypeScript types of every event, drawn from the schemas: one union to narrow by `type`, and a fallback for the unknown."""

import json
from collections.abc import Iterable, Iterator, Mapping

from runwire.protocol.catalogue import CATALOGUE, EXPERIMENTAL, TERMINAL
from runwire.protocol.schema import ENVELOPE, Schema, definitions_of, properties_of, required_of, schema_for

_PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}

_HEADER = """\
// Generated from the payload classes. Do not edit: run `python scripts/generate.py`.

"""

_FOOTER = """\
/** The type of every event that this release knows. */
export type EventType = keyof EventDataByType;

/** An event whose type is known: comparing `type` narrows `data`. */
export type KnownEvent = { [T in EventType]: EnvelopeOf<T, EventDataByType[T]> }[EventType];

/** An event of a type that this release does not know. Show it raw; never fail on it. */
export type OpaqueEvent = EnvelopeOf<string, Record<string, unknown>>;

/** Anything that a stream may carry. Ask `isKnownEvent` first, then narrow by `type`. */
export type AnyEvent = KnownEvent | OpaqueEvent;

const KNOWN: ReadonlySet<string> = new Set<string>(EVENT_TYPES);
const TERMINAL: ReadonlySet<string> = new Set<string>(TERMINAL_TYPES);

/** Whether the event's type is known, so that `type` narrows `data`. */
export function isKnownEvent(event: AnyEvent): event is KnownEvent {
  return KNOWN.has(event.type);
}

/** Whether the event ends its run. */
export function isTerminal(event: AnyEvent): boolean {
  return TERMINAL.has(event.type);
}
"""


def typescript() -> str:
    """Return the whole module."""
    nested: dict[str, Schema] = {}
    payloads = [text for name in CATALOGUE for text in _payload(name, nested)]
    index = [f"  {json.dumps(name)}: {_class_name(name)};" for name in CATALOGUE]
    return "\n".join(
        [
            _HEADER + _envelope(),
            *_names("EVENT_TYPES", "Every known type.", CATALOGUE),
            *_names("TERMINAL_TYPES", "The types that end a run.", sorted(TERMINAL)),
            *_names("EXPERIMENTAL_TYPES", "Types that are sent only on request.", sorted(EXPERIMENTAL)),
            *_shared(nested),
            *payloads,
            "/** The shape of `data` for each known type. */",
            "export interface EventDataByType {",
            *index,
            "}\n",
            _FOOTER,
        ]
    )


def typescript_of(name: str) -> str:
    """Return the declaration of one type's data, or of the envelope, after those it refers to; or raise KeyError."""
    if name == ENVELOPE:
        return _envelope()
    nested: dict[str, Schema] = {}
    payload = _payload(name, nested)
    return "\n".join([*_shared(nested), *payload])


def _shared(nested: Mapping[str, Schema]) -> list[str]:
    return [text for name, schema in sorted(nested.items()) for text in _interface(name, schema)]


def _envelope() -> str:
    fields = list(_fields(schema_for(ENVELOPE), {"type": "T", "data": "D", "schema_version": '"1"'}))
    return "\n".join(
        [
            "/** One event as it is stored and served. */",
            "export interface EnvelopeOf<T extends string, D> {",
            *fields,
            "}\n",
        ]
    )


def _names(constant: str, promise: str, names: Iterable[str]) -> list[str]:
    return [f"/** {promise} */", f"export const {constant} = [", *(f'  "{name}",' for name in names), "] as const;\n"]


def _payload(name: str, nested: dict[str, Schema]) -> list[str]:
    schema = schema_for(name)
    nested |= definitions_of(schema)
    return _interface(_class_name(name), schema)


def _interface(name: str, schema: Schema) -> list[str]:
    return [f"/** {schema['description']} */", f"export interface {name} {{", *_fields(schema, {}), "}\n"]


def _fields(schema: Schema, given: Mapping[str, str]) -> Iterator[str]:
    for name, field in properties_of(schema).items():
        if "description" in field:
            yield f"  /** {field['description']} */"
        # A field with a default is always written, though an older writer may have left it out.
        optional = "" if name in required_of(schema) else "?"
        yield f"  {name}{optional}: {given.get(name) or _type(field)};"


def _type(schema: Mapping[str, object]) -> str:
    match schema:
        case {"$ref": str(reference)}:
            return reference.rpartition("/")[2]
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value) for value in values)
        case {"anyOf": list(options)}:
            return " | ".join(dict.fromkeys(_type(option) for option in options))
        case {"type": "array", "items": dict(items)}:
            return f"Array<{_type(items)}>"
        case {"type": str(name)}:
            return _PRIMITIVES[name]
        case _:
            return "unknown"


def _class_name(event_type: str) -> str:
    return CATALOGUE[event_type].__name__
