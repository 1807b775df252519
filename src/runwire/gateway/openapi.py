"""The OpenAPI document, drawn from the routes: nothing that a route can answer is left out."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from runwire import errors
from runwire.gateway.documented import KEY
from runwire.gateway.errors import ErrorReply
from runwire.gateway.operation import V1, Operation, Parameter, Schema
from runwire.version import VERSION

_REF = "#/components/schemas/{name}"
_PATH_NAMES = re.compile(r"\{(\w+)\}")
_EVERYWHERE: tuple[type[errors.RunwireError], ...] = (
    errors.MalformedRequest,
    errors.InvalidRequest,
    errors.HostNotAllowed,
    errors.OriginNotAllowed,
    errors.HeadersTooLarge,
    errors.RequestTimeout,
    errors.RunwireError,
    errors.StoreCorrupt,
    errors.StoreBusy,
    errors.StoreUnavailable,
    errors.TooManyConnections,
    errors.ShuttingDown,
)
_WITH_TOKEN: tuple[type[errors.RunwireError], ...] = (errors.Unauthorized, errors.Forbidden)
_WITH_POST: tuple[type[errors.RunwireError], ...] = (
    errors.BodyTooLarge,
    errors.Conflict,
    errors.IdempotencyConflict,
    errors.StoreFull,
    errors.StoreReadOnly,
)


def document(operations: Iterable[Operation]) -> Schema:
    """The whole document."""
    operations = tuple(operations)
    shapes = _Shapes(operations)
    paths: dict[str, dict[str, object]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, shapes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Runwire",
            "version": VERSION,
            "summary": "The wire and the log for agent runs.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": shapes.components,
        },
    }


class _Shapes:
    """The schemas of all structs that the routes name."""

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        kinds: dict[type, None] = {ErrorReply: None}
        for operation in operations:
            named = [shape for reply in operation.replies for shape in reply.media.values()]
            named += [] if operation.body is None else [operation.body.shape]
            kinds |= {shape: None for shape in named if isinstance(shape, type)}
        references, self.components = msgspec.json.schema_components(
            tuple(kinds), schema_hook=_anything, ref_template=_REF
        )
        self._references = dict(zip(kinds, references, strict=True))

    def of(self, shape: type | Schema) -> Schema:
        """The schema of a shape, by reference where it has a name."""
        return self._references[shape] if isinstance(shape, type) else shape


def _anything(_: type) -> dict[str, object]:
    return {"description": "Any JSON value."}


def _operation(operation: Operation, shapes: _Shapes) -> Schema:
    parameters = [_path_parameter(name) for name in _PATH_NAMES.findall(operation.path)]
    parameters += [_parameter(parameter) for parameter in operation.parameters]
    described: dict[str, object] = {
        "operationId": _name(operation),
        "summary": operation.about,
        "description": "Needs no token." if operation.scope is None else f"Needs the scope `{operation.scope}`.",
        "responses": _responses(operation, shapes),
    }
    if operation.scope is None:
        described["security"] = []
    if operation.method == "POST":
        parameters.append(_parameter(KEY))
    if operation.body is not None:
        media = (operation.body.media,) if isinstance(operation.body.media, str) else operation.body.media
        content = {one: {"schema": shapes.of(operation.body.shape)} for one in media}
        described["requestBody"] = {"required": operation.body.required, "content": content}
    return described | {"parameters": parameters}


def _responses(operation: Operation, shapes: _Shapes) -> Mapping[str, Schema]:
    responses: dict[str, dict[str, Any]] = {}
    for reply in operation.replies:
        content = {media: {"schema": shapes.of(shape)} for media, shape in reply.media.items()}
        responses[str(reply.status)] = {"description": reply.about} | ({"content": content} if content else {})
    refusals = [*operation.refusals, *_EVERYWHERE]
    refusals += _WITH_TOKEN if operation.scope is not None else ()
    refusals += _WITH_POST if operation.method != "GET" else ()
    by_status: dict[int, list[str]] = {}
    for refusal in refusals:
        codes = by_status.setdefault(refusal.status, [])
        if refusal.code not in codes:
            codes.append(refusal.code)
    error = {"application/json": {"schema": shapes.of(ErrorReply)}}
    for status, codes in sorted(by_status.items()):
        told = responses.get(str(status), {"content": {}})["content"]
        named = ", ".join(f"`{code}`" for code in codes)
        responses[str(status)] = {"description": named, "content": {**told, **error}}
    return responses


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.about,
        "required": False,
        "schema": parameter.schema,
    }


def _path_parameter(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _name(operation: Operation) -> str:
    inside = operation.path.removeprefix(V1)
    words = [operation.method.lower(), *re.findall(r"[a-z0-9_]+", inside)]
    words += ["index"] if inside.endswith("/") else []
    words += ["at_root"] if inside == operation.path else []
    return "_".join(words)
