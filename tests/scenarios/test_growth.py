"""A log grows with what is told, and with nothing else."""

import asyncio
from pathlib import Path

from tests.scenarios.log import Log
from tests.scenarios.stage import Theatre, sh, turn


def _played(folder: Path, lines: int) -> Log:
    """The log of a run whose command prints so many lines of one length."""

    async def play() -> Log:
        folder.mkdir()
        async with Theatre(folder).open(output_limit_bytes=4_000_000) as stage:
            return await stage.play(turn("", sh(f"yes {'x' * 99} | head -n {lines}")), turn("Printed."))

    return asyncio.run(play())


def test_the_log_of_a_long_output_is_linear_in_its_size(tmp_path: Path) -> None:
    short, long = _played(tmp_path / "short", 2_500), _played(tmp_path / "long", 10_000)
    sizes = [sum(len(envelope) for envelope in log.envelopes) for log in (short, long)]
    assert sizes[1] <= 1.1 * 4 * sizes[0]
    assert sizes[1] >= 1_000_000
    # Pieces are gathered: a line is no event of its own.
    assert long.types.count("tool.shell.output_chunk") <= 1_000
