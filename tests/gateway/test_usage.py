"""Tokens and money, added up."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, error_of
from tests.gateway.working import Working, at_work, says

USED = {"usage": {"input": 100, "output": 10, "cache_read": 40}, "cost_micros_usd": 30}


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        for _ in range(2):
            run = await opened.run(says("Done.", **USED))
            await opened.end(run["run_id"])
        yield opened


@pytest.mark.parametrize(("group_by", "groups"), [("agent", 1), ("model", 2), ("task", 2), ("day", 1)])
async def test_everything_is_counted_once_however_it_is_grouped(working: Working, group_by: str, groups: int) -> None:
    report = await working.get("/usage", group_by=group_by)
    rows = report["data"]
    assert (report["group_by"], len(rows)) == (group_by, groups)
    sums = {name: sum(row[name] for row in rows) for name in rows[0] if name != "group"}
    assert sums == {
        "runs": 2,
        "turns": 2,
        "input_tokens": 200,
        "cached_input_tokens": 80,
        "output_tokens": 20,
        "cost_micros_usd": 60,
    }


async def test_a_grouping_that_nobody_knows_is_400(working: Working) -> None:
    for params in ({"group_by": "colour"}, {"since": "yesterday"}):
        answer = await working.http.get(f"{V1}/usage", params=params)
        assert (answer.status_code, error_of(answer)["code"]) == (400, "invalid_filter")
