"""The process that listens: uvicorn on uvloop with our connections, and an end that loses nobody."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp

from runwire.config import Config
from runwire.errors import ConfigInvalid
from runwire.gateway.connection import Bounds, Connection, ServerSettings
from runwire.gateway.services import Services

_BACKLOG = 2048
_TICK_S = 1.0
_STUCK_S = 1.0


class Listener(uvicorn.Server):
    """A server that is told to stop by us, and tells the streams first, so that their readers find the next one soon."""

    def __init__(self, settings: ServerSettings, closing: Callable[[], None]) -> None:
        """Call `closing` when the end has begun."""
        super().__init__(settings)
        self._closing = closing
        self._stopping = asyncio.Event()
        self.stopped_by: signal.Signals | None = None

    async def listen(self, bound: socket.socket, started: Callable[[int], None]) -> None:
        """Serve until told to stop. Unlike uvicorn's own, this leaves what comes after a signal to the caller."""
        self._started_on = bound.getsockname()[1]
        self._tell = started
        await self._serve([bound])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections, and say so."""
        await super().startup(sockets)
        self._tell(self._started_on)

    async def main_loop(self) -> None:
        """Wait for the end. Once a second the date that answers carry is told anew."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the connections; a reader that takes nothing is not waited for long."""
        self._closing()
        impatient = asyncio.get_running_loop().call_later(_STUCK_S, self._drop_stuck)
        await super().shutdown(sockets)
        impatient.cancel()

    def _drop_stuck(self) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection):
                connection.drop_if_stuck()

    def stop(self, by: signal.Signals | None = None) -> None:
        """Begin the end; asked twice, do not wait for anyone."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self.stopped_by = by
        self._stopping.set()


async def serve(
    app: ASGIApp,
    services: Services,
    *,
    started: Callable[[int], None] = lambda _: None,
    stop: asyncio.Event | None = None,
) -> signal.Signals | None:
    """Serve until a signal or `stop`; return the signal. `started` is told the port once connections are taken.

    Streams are ended first, without a terminal frame: their readers resume at the next process, with what they have.
    """
    config = services.config
    bounds = Bounds(connections=config.max_connections, idle_s=config.idle_timeout_s)
    settings = ServerSettings(app, bounds=bounds, new_request_id=lambda: services.ids.new("req"))
    listener = Listener(settings, services.close_streams)
    with _bound(config) as bound, _signals(listener):
        if stop is None:
            await listener.listen(bound, started)
        else:
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(_stop_when(stop, listener))
                await listener.listen(bound, started)
                waiting.cancel()
    return listener.stopped_by


async def _stop_when(stop: asyncio.Event, listener: Listener) -> None:
    await stop.wait()
    listener.stop()


@contextmanager
def _bound(config: Config) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        bound = socket.create_server((config.host, config.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        problem = f"cannot listen on {config.host} port {config.port}: {error.strerror or error}"
        raise ConfigInvalid("host, port", problem, key="port") from error
    with bound:
        yield bound


@contextmanager
def _signals(listener: Listener) -> Iterator[None]:
    """Stop at SIGINT and SIGTERM, as far as this thread is the one that signals go to."""
    loop = asyncio.get_running_loop()
    taken: list[signal.Signals] = []
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, listener.stop, number)
            except (ValueError, RuntimeError):
                break
            taken.append(number)
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
