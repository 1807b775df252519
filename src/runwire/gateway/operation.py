"""What a route is: the part of it that answers, and the part that documents it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from starlette.responses import Response
from starlette.types import Send

from runwire.errors import RunwireError
from runwire.gateway.call import Call
from runwire.gateway.services import Services
from runwire.journal.tokens import Scope

Answer = Callable[[Services, Call], Awaitable[Response]]
Again = Callable[[Services, Call], Awaitable[Response | None]]
Stream = Callable[[Services, Call, Send], Awaitable[None]]
Schema = Mapping[str, object]
Method = Literal["GET", "POST", "DELETE"]

V1 = "/hecate/v1"
AGNO = "/agno"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter or header."""

    name: str
    about: str
    schema: Schema = field(default_factory=lambda: {"type": "string"})
    place: Literal["query", "header"] = "query"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer that is no failure."""

    about: str
    status: int = 200
    media: Mapping[str, type | Schema] = field(default_factory=dict)
    """By media type: the struct of the body, or its schema."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a POST takes."""

    shape: type | Schema
    media: str | tuple[str, ...] = "application/json"
    """The media type, or each of several that it may be sent as."""
    limit_bytes: Callable[[Services], int] = lambda services: services.config.body_limit_bytes
    required: bool = True
    """Whether there must be one; one that may be left out then stands for an empty object."""
    spooled: bool = False
    """Whether it may be too large for memory. Its route then sees to idempotency keys by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    method: Method
    path: str
    about: str
    scope: Scope | None
    """What the caller's token must be good for; None needs no token."""
    replies: tuple[Reply, ...]
    answer: Answer | None = None
    again: Again | None = None
    """Tells the answer to a request under a key that was lost in a crash; None when it was not carried out after all."""
    stream: Stream | None = None
    """A plain ASGI answer, for what is sent in pieces."""
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    refusals: tuple[type[RunwireError], ...] = ()
    """What it refuses beyond what every route does."""


def json(shape: type | Schema, about: str, status: int = 200) -> tuple[Reply, ...]:
    """The usual answer: one JSON body."""
    return (Reply(about, status, {"application/json": shape}),)
