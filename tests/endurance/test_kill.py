"""No acknowledged event is lost, and none is half there, however often the gateway is killed."""

from pathlib import Path

import pytest

from tests.endurance.killing import kill_again_and_again
from tests.spec import spec


@spec("SEQ-4", "SEQ-5")
async def test_a_gateway_killed_under_load_loses_nothing_that_it_told(tmp_path: Path) -> None:
    assert await kill_again_and_again(tmp_path / "data", times=5) > 10


@pytest.mark.endurance
async def test_a_gateway_killed_two_hundred_times_loses_nothing_that_it_told(tmp_path: Path) -> None:
    for start in range(10):
        assert await kill_again_and_again(tmp_path / str(start), times=20) > 100
