"""The schemas of the protocol, served as they are generated."""

from functools import lru_cache

import msgspec
from starlette.responses import Response

from runwire.errors import NotFound
from runwire.gateway.call import Call
from runwire.gateway.json import json_bytes
from runwire.gateway.services import Services
from runwire.protocol.schema import ROOT, schema_for, schema_names

MEDIA = "application/schema+json"


class SchemaEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One schema and where it is."""

    name: str
    url: str


class SchemaIndex(msgspec.Struct, frozen=True, kw_only=True):
    """Every schema there is."""

    object: str = "list"
    data: list[SchemaEntry]


async def list_schemas(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Every schema there is."""
    return json_bytes(_index())


async def show_schema(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """One schema."""
    try:
        return json_bytes(_schema(call.path["name"].removesuffix(".json")))
    except KeyError as error:
        raise NotFound("there is no schema of that name", hint=f"GET {ROOT} lists the schemas") from error


@lru_cache(maxsize=1)
def _index() -> bytes:
    entries = [SchemaEntry(name=name, url=f"{ROOT}{name}.json") for name in schema_names()]
    return msgspec.json.encode(SchemaIndex(data=entries))


@lru_cache(maxsize=256)
def _schema(name: str) -> bytes:
    return msgspec.json.encode(schema_for(name))
