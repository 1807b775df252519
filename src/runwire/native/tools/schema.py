"""A tool's input: the JSON Schema that a model is given, and the reading of what it sends back."""

import re
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, Protocol, cast

import msgspec

from runwire.host import ToolInputInvalid, ToolSpec
from runwire.native.tools.tool import AnyTool

_PLACE = re.compile(r" - at `\$\.?(.*)`$")
_NAMED = re.compile(r"field `([^`]+)`")


class BringsSchema(Protocol):
    """A tool whose input somebody else has described, such as one of an MCP server."""

    @property
    def schema(self) -> Mapping[str, object]: ...


def spec_of(tool: AnyTool) -> ToolSpec:
    """The tool as a model is told of it."""
    if hasattr(tool, "schema"):
        return ToolSpec(tool.name, tool.about, cast("BringsSchema", tool).schema)
    return _spec(tool.name, tool.about, cast("Hashable", tool.Input))


@lru_cache(maxsize=64)
def _spec(name: str, about: str, given: Hashable) -> ToolSpec:
    return ToolSpec(name, about, _schema_of(given))


def _schema_of(given: Hashable) -> dict[str, object]:
    """The JSON Schema of an input, in one piece: not every model follows references."""
    schema = msgspec.json.schema(given)
    definitions = cast("dict[str, object]", schema.pop("$defs", {}))
    flat = _inlined(schema, definitions)
    flat.pop("title", None)
    flat.pop("description", None)
    return flat


def _inlined(schema: Mapping[str, object], definitions: Mapping[str, object]) -> dict[str, object]:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _inlined(cast("Mapping[str, object]", definitions[reference.rpartition("/")[2]]), definitions)
    return {name: _inlined_value(value, definitions) for name, value in schema.items()}


def _inlined_value(value: object, definitions: Mapping[str, object]) -> object:
    if isinstance(value, dict):
        return _inlined(value, definitions)
    if isinstance(value, list):
        return [_inlined_value(one, definitions) for one in value]
    return value


class Shaped(Protocol):
    """Whatever takes an input: a tool, or its class."""

    @property
    def name(self) -> str: ...

    @property
    def Input(self) -> Any: ...  # noqa: N802 - it is a type


def read_input(tool: Shaped, given: Mapping[str, object]) -> object:
    """The input as the tool takes it; a ToolInputInvalid names the field that is wrong."""
    try:
        return msgspec.convert(dict(given), tool.Input, strict=True)
    except msgspec.ValidationError as wrong:
        raise ToolInputInvalid(_said(str(wrong))) from None


def _said(message: str) -> str:
    place = _PLACE.search(message)
    text = _PLACE.sub("", message)
    named = _NAMED.search(text)
    field = ".".join(part for part in (place and place[1], named and named[1]) if part)
    return f"{field}: {text[:1].lower()}{text[1:]}" if field else text
