"""A run's log as lines, complete or an error: an answer that breaks off or ends too early is taken up where it was."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from runwire.client.connection import Call, Connection
from runwire.client.patience import Patience, Tries
from runwire.errors import GatewayError
from runwire.protocol.envelope import sequence_of

_NDJSON = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines: those of the log at `path` past `after`, of some types, at least up to `head`."""

    path: str
    after: int
    types: str | None
    head: int


class Exporter:
    """Reads logs as lines over one connection pool."""

    def __init__(self, connection: Connection, patience: Patience) -> None:
        """Read with as much patience as given."""
        self._connection = connection
        self._patience = patience

    async def lines(self, wanted: Wanted) -> AsyncGenerator[bytes]:
        """Yield envelopes, without their newlines, until the head has been reached."""
        tries, after = Tries(self._patience), wanted.after
        # Whoever knows the head has asked the gateway for it.
        tries.known = True
        while True:
            try:
                async with aclosing(self._connected(wanted, after)) as lines:
                    async for line in lines:
                        tries.progress()
                        after = sequence_of(line)
                        yield line
                # A gateway that shuts down ends its answers in order. With a filter the last line may lie before the
                # head, so there the gateway has to be believed.
                if wanted.types is not None or after >= wanted.head:
                    return
                problem: GatewayError = self._connection.unreachable("the export ended early")
            except GatewayError as error:
                if not tries.may_pass(error):
                    raise
                problem = error
            await tries.wait(problem)

    async def _connected(self, wanted: Wanted, after: int) -> AsyncGenerator[bytes]:
        params = {"after_sequence": str(after)}
        if wanted.types is not None:
            params["type"] = wanted.types
        call = Call(path=wanted.path, params=params, headers={"accept": _NDJSON, "accept-encoding": "identity"})
        held: list[bytes] = []
        async with (
            self._connection.open(call) as response,
            aclosing(self._connection.chunks(response, _NDJSON)) as chunks,
        ):
            async for chunk in chunks:
                first, *rest = chunk.split(b"\n")
                held.append(first)
                for piece in rest:
                    yield b"".join(held)
                    held = [piece]
        if any(held):
            raise self._connection.unreachable("the export ended in the middle of a line")
