"""A network that lets nobody finish a sentence: it chops bytes anywhere and hangs up at random."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Chaos:
    """A proxy, and how often it has hung up."""

    url: str
    cuts: int = 0


@asynccontextmanager
async def chaos(port: int, *, dice: random.Random, within: int) -> AsyncGenerator[Chaos]:
    """A way to 127.0.0.1:`port` on which each connection dies after at most `within` bytes of answer."""
    state = Chaos("")
    tasks: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        current = asyncio.current_task()
        assert current is not None
        tasks.add(current)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()
            return
        try:
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(_copy(reader, back))
                await _copy_some(there, writer, dice, dice.randrange(within))
                state.cuts += 1
                asking.cancel()
        except* (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            # An abort, not a close: the other side sees a reset in the middle of whatever it was doing.
            writer.transport.abort()
            back.transport.abort()
            tasks.discard(current)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield state
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(65536):
        writer.write(block)
        await writer.drain()


async def _copy_some(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dice: random.Random, budget: int
) -> None:
    while budget > 0 and (block := await reader.read(min(budget, dice.randrange(1, 2000)))):
        budget -= len(block)
        writer.write(block)
        await writer.drain()
        # A turn of the loop between two writes, so that they arrive as two reads.
        await asyncio.sleep(0)
