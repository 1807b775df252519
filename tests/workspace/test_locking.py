"""One writer per workspace."""

import asyncio
import sys
from pathlib import Path

import pytest

from runwire.workspace.errors import WorkspaceBusy
from runwire.workspace.locking import Locks


@pytest.fixture
def locks(tmp_path: Path) -> Locks:
    return Locks(tmp_path / "locks")


async def test_the_second_waits_for_the_first(locks: Locks, tmp_path: Path) -> None:
    order: list[str] = []
    held = asyncio.Event()

    async def first() -> None:
        async with locks.hold(tmp_path):
            held.set()
            await asyncio.sleep(0.05)
            order.append("first")

    async def second() -> None:
        await held.wait()
        async with locks.hold(tmp_path):
            order.append("second")

    await asyncio.gather(second(), first())
    assert order == ["first", "second"]


async def test_patience_ends(locks: Locks, tmp_path: Path) -> None:
    async with locks.hold(tmp_path):
        with pytest.raises(WorkspaceBusy):
            async with locks.hold(tmp_path, patience_s=0.05):
                pass


async def test_one_can_ask_without_waiting(locks: Locks, tmp_path: Path) -> None:
    async with locks.try_hold(tmp_path) as first, locks.try_hold(tmp_path) as second:
        assert (first, second) == (True, False)
    async with locks.try_hold(tmp_path) as again:
        assert again


async def test_a_workspace_is_one_however_it_is_spelled(locks: Locks, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    async with locks.hold(tmp_path / "real"), locks.try_hold(tmp_path / "link") as same:
        assert not same
    async with locks.hold(tmp_path / "real"), locks.try_hold(tmp_path / "other") as other:
        assert other


async def test_a_holder_that_is_killed_lets_go(locks: Locks, tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom runwire.workspace.locking import Locks\n"
        "async def main():\n"
        "    async with Locks(Path(sys.argv[1])).hold(Path(sys.argv[2])):\n"
        "        print('held', flush=True)\n        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    holder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(tmp_path / "locks"), str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    async with locks.try_hold(tmp_path) as held:
        assert not held
    holder.kill()
    await holder.wait()
    async with locks.hold(tmp_path, patience_s=5):
        pass
