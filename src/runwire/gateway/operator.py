"""What an operator does: hand out tokens, take them back, and prune."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.errors import InvalidBody
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.journal.retention import Policy, Pruned
from runwire.journal.tokens import Scope, Token

Seconds = Annotated[float, Meta(gt=0)]


class NewTokenRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to make."""

    name: Annotated[str, Meta(min_length=1, max_length=128)]
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=4)]
    ttl_s: Annotated[float, Meta(gt=0, le=1e9)] | None = None


class TokenResource(msgspec.Struct, frozen=True, kw_only=True):
    """A token without its secret."""

    object: Literal["token"] = "token"
    token_id: str
    name: str
    scopes: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None


class NewToken(TokenResource, frozen=True, kw_only=True):
    """A token with its secret, which is shown this once."""

    token: str


class TokenList(msgspec.Struct, frozen=True, kw_only=True):
    """Every token, oldest first, also those that are no longer good."""

    object: Literal["list"] = "list"
    data: list[TokenResource]


class PruneRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may stay. With `run_id` and `through_sequence`, one run is pruned up to and including a sequence."""

    run_id: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    through_sequence: Annotated[int, Meta(ge=0, le=2**62)] | None = None
    max_age_s: Annotated[float, Meta(gt=0, le=1e10)] | None = None
    max_events: Annotated[int, Meta(ge=1, le=2**62)] | None = None
    max_bytes: Annotated[int, Meta(ge=1, le=2**62)] | None = None
    dry_run: bool = False


class PrunedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What went of one run, or would go."""

    run_id: str
    events: int
    through_sequence: int
    reason: str


class PruneReport(msgspec.Struct, frozen=True, kw_only=True):
    """What went, run by run."""

    object: Literal["list"] = "list"
    data: list[PrunedRun]
    dry_run: bool


async def create_token(services: Services, call: Call) -> Response:
    """Make a token."""
    asked = await call.json(NewTokenRequest, services.config.body_limit_bytes)
    if services.journal.redactor.contains_known_value(asked.name.encode()):
        raise InvalidBody("the name holds a secret")
    try:
        made = await services.tokens.create(asked.name, asked.scopes, ttl_s=asked.ttl_s)
    except ValueError as error:
        raise InvalidBody(str(error)) from error
    shown = _token(made.token)
    fields = {name: getattr(shown, name) for name in TokenResource.__struct_fields__}
    return json_response(NewToken(**fields, token=made.secret), 201)


async def list_tokens(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Every token."""
    return json_response(TokenList(data=[_token(token) for token in await services.tokens.list()]))


async def revoke_token(services: Services, call: Call) -> Response:
    """Make a token worthless, and end the streams that were opened with it."""
    revoked = await services.tokens.revoke(call.path["token_id"])
    services.tenures.revoke(revoked.token_id)
    return Response(status_code=204)


async def prune(services: Services, call: Call) -> Response:
    """Remove old events. Where they were, a marker says so."""
    asked = await call.json(PruneRequest, services.config.body_limit_bytes)
    gone = await _prune(services, asked)
    data = [
        PrunedRun(run_id=each.run_id, events=each.events, through_sequence=each.through, reason=each.reason)
        for each in gone
    ]
    return json_response(PruneReport(data=data, dry_run=asked.dry_run))


async def _prune(services: Services, asked: PruneRequest) -> list[Pruned]:
    policy = Policy(asked.max_age_s, asked.max_events, asked.max_bytes)
    if asked.through_sequence is not None:
        if asked.run_id is None or policy != Policy():
            raise InvalidBody("through_sequence goes with run_id and with no limit")
        return await services.retention.prune(asked.run_id, asked.through_sequence, dry_run=asked.dry_run)
    if policy == Policy():
        raise InvalidBody("say what may stay: max_age_s, max_events, max_bytes, or run_id with through_sequence")
    if asked.run_id is not None:
        await services.journal.reader.run(asked.run_id)
    return await services.retention.apply(policy, run_id=asked.run_id, dry_run=asked.dry_run)


def _token(token: Token) -> TokenResource:
    return TokenResource(
        token_id=token.token_id,
        name=token.name,
        scopes=sorted(token.scopes),
        created_at=rfc3339(token.created_ns),
        expires_at=None if token.expires_ns is None else rfc3339(token.expires_ns),
        revoked_at=None if token.revoked_ns is None else rfc3339(token.revoked_ns),
    )
