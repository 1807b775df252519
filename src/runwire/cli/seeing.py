"""A run seen to its end: what is shown of it, what Ctrl-C does to it, and the exit status that it comes to."""

from collections.abc import Awaitable, Callable

from runwire.cli import printing
from runwire.cli.interrupting import interruptible
from runwire.cli.options import Options
from runwire.cli.statuses import DONE, FAILED, INTERRUPTED
from runwire.client.answers import Run
from runwire.client.client import Client


async def see(
    options: Options, client: Client, run: Run, *, here: bool, otherwise: Callable[[], Awaitable[None]]
) -> int:
    """Show a run live, or do `otherwise` where nothing can be drawn, until it ends; `here` says that this process runs it."""
    async with interruptible(client, run, here=here) as interrupted:
        if options.json or not printing.drawable(no_color=options.no_color):
            await otherwise()
        else:
            # Not at the top: what draws is loaded only where somebody looks.
            from runwire.cli.live import on_screen

            async with on_screen(client, asks=True) as live:
                await live.follow(client, run.run_id)
    status = (await client.run(run.run_id)).status
    if interrupted.is_set():
        return INTERRUPTED
    return DONE if status == "completed" else FAILED
