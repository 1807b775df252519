"""What has to reach the gateway, also when it is away for a while: answers to questions, and that a run is to stop."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from runwire.client.patience import Backoff
from runwire.errors import GatewayError

_CONFLICT = 409
_SERVER_ERROR = 500


async def insist(call: Callable[[], Awaitable[object]], what: str) -> None:
    """Call until the gateway has heard it. That it comes too late, or is refused, is an answer, too."""
    attempt, backoff = 0, Backoff()
    while True:
        try:
            await call()
        except GatewayError as error:
            if error.status < _SERVER_ERROR:
                if error.status != _CONFLICT:
                    say(f"{what}: {error.message}; {error.hint}")
                return
            attempt += 1
            await asyncio.sleep(backoff.wait_s(attempt))
        else:
            return


def say(text: str) -> None:
    """Say something where the editor keeps its agents' logs."""
    sys.stderr.write(f"note:  {text}\n")
    sys.stderr.flush()
