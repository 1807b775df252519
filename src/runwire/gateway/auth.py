"""Who calls: bearer tokens and what they are good for."""

from runwire.errors import Forbidden, Unauthorized
from runwire.gateway.call import Call
from runwire.journal.tokens import Scope, Token, Tokens

_SECRET_MAX = 512


async def recognise(call: Call, tokens: Tokens) -> Token:
    """The token that a request brings; without a good one it goes no further."""
    kind, _, secret = (call.header(b"authorization") or "").partition(" ")
    secret = secret.strip()
    if kind.lower() != "bearer" or not secret or len(secret) > _SECRET_MAX:
        raise Unauthorized
    token = await tokens.authenticate(secret)
    if token is None:
        raise Unauthorized
    return token


def require(token: Token, scope: Scope) -> None:
    """Refuse a token that is not good for what needs this scope."""
    if not token.allows(scope):
        raise Forbidden(scope)
