"""An editor on two pipes, from its first line to its last."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing

from runwire.acp.agent import Agent
from runwire.acp.peer import Peer
from runwire.acp.pipes import Outbox, lines
from runwire.client.client import Client

# An image of some megabytes fits into a line.
LINE_BYTES_MAX = 64 * 1024 * 1024
# Whoever hangs up does not wait longer than this: for what is done here to end, and for the last words to be read.
_END_S = 5.0
_LAST_WORDS_S = 1.0


class _HungUp(Exception):
    """The editor has gone."""


async def serve(
    client: Client,
    settings: Mapping[str, object],
    *,
    pipes: tuple[int, int],
    stop: asyncio.Event,
    here: bool,
    new_id: Callable[[str], str],
) -> None:
    """Serve the editor behind the descriptors `pipes` until it hangs up or `stop` is set.

    Runs go on in the gateway; those that are carried out `here` are cancelled.
    """
    outbox = Outbox(pipes[1])
    try:
        async with asyncio.TaskGroup() as tasks:
            peer = Peer(outbox, tasks)
            agent = Agent(client=client, peer=peer, tasks=tasks, settings=settings, new_id=new_id)
            peer.serve(agent.methods())
            ends = {
                tasks.create_task(_hear(peer, pipes[0])),
                tasks.create_task(outbox.broken.wait()),
                tasks.create_task(stop.wait()),
            }
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if here:
                await asyncio.wait({tasks.create_task(agent.close())}, timeout=_END_S)
            await outbox.flush(_LAST_WORDS_S)
            raise _HungUp
    except* _HungUp:
        pass


async def _hear(peer: Peer, descriptor: int) -> None:
    async with aclosing(lines(descriptor, LINE_BYTES_MAX)) as heard:
        async for line in heard:
            peer.take(line)
            # What was asked first begins first.
            await asyncio.sleep(0)
