"""What a command prints costs the log as much as it is long, however it is printed."""

from pathlib import Path

import pytest

from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from tests.scenarios.log import Log
from tests.scenarios.stage import Theatre, sh, turn

LINES = 10_000


def _size(log: Log) -> int:
    return sum(map(len, log.envelopes))


@pytest.mark.parametrize(
    "printing",
    [
        "seq -f 'line %06.0f of an output that is long' 1 {lines}",
        'i=0; while [ "$i" -lt {lines} ]; do i=$((i + 1)); echo "$i: each line is written by itself"; done',
    ],
    ids=["at once", "line by line"],
)
async def test_ten_thousand_lines_make_a_log_as_long_as_they_are(tmp_path: Path, printing: str) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open() as stage:
        none, some, many = [
            await stage.play(turn("", sh(printing.format(lines=lines))), turn("Done."))
            for lines in (1, LINES // 4, LINES)
        ]
    printed = [log.one(ShellExited).stdout_bytes for log in (none, some, many)]
    for log, size in zip((none, some, many), printed, strict=True):
        assert sum(len(chunk.data) for chunk in log.all(ShellOutputChunk)) == size
    growth = [
        (_size(log) - _size(none)) / (size - printed[0]) for log, size in zip((some, many), printed[1:], strict=True)
    ]
    # The text itself, its line ends escaped, and a little for each piece.
    assert growth[1] < 1.25
    assert growth[1] < 1.1 * growth[0]
