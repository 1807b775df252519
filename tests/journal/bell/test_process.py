"""The doorbell between processes."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from runwire.journal.bell.process import ProcessBell
from tests.patience import PATIENCE_S


class Ear:
    """A bell and what it has heard."""

    def __init__(self, folder: Path) -> None:
        self.topics: list[str] = []
        self._heard = asyncio.Event()
        self.bell = ProcessBell(folder=folder, heard=self._hear)

    def _hear(self, topic: str) -> None:
        self.topics.append(topic)
        self._heard.set()

    async def hears(self, *topics: str) -> None:
        """Wait until all of these have been rung."""
        async with asyncio.timeout(PATIENCE_S):
            while not set(topics) <= set(self.topics):
                self._heard.clear()
                await self._heard.wait()


@pytest.fixture
def bells() -> Iterator[Path]:
    # A test's own folder has a name that is too long for a socket's address.
    with tempfile.TemporaryDirectory(prefix="rw") as folder:
        yield Path(folder) / "bells"


@pytest.fixture
async def ears(bells: Path) -> AsyncIterator[tuple[Ear, Ear, Ear]]:
    three = (Ear(bells), Ear(bells), Ear(bells))
    for ear in three:
        ear.bell.open()
    # Not every greeting has been heard yet.
    for ear in three:
        ear.bell.look()
    yield three
    for ear in three:
        ear.bell.close()


async def test_everybody_else_hears_a_ring(ears: tuple[Ear, Ear, Ear]) -> None:
    one, two, three = ears
    two.bell.ring("queue")
    await one.hears("queue")
    await three.hears("queue")
    assert two.topics == []


async def test_a_topic_is_rung_once_in_a_pass_of_the_loop(ears: tuple[Ear, Ear, Ear]) -> None:
    one, two, _ = ears
    for _ in range(1000):
        one.bell.ring("commits")
    one.bell.ring("last")
    await two.hears("commits", "last")
    assert two.topics == ["commits", "last"]


async def test_more_topics_than_a_datagram_holds_all_arrive(ears: tuple[Ear, Ear, Ear]) -> None:
    one, two, _ = ears
    topics = [f"control:run_{number:026d}" for number in range(400)]
    for topic in topics:
        one.bell.ring(topic)
    await two.hears(*topics)


async def test_a_newcomer_is_rung_at_once(ears: tuple[Ear, Ear, Ear], bells: Path) -> None:
    one, *_ = ears
    new = Ear(bells)
    new.bell.open()
    async with asyncio.timeout(PATIENCE_S):
        while not new.topics:
            one.bell.ring("queue")
            await asyncio.sleep(0)
    new.bell.close()


async def test_one_who_died_is_rung_no_more_and_swept_away(ears: tuple[Ear, Ear, Ear], bells: Path) -> None:
    one, two, _ = ears
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    dead.bind(str(bells / "dead"))
    dead.close()
    one.bell.look()
    one.bell.ring("queue")
    await two.hears("queue")
    assert not (bells / "dead").exists()


async def test_one_who_never_listens_does_not_hold_up_the_others(ears: tuple[Ear, Ear, Ear], bells: Path) -> None:
    one, two, _ = ears
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    deaf.bind(str(bells / "deaf"))
    one.bell.look()
    for number in range(2000):
        one.bell.ring(f"topic-{number}")
        await asyncio.sleep(0)
    one.bell.ring("last")
    await two.hears("last")
    deaf.close()


async def test_those_whose_folder_has_too_long_a_name_meet_elsewhere(
    tmp_path: Path, bells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(bells.parent))
    deep = tmp_path / ("x" * 120) / "bells"
    one, two = Ear(deep), Ear(deep)
    one.bell.open()
    two.bell.open()
    assert not deep.exists()
    two.bell.ring("queue")
    await one.hears("queue")
    one.bell.close()
    two.bell.close()


async def test_where_there_can_be_no_socket_a_ring_is_silence(bells: Path) -> None:
    (bells).write_text("a file where the folder should be")
    one = Ear(bells)
    one.bell.open()
    one.bell.ring("queue")
    one.bell.close()
    assert one.topics == []


async def test_nobody_is_met_in_a_folder_that_others_may_enter(bells: Path) -> None:
    bells.mkdir(mode=0o777)
    bells.chmod(0o777)
    one = Ear(bells)
    one.bell.open()
    assert list(bells.iterdir()) == []
    one.bell.close()


@pytest.mark.usefixtures("ears")
async def test_only_the_owner_may_ring(bells: Path) -> None:
    assert oct(bells.stat().st_mode & 0o777) == "0o700"
    assert {oct(each.stat().st_mode & 0o777) for each in bells.iterdir()} == {"0o600"}
