"""Streams that outlive their connections: when one breaks off, the next takes up right after the last event seen."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

import httpx2

from runwire.client.connection import Call, Connection
from runwire.client.cursors import Cursor, Opening
from runwire.client.patience import Patience, Tries
from runwire.client.sse import MalformedStream, SseParser
from runwire.errors import GatewayError

_Item = TypeVar("_Item")

_SSE = "text/event-stream"
# A stream is taken for dead after this many heartbeats without a byte.
_MISSED_HEARTBEATS = 3


class _Over(Exception):
    """The gateway says that there is nothing left."""


class Follower:
    """Follows cursors over one connection pool."""

    def __init__(self, connection: Connection, patience: Patience) -> None:
        """Follow with as much patience as given."""
        self._connection = connection
        self._patience = patience

    async def follow(self, cursor: Cursor[_Item]) -> AsyncGenerator[_Item]:
        """Yield what the stream has from the cursor on, across as many connections as it takes, until it is over.

        A gateway that cannot be reached at all is an error at once; one that was reached and went away is waited for.
        """
        tries = Tries(self._patience)
        while True:
            try:
                async with aclosing(self._connected(cursor, tries)) as items:
                    async for item in items:
                        yield item
                problem: GatewayError = self._connection.unreachable("the stream ended early")
            except _Over:
                return
            except MalformedStream as error:
                problem = self._connection.unreachable(str(error))
            except GatewayError as error:
                if not tries.may_pass(error):
                    raise
                problem = error
            if cursor.over:
                return
            await tries.wait(problem)

    async def _connected(self, cursor: Cursor[_Item], tries: Tries) -> AsyncGenerator[_Item]:
        """Yield what one connection gives."""
        async with self._connection.open(self._call(cursor.opening())) as response:
            if response.status_code == httpx2.codes.NO_CONTENT:
                raise _Over
            parser = SseParser()
            async with aclosing(self._connection.chunks(response, _SSE)) as chunks:
                async for chunk in chunks:
                    frames = parser.feed(chunk)
                    tries.known = True
                    tries.retry_ms = parser.retry_ms if parser.retry_ms is not None else tries.retry_ms
                    if frames:
                        # Only a frame is progress: a server that takes us in and drops us is not back yet.
                        tries.progress()
                    for frame in frames:
                        item = cursor.take(frame)
                        if item is not None:
                            yield item

    def _call(self, opening: Opening) -> Call:
        headers = {"accept": _SSE, "accept-encoding": "identity", "cache-control": "no-store"}
        if opening.last_event_id is not None:
            headers["last-event-id"] = opening.last_event_id
        # The watchdog hugs each read of the socket: heartbeats are bytes, so silence means a dead peer.
        silence_s = self._patience.heartbeat_s * _MISSED_HEARTBEATS
        return Call(path=opening.path, params=opening.params, headers=headers, silence_s=silence_s)
