"""What was used: tokens and money, added up by agent, model, task or day. Told from the runs' own stories."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal

import msgspec

from runwire.journal.reader import Reader
from runwire.journal.records import RunInfo

GroupBy = Literal["agent", "model", "task", "day"]
_NS = 1_000_000_000
_AT_ONCE = 1_000


class UsageRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sum. `input_tokens` counts all input; `cached_input_tokens` is the part of it that a cache answered."""

    group: str
    runs: int
    turns: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_micros_usd: int


_KEYS: Mapping[GroupBy, Callable[[RunInfo], str]] = {
    "agent": lambda info: info.birth.agent,
    "model": lambda info: info.story.run.model or "",
    "task": lambda info: info.birth.task_id or "",
    "day": lambda info: datetime.fromtimestamp(info.created_ns // _NS, UTC).date().isoformat(),
}


def add_up(runs: Iterable[RunInfo], group_by: GroupBy) -> list[UsageRow]:
    """One row per group, in order of their names."""
    key = _KEYS[group_by]
    sums: dict[str, list[int]] = {}
    for info in runs:
        run = info.story.run
        found = (
            1,
            run.turns,
            run.input_tokens,
            run.cached_input_tokens,
            run.output_tokens,
            run.cost_micros_usd,
        )
        total = sums.setdefault(key(info), [0] * len(found))
        total[:] = [before + more for before, more in zip(total, found, strict=True)]
    return [
        UsageRow(
            group=group,
            runs=runs_,
            turns=turns,
            input_tokens=given,
            cached_input_tokens=cached,
            output_tokens=made,
            cost_micros_usd=cost,
        )
        for group, (runs_, turns, given, cached, made, cost) in sorted(sums.items())
    ]


async def used(reader: Reader, group_by: GroupBy, since_ns: int | None = None) -> list[UsageRow]:
    """What all runs that began at `since_ns` or later have used."""
    runs: list[RunInfo] = []
    before: int | None = None
    while True:
        where, values = ["created_ns >= ?"], [since_ns or 0]
        if before is not None:
            where.append("run_key < ?")
            values.append(before)
        page = await reader.runs(" AND ".join(where), tuple(values), _AT_ONCE)
        runs += page
        if len(page) < _AT_ONCE:
            return add_up(runs, group_by)
        before = await reader.key(page[-1].birth.run_id)
