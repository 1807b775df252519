"""How long a live stream lasts: as long as its caller stays and the token that it was opened with is good."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from runwire.clock import Clock
from runwire.journal.tokens import Token

_NS = 1_000_000_000


class Tenure:
    """The time that one stream has."""

    __slots__ = ("_limit", "over")

    def __init__(self, limit: asyncio.Timeout) -> None:
        """Last as long as the limit allows."""
        self._limit = limit
        self.over = False

    def end(self) -> None:
        """Leave the stream's block at once, unless that has happened already."""
        if not self.over and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())


class Tenures:
    """The streams that each token has open. They end with it."""

    def __init__(self, clock: Clock) -> None:
        """Nobody has a stream yet."""
        self._clock = clock
        self._by_token: defaultdict[str, set[Tenure]] = defaultdict(set)
        self._revoked: set[str] = set()

    @asynccontextmanager
    async def under(self, token: Token | None) -> AsyncGenerator[Tenure]:
        """A block that is left in silence when its tenure ends: by itself, or because the token is good no more."""
        limit = asyncio.timeout(self._seconds_left(token))
        try:
            async with limit:
                tenure = Tenure(limit)
                token_id = "" if token is None else token.token_id
                self._by_token[token_id].add(tenure)
                try:
                    # The token may have been revoked after the caller was recognised.
                    if token_id in self._revoked:
                        tenure.end()
                    yield tenure
                finally:
                    tenure.over = True
                    self._by_token[token_id].discard(tenure)
                    if not self._by_token[token_id]:
                        del self._by_token[token_id]
        except TimeoutError:
            if not limit.expired():
                raise

    def revoke(self, token_id: str) -> None:
        """End every stream that was opened with this token."""
        self._revoked.add(token_id)
        for tenure in tuple(self._by_token.get(token_id, ())):
            tenure.end()

    def _seconds_left(self, token: Token | None) -> float | None:
        if token is None or token.expires_ns is None:
            return None
        return (token.expires_ns - self._clock.now_ns()) / _NS
