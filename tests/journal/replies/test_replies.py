"""A request that is sent twice is done once."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from runwire.errors import Conflict, IdempotencyConflict
from runwire.journal.replies import Asked, Reply
from runwire.protocol.events.run import RunStarted
from runwire.testing.clock import ManualClock
from tests.journal.house import House, open_house
from tests.spec import spec

ASKED = Asked("key-1", "tok_1 POST /hecate/v1/tasks", b"d" * 32)
CREATED = Reply(201, b'{"id":"task_1"}')
DAY_S = 24 * 3600


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with open_house(tmp_path / "data", clock=ManualClock()) as house:
        yield house


@spec("EXT-4")
async def test_a_repeat_gets_the_first_reply(house: House) -> None:
    assert await house.replies.begin(ASKED) is None
    await house.replies.keep(ASKED, CREATED)
    assert await house.replies.begin(ASKED) == CREATED
    assert await house.replies.begin(ASKED) == CREATED


async def test_a_repeat_gets_it_after_a_restart_too(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        await house.replies.begin(ASKED)
        await house.replies.keep(ASKED, CREATED)
    async with open_house(tmp_path / "data") as house:
        assert await house.replies.begin(ASKED) == CREATED


async def test_a_key_is_good_for_one_body_only(house: House) -> None:
    await house.replies.begin(ASKED)
    await house.replies.keep(ASKED, CREATED)
    with pytest.raises(IdempotencyConflict):
        await house.replies.begin(Asked(ASKED.key, ASKED.request, b"e" * 32))
    assert await house.replies.begin(ASKED) == CREATED


async def test_the_same_key_on_another_request_is_another_key(house: House) -> None:
    await house.replies.begin(ASKED)
    await house.replies.keep(ASKED, CREATED)
    assert await house.replies.begin(Asked(ASKED.key, "tok_2 POST /hecate/v1/tasks", ASKED.digest)) is None


@spec("EXT-4")
async def test_repeats_that_arrive_meanwhile_wait_for_the_first(house: House) -> None:
    assert await house.replies.begin(ASKED) is None
    async with asyncio.TaskGroup() as group:
        repeats = [group.create_task(house.replies.begin(ASKED)) for _ in range(5)]
        await asyncio.sleep(0)
        assert not any(repeat.done() for repeat in repeats)
        await house.replies.keep(ASKED, CREATED)
    assert [repeat.result() for repeat in repeats] == [CREATED] * 5


async def test_when_the_first_gives_up_one_of_those_who_wait_takes_over(house: House) -> None:
    assert await house.replies.begin(ASKED) is None
    async with asyncio.TaskGroup() as group:
        repeats = [group.create_task(house.replies.begin(ASKED)) for _ in range(3)]
        await asyncio.sleep(0)
        house.replies.release(ASKED)
        done, waiting = await asyncio.wait(repeats, return_when=asyncio.FIRST_COMPLETED)
        assert [repeat.result() for repeat in done] == [None]
        assert len(waiting) == 2
        await house.replies.keep(ASKED, CREATED)
    assert [repeat.result() for repeat in waiting] == [CREATED] * 2


async def test_one_who_waits_and_goes_away_harms_nobody(house: House) -> None:
    assert await house.replies.begin(ASKED) is None
    impatient = asyncio.create_task(house.replies.begin(ASKED))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait([impatient])
    await house.replies.keep(ASKED, CREATED)
    assert await house.replies.begin(ASKED) == CREATED


async def test_a_reply_is_forgotten_after_a_day(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path / "data", clock=clock) as house:
        await house.replies.begin(ASKED)
        await house.replies.keep(ASKED, CREATED)
        clock.advance(DAY_S)
        assert await house.replies.begin(ASKED) == CREATED
        clock.advance(1)
        assert await house.replies.begin(ASKED) is None
        house.replies.release(ASKED)
        assert await house.replies.prune() == 1
        assert await house.replies.prune() == 0


async def test_old_replies_go_as_new_ones_come(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path / "data", clock=clock) as house:
        for number in range(40):
            asked = Asked(f"key-{number}", "POST /", b"d" * 32)
            await house.replies.begin(asked)
            await house.replies.keep(asked, CREATED)
        clock.advance(DAY_S + 1)
        for number in range(2):
            asked = Asked(f"new-{number}", "POST /", b"d" * 32)
            await house.replies.begin(asked)
            await house.replies.keep(asked, CREATED)
        count = await house.journal.reader.query(lambda db: db.execute("SELECT count(*) FROM replies").get)
        assert count == 2


async def test_a_secret_in_a_reply_is_not_stored(house: House) -> None:
    house.secrets.register("test.secret", "correct-horse-battery-staple")
    await house.replies.begin(ASKED)
    await house.replies.keep(ASKED, Reply(200, b'{"prompt":"use correct-horse-battery-staple"}'))
    assert await house.replies.begin(ASKED) == Reply(200, b'{"prompt":"use [redacted:test.secret]"}')
    for path in (path for path in house.data.rglob("*") if path.is_file()):
        assert b"correct-horse" not in path.read_bytes()


class TestClaiming:
    """A request that marks itself as done in the transaction that does it."""

    @spec("EXT-4")
    async def test_after_a_crash_before_the_answer_it_is_not_done_again(self, tmp_path: Path) -> None:
        async with open_house(tmp_path / "data") as house:
            await house.run()
            assert await house.replies.begin(ASKED) is None
            await house.journal.append("run_1", RunStarted(worker_id="w"), also=house.replies.claim(ASKED))
        async with open_house(tmp_path / "data") as house:
            with pytest.raises(Conflict, match="carried out"):
                await house.replies.begin(ASKED)

    async def test_of_two_processes_one_does_it(self, tmp_path: Path) -> None:
        async with open_house(tmp_path / "data") as one, open_house(tmp_path / "data") as two:
            await one.run()
            assert await one.replies.begin(ASKED) is None
            assert await two.replies.begin(ASKED) is None
            await one.journal.append("run_1", RunStarted(worker_id="one"), also=one.replies.claim(ASKED))
            with pytest.raises(Conflict):
                await two.journal.append("run_1", RunStarted(worker_id="two"), also=two.replies.claim(ASKED))
            assert (await one.journal.reader.run("run_1")).head_sequence == 1

    async def test_the_answer_takes_the_place_of_the_claim(self, house: House) -> None:
        await house.run()
        await house.replies.begin(ASKED)
        await house.journal.append("run_1", RunStarted(worker_id="w"), also=house.replies.claim(ASKED))
        await house.replies.keep(ASKED, CREATED)
        assert await house.replies.begin(ASKED) == CREATED
