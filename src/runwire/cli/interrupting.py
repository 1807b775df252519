"""Ctrl-C while a run is shown: once cancels the run, twice leaves it."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from runwire.client.answers import Run
from runwire.client.client import Client

# Whoever leaves does not wait longer than this for the gateway to hear that the run is to be cancelled.
_FAREWELL_S = 1.0


@asynccontextmanager
async def interruptible(client: Client, run: Run, *, here: bool) -> AsyncGenerator[asyncio.Event]:
    """While the body runs, the first Ctrl-C cancels the run and the second leaves; `here` says that this process runs it."""
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    body = asyncio.current_task()
    cancelling: list[asyncio.Task[Run]] = []
    left = False

    def press() -> None:
        nonlocal left
        if not pressed.is_set():
            pressed.set()
            second = "ends it with this command" if here else "leaves it in the background"
            sys.stderr.write(f"note:  cancelling; Ctrl-C again {second}\n")
            cancelling.append(loop.create_task(client.cancel(run, reason="interrupted")))
        elif not left and body is not None:
            left = True
            body.cancel()

    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield pressed
    except asyncio.CancelledError:
        if not left:
            raise
        raise KeyboardInterrupt from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        if cancelling:
            # A run that ended in the same moment cannot be cancelled, and need not be.
            done, _ = await asyncio.wait(cancelling, timeout=_FAREWELL_S if left else None)
            for task in done:
                task.cancelled() or task.exception()
        if left:
            sys.stderr.write(_farewell(run, here=here))


def _farewell(run: Run, *, here: bool) -> str:
    if here:
        return f"note:  {run.run_id} was carried out by this command and ends with it\n"
    return f"note:  left {run.run_id} in the background; `runwire watch {run.run_id}` comes back to it\n"
