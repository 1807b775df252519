"""Tokens: who may call the gateway, and for what. Only hashes are stored; a secret is shown once, when it is made."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Literal, get_args

import apsw

from runwire.clock import Clock
from runwire.config import Config
from runwire.errors import TokenNotFound
from runwire.ids import Ids
from runwire.journal.journal import Journal
from runwire.journal.layout import token_of
from runwire.journal.redaction.secrets import SecretSet
from runwire.journal.token_file import TokenFile, new_secret

Scope = Literal["read", "operate", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

# Whoever may act may also look. Writing does not include operating: an agent that sends in its own
# events must not be able to approve its own requests.
_IMPLIED: dict[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "operate": frozenset({"read", "operate"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset(SCOPES),
}
_ADMIN: frozenset[Scope] = frozenset({"admin"})
_COLUMNS = "token_id, name, scopes, created_ns, expires_ns, revoked_ns"
_NS = 1_000_000_000
# How long a revocation by another process may go unnoticed.
_REMEMBERED_S = 1.0

FILE_TOKEN = "token file"
"""The name of the token in the data directory's file. No other token may bear it."""

_ENVIRONMENT_TOKEN = "RUNWIRE_TOKEN"
_KIND = "runwire.token"


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret."""

    token_id: str
    name: str
    scopes: frozenset[str]
    created_ns: int
    expires_ns: int | None = None
    revoked_ns: int | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether it is good for what needs this scope."""
        return any(scope in _IMPLIED.get(given, ()) for given in self.scopes)

    def valid_at(self, now_ns: int) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_ns is None and (self.expires_ns is None or now_ns < self.expires_ns)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token and its secret, which nobody can show again."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        """Show the token and never the secret."""
        return f"NewToken({self.token!r})"


class Tokens:
    """Makes, lists, revokes and recognises tokens."""

    def __init__(self, *, journal: Journal, secrets: SecretSet, config: Config, clock: Clock, ids: Ids) -> None:
        """Keep tokens in the journal's database. What they hide becomes one of the process's known `secrets`."""
        self._journal = journal
        self._secrets = secrets
        self._clock = clock
        self._ids = ids
        self._remembered: dict[bytes, tuple[Token, float]] = {}
        self._revocations = 0
        self._file = TokenFile(token_of(config.data))
        # The operator's own token, from the environment or an option: good for everything, stored nowhere.
        self._admin = None if config.token is None else _digest(config.token)
        if config.token is not None:
            self._hide(config.token)

    async def start(self) -> str:
        """Make the data directory's own admin token, or find the one there is; return its secret.

        Removing the file and starting again replaces the token: the old one is revoked. So does revoking it.
        """
        secret, made = await asyncio.to_thread(self._file.ensure)
        known = await self._look_up(_digest(secret), 0.0)
        if known is not None and known.revoked_ns is not None:
            await asyncio.to_thread(self._file.discard)
            secret, made = await asyncio.to_thread(self._file.ensure)
        self._hide(secret)
        token = self._new(FILE_TOKEN, _ADMIN, None)

        def effect(db: apsw.Connection) -> None:
            if made:
                db.execute(
                    "UPDATE tokens SET revoked_ns = ? WHERE name = ? AND revoked_ns IS NULL AND digest != ?",
                    (token.created_ns, FILE_TOKEN, _digest(secret)),
                )
            # After a crash between file and row, or a restored backup, the file's token is not known yet.
            _insert(db, token, _digest(secret))

        await self._journal.write(effect)
        self._forget()
        return secret

    async def create(self, name: str, scopes: Collection[Scope], *, ttl_s: float | None = None) -> NewToken:
        """Make a token. Its secret is shown here and never again."""
        if not scopes or not set(scopes) <= set(SCOPES):
            raise ValueError(f"scopes are some of {', '.join(SCOPES)}, not {', '.join(scopes) or 'none'}")
        if not name.strip() or name == FILE_TOKEN:
            raise ValueError(f"{name!r} cannot be the name of a token")
        if ttl_s is not None and ttl_s <= 0:
            raise ValueError("a token has to live for some time")
        secret = new_secret()
        self._hide(secret)
        token = self._new(name, scopes, ttl_s)
        await self._journal.write(lambda db: _insert(db, token, _digest(secret)))
        return NewToken(token, secret)

    async def list(self) -> list[Token]:
        """Every token, oldest first, also those that are no longer good."""
        query = f"SELECT {_COLUMNS} FROM tokens ORDER BY created_ns, token_id"
        return await self._journal.reader.query(lambda db: [_token(row) for row in db.execute(query)])

    async def revoke(self, token_id: str) -> Token:
        """Make a token worthless from now on; another process on the same data may take it for a second more."""
        now_ns = self._clock.now_ns()
        query = f"UPDATE tokens SET revoked_ns = ifnull(revoked_ns, ?) WHERE token_id = ? RETURNING {_COLUMNS}"
        found: list[Token] = []

        def effect(db: apsw.Connection) -> None:
            row = db.execute(query, (now_ns, token_id)).fetchone()
            if row is None:
                raise TokenNotFound(token_id)
            found.append(_token(row))

        await self._journal.write(effect)
        self._forget()
        return found[0]

    async def authenticate(self, secret: str) -> Token | None:
        """The token that has this secret, if it is good now."""
        digest = _digest(secret)
        if self._admin is not None and compare_digest(digest, self._admin):
            return Token("environment", _ENVIRONMENT_TOKEN, _ADMIN, 0)
        # How long a search for a hash takes tells nothing about the secrets behind the hashes that are there.
        now_s = asyncio.get_running_loop().time()
        token, until_s = self._remembered.get(digest, (None, now_s))
        if until_s <= now_s:
            token = await self._look_up(digest, now_s + _REMEMBERED_S)
            if token is not None:
                # The store holds only hashes, so after a restart a secret becomes known when it is first used.
                self._hide(secret)
        return token if token is not None and token.valid_at(self._clock.now_ns()) else None

    async def _look_up(self, digest: bytes, until_s: float) -> Token | None:
        revocations = self._revocations
        query = f"SELECT {_COLUMNS} FROM tokens WHERE digest = ?"
        row = await self._journal.reader.query(lambda db: db.execute(query, (digest,)).fetchone())
        if row is None:
            self._remembered.pop(digest, None)
            return None
        token = _token(row)
        # What was read before a revocation must not be remembered after it.
        if revocations == self._revocations:
            self._remembered[digest] = (token, until_s)
        return token

    def _forget(self) -> None:
        self._revocations += 1
        self._remembered.clear()

    def _hide(self, secret: str) -> None:
        self._secrets.register(_KIND, secret)

    def _new(self, name: str, scopes: Collection[Scope], ttl_s: float | None) -> Token:
        now_ns = self._clock.now_ns()
        expires_ns = None if ttl_s is None else now_ns + round(ttl_s * _NS)
        return Token(self._ids.new("tok"), name, frozenset(scopes), now_ns, expires_ns)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _insert(db: apsw.Connection, token: Token, digest: bytes) -> None:
    db.execute(
        f"INSERT INTO tokens (digest, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
        (
            digest,
            token.token_id,
            token.name,
            " ".join(sorted(token.scopes)),
            token.created_ns,
            token.expires_ns,
            token.revoked_ns,
        ),
    )


def _token(row: tuple[str, str, str, int, int | None, int | None]) -> Token:
    token_id, name, scopes, created_ns, expires_ns, revoked_ns = row
    return Token(token_id, name, frozenset(scopes.split()), created_ns, expires_ns, revoked_ns)
