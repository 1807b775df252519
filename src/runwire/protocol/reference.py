"""The page that describes every event type, drawn from the schemas and one example of each."""

import json
from collections.abc import Iterator, Mapping

from runwire.protocol.catalogue import ALIASES, CATALOGUE, STABILITY
from runwire.protocol.schema import ENVELOPE, Schema, definitions_of, properties_of, required_of, schema_for

_FAMILIES: Mapping[str, str] = {
    "run": "The life of a run",
    "turn": "Turns",
    "assistant": "What the model says",
    "user": "What a person says",
    "tool": "Tool calls",
    "approval": "Approvals",
    "artifact": "Artifacts",
    "cost": "Cost and budget",
    "policy": "Policy",
    "error": "Errors",
    "gap": "Gaps",
    "agent": "Driven agents",
}

_OPENING = """\
<!-- Generated from the payload classes. Do not edit: run `python scripts/generate.py`. -->

# Events

Every event is one JSON object, the envelope; its `type` decides the shape of `data`. `spec/PROTOCOL.md` says what must hold
for a whole log, `spec/schema/v1/` has the JSON Schemas and `spec/types/v1.ts` the TypeScript types.

Stability: **core** may be relied on; **artifact** rests on artifact storage; **experimental** is sent only when a task asks
for the type by name; **extension** is Runwire's own, under `agent.` and `external.`. A reader shows a type it does not know as raw JSON.
Every payload may also carry `redacted_paths`: the JSON Pointers, within `data`, of values that were redacted.
"""

_EXTERNAL = """\
## Outside callers

Any type under `external.` may be appended by outside callers, with any object as `data`. Runwire stores and serves such
events like all others and never acts on them.
"""


def reference(examples: Mapping[str, object]) -> str:
    """Return the page; `examples` holds the data of one event of each type."""
    parts = [_OPENING, "## The envelope\n", *_table(schema_for(ENVELOPE)), ""]
    homeless = [name for name in CATALOGUE if name.partition(".")[0] not in _FAMILIES]
    if homeless:
        raise ValueError(f"no family in the reference holds {', '.join(homeless)}: name its first word in _FAMILIES")
    for family, heading in _FAMILIES.items():
        parts.append(f"## {heading}\n")
        for name in CATALOGUE:
            if name.partition(".")[0] == family:
                parts += _section(name, examples[name])
    parts += [_EXTERNAL, "## Older names\n", "Understood on reading, never written:\n"]
    parts += [f"- `{old}` is read as `{new}`" for old, new in ALIASES.items()]
    return "\n".join(parts) + "\n"


def _section(name: str, example: object) -> list[str]:
    schema = schema_for(name)
    shown = json.dumps(example, indent=2, ensure_ascii=False)
    return [
        f"### `{name}`\n",
        f"{schema['description']} *{STABILITY[name]}*\n",
        *_table(schema),
        "",
        f"```json\n{shown}\n```\n",
    ]


def _table(schema: Schema) -> Iterator[str]:
    yield "| field | type | |"
    yield "|---|---|---|"
    for name, field in properties_of(schema).items():
        if name != "redacted_paths":
            yield f"| `{name}` | {_type(field, schema)} | {_note(name, field, schema)} |"


def _note(name: str, field: Schema, schema: Schema) -> str:
    described = str(field.get("description", ""))
    if name in required_of(schema):
        return described
    if "default" in field:
        return f"{described} Default `{json.dumps(field['default'])}`.".strip()
    return f"Optional. {described}".strip()


def _type(field: Mapping[str, object], schema: Schema) -> str:
    match field:
        case {"$ref": str(reference)}:
            return _nested(reference.rpartition("/")[2], schema)
        case {"enum": list(values)}:
            return " or ".join(f"`{value}`" for value in values)
        case {"anyOf": list(options)}:
            return " or ".join(_type(option, schema) for option in options)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_type(items, schema)}"
        case {"type": str(primitive)}:
            return primitive
        case _:
            return "any"


def _nested(name: str, schema: Schema) -> str:
    return "{" + ", ".join(f"`{field}`" for field in properties_of(definitions_of(schema)[name])) + "}"
