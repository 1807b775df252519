"""How long to go on when a gateway has gone away in the middle of an answer."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from runwire.client.items import Drop
from runwire.errors import GatewayError, GatewayUnreachable

# Answers that another try, or another moment, may change.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 507})


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double from `first_s` up to `most_s`, spread so that clients dropped together do not return together."""

    first_s: float = 0.25
    most_s: float = 15.0
    jitter: Callable[[], float] = random.random
    """A number in [0, 1) that is different every time."""

    def wait_s(self, attempt: int, *, first_ms: int | None = None, at_least_s: float = 0.0) -> float:
        """The wait before try number `attempt` (the first is 1); `first_ms` is where the server wants waits to begin."""
        first_s = self.first_s if first_ms is None else first_ms / 1000
        # 2**60 is far past any cap; without it an outage of hours would overflow the float.
        full_s = min(self.most_s, first_s * 2.0 ** min(attempt - 1, 60))
        return max(at_least_s, full_s * (0.5 + self.jitter() / 2))


def _ignore(_: Drop) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How a stream is kept alive: how often it must show a sign of life, how to wait, and for how long to go on trying."""

    heartbeat_s: float = 10.0
    backoff: Backoff = Backoff()
    give_up_s: float | None = None
    """After so much waiting in a row the stream fails; None waits for ever."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dropped: Callable[[Drop], None] = _ignore
    """Told of every break, before the wait."""


class Tries:
    """What one reader has learned so far about the gateway's health."""

    __slots__ = ("_attempt", "_patience", "_waited_s", "known", "retry_ms")

    def __init__(self, patience: Patience) -> None:
        """Nothing is known yet."""
        self.known = False
        """Whether the gateway has answered at all: one that never did is not waited for."""
        self.retry_ms: int | None = None
        self._patience = patience
        self._attempt = 0
        self._waited_s = 0.0

    def progress(self) -> None:
        """Something new came, so the gateway is well."""
        self._attempt, self._waited_s = 0, 0.0

    def may_pass(self, problem: GatewayError) -> bool:
        """Whether it makes sense to try again after this."""
        return self.known and (isinstance(problem, GatewayUnreachable) or problem.status in _PASSING)

    async def wait(self, problem: GatewayError) -> None:
        """Wait as long as it is time for, or give up and raise the problem."""
        patience = self._patience
        self._attempt += 1
        asked = problem.details.get("retry_after_s", 0)
        wait_s = patience.backoff.wait_s(
            self._attempt, first_ms=self.retry_ms, at_least_s=float(asked) if isinstance(asked, int) else 0.0
        )
        self._waited_s += wait_s
        if patience.give_up_s is not None and self._waited_s > patience.give_up_s:
            raise problem
        patience.dropped(Drop(problem.message, self._attempt, wait_s))
        await patience.sleep(wait_s)
