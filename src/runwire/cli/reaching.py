"""How a command reaches a gateway: the one it was told of, the one that runs on its data directory, or one of its own."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from runwire.cli.busy import busy
from runwire.cli.note import TOKEN_FILE, local_url, read_note
from runwire.cli.options import Options
from runwire.cli.statuses import NOT_FOUND, status_of
from runwire.client.client import Client
from runwire.client.embedded import EmbeddedTransport
from runwire.client.items import Drop
from runwire.client.patience import Patience
from runwire.config import Config
from runwire.errors import ConfigInvalid, GatewayError, RunwireError

DATABASE_FILE = "journal.db"

_PROBE_S = 2.0
# A command that is not a live view waits so long for a gateway that went away in the middle of its answer.
_GIVE_UP_S = 30.0


@asynccontextmanager
async def watching(options: Options, dropped: Callable[[Drop], None] | None = None) -> AsyncGenerator[Client]:
    """A client with streams that wait for as long as it takes, and that makes nothing by looking.

    It is one of the running gateway. Where none runs and none was named, it is one of the data directory, if that is there: what
    other processes do on it is seen as it happens.
    """
    config = options.config()
    if config.url is None and (config.data / DATABASE_FILE).exists() and not await _answers(options, config):
        async with embedded(config) as client:
            yield client
        return
    async with Client(address_of(config), token_for(config), patience=Patience(dropped=dropped or _dropped)) as client:
        yield client


@asynccontextmanager
async def reached_or_embedded(options: Options) -> AsyncGenerator[Client]:
    """A client of the running gateway or, when none runs and none was named, of one opened here on the same data."""
    config = options.config()
    if config.url is None and not await _answers(options, config):
        async with embedded(config) as client:
            yield client
        return
    async with Client(address_of(config), token_for(config), patience=_brief()) as client:
        yield client


@asynccontextmanager
async def knowing(options: Options, run_id: str | None) -> AsyncGenerator[Client | None]:
    """A client of a gateway or data directory that knows the run; looking for it makes nothing and never fails."""
    config = options.config()
    elsewhere = config.url is not None or await _answers(options, config)
    if run_id is None or not (elsewhere or (config.data / DATABASE_FILE).exists()):
        yield None
        return
    async with AsyncExitStack() as stack:
        client: Client | None = None
        try:
            opened = await stack.enter_async_context(reached_or_embedded(options))
            await opened.run(run_id)
            client = opened
        except RunwireError as error:
            if status_of(error) != NOT_FOUND:
                say(f"{error.message}, so the stored run is not looked at")
        yield client


@asynccontextmanager
async def look_in(options: Options) -> AsyncGenerator[Client | None]:
    """As `reached_or_embedded`, but None where there is nothing yet: looking makes nothing."""
    config = options.config()
    if config.url is None and not (config.data / DATABASE_FILE).exists() and not await _answers(options, config):
        yield None
        return
    async with reached_or_embedded(options) as client:
        yield client


@asynccontextmanager
async def reached_or_working(options: Options, *, working: bool) -> AsyncGenerator[tuple[Client, bool]]:
    """As `reached_or_embedded`, but a gateway opened here can carry runs out; says whether it is one of those."""
    config = options.config()
    if config.url is None and not await _answers(options, config):
        async with embedded(config, workers=max(1, config.workers) if working else None) as client:
            yield client, True
        return
    async with Client(address_of(config), token_for(config), patience=Patience(dropped=_dropped)) as client:
        yield client, False


@asynccontextmanager
async def embedded(config: Config, *, workers: int | None = None) -> AsyncGenerator[Client]:
    """A client of a gateway that lives in this process only, on the configured data directory."""
    async with AsyncExitStack() as stack:
        with busy("opening the data directory"):
            # Not at the top: the whole gateway is loaded with it.
            from runwire.wiring import serving

            app, token = await stack.enter_async_context(serving.open_app(config, workers=workers))
        yield await stack.enter_async_context(
            Client("http://127.0.0.1", token, EmbeddedTransport(app), patience=_brief())
        )


def token_for(config: Config) -> str | None:
    """The token that was given, else the one in the data directory, else none."""
    if config.token is not None:
        return config.token
    path = config.data / TOKEN_FILE
    try:
        return path.read_text("ascii").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(str(path), f"cannot be read: {error}") from error


def address_of(config: Config) -> str:
    """Where the gateway should be: as told, else as noted in the data directory, else in the usual place."""
    if config.url is not None:
        return config.base_url
    note = read_note(config.data)
    return local_url(config.host, config.port) if note is None else note.url


async def _answers(options: Options, config: Config) -> bool:
    """Whether a gateway that serves this data directory answers."""
    note = read_note(config.data)
    if note is None and options.data_chosen:
        # A gateway leaves a note where it serves, so whoever listens on the usual port serves another directory.
        return False
    url = local_url(config.host, config.port) if note is None else note.url
    async with Client(url, None) as client:
        try:
            with busy("looking for a gateway"):
                await client.health(within_s=_PROBE_S)
        except GatewayError:
            return False
    return True


def _brief() -> Patience:
    return Patience(give_up_s=_GIVE_UP_S, dropped=_dropped)


def _dropped(drop: Drop) -> None:
    if drop.attempt == 1:
        say(f"{drop.cause}; waiting for it to come back")


def say(text: str) -> None:
    """Say something on stderr that is worth knowing and no failure."""
    sys.stderr.write(f"note:  {text}\n")
    sys.stderr.flush()
