"""Reading a body: whole, in part, and never a damaged one."""

from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.errors import ArtifactNotFound, InvalidRange, StoreCorrupt
from runwire.journal.artifact import shortened
from runwire.journal.bodies import BLOCK_BYTES, Bodies
from runwire.journal.layout import bodies_of, database_of
from tests.journal.house import House, open_house
from tests.spec import spec

BODY = b"".join(number.to_bytes(4, "big") for number in range(BLOCK_BYTES // 4 * 3 + 25))
SIZE = len(BODY)


def file_of(house: House, digest: bytes) -> Path:
    return Bodies(folder=bodies_of(house.data)).path(digest)


def damage(path: Path, offset: int, content: bytes) -> None:
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (0, 1),
        (SIZE - 1, SIZE),
        (BLOCK_BYTES - 1, BLOCK_BYTES + 1),
        (BLOCK_BYTES, 2 * BLOCK_BYTES),
        (17, SIZE - 17),
        (SIZE, SIZE),
        (5, 5),
    ],
)
@pytest.mark.parametrize("large", [True, False])
async def test_a_range_is_just_those_bytes(house: House, start: int, stop: int, large: bool) -> None:
    body = BODY if large else BODY[:100]
    start, stop = (start, stop) if large else (min(start, 100), min(stop, 100))
    async with await house.artifacts.open((await house.keep(body)).artifact_id) as opened:
        assert opened.size == len(body)
        assert await opened.read(start, stop) == body[start:stop]


async def test_a_large_body_is_never_in_memory_as_a_whole(house: House) -> None:
    async with await house.artifacts.open((await house.keep(BODY)).artifact_id) as opened:
        chunks = [chunk async for chunk in opened.chunks()]
    assert b"".join(chunks) == BODY
    assert max(map(len, chunks)) <= BLOCK_BYTES


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (3, 2), (0, SIZE + 1), (SIZE + 1, None)])
async def test_a_range_outside_the_body_is_refused(house: House, start: int, stop: int | None) -> None:
    async with await house.artifacts.open((await house.keep(BODY)).artifact_id) as opened:
        with pytest.raises(InvalidRange):
            await opened.read(start, stop)


@spec("ART-1")
@pytest.mark.parametrize("offset", [0, BLOCK_BYTES + 1, SIZE - 1])
async def test_a_damaged_file_is_not_served_not_even_its_sound_parts(house: House, offset: int) -> None:
    artifact = await house.keep(BODY)
    damage(file_of(house, artifact.digest), offset, b"\xff")
    with pytest.raises(StoreCorrupt, match=artifact.digest.hex()):
        await house.artifacts.open(artifact.artifact_id)


@pytest.mark.parametrize("length", [0, 10, SIZE - 1, SIZE + 1])
async def test_a_file_of_another_length_is_not_served(house: House, length: int) -> None:
    artifact = await house.keep(BODY)
    path = file_of(house, artifact.digest)
    path.chmod(0o600)
    path.write_bytes((BODY + b"x")[:length])
    with pytest.raises(StoreCorrupt):
        await house.artifacts.open(artifact.artifact_id)


async def test_a_file_that_is_gone_is_damage(house: House) -> None:
    artifact = await house.keep(BODY)
    file_of(house, artifact.digest).unlink()
    with pytest.raises(StoreCorrupt, match=artifact.artifact_id):
        await house.artifacts.open(artifact.artifact_id)


@spec("ART-1")
async def test_damage_that_comes_while_a_body_is_read_is_not_served(house: House) -> None:
    artifact = await house.keep(BODY)
    async with await house.artifacts.open(artifact.artifact_id) as opened:
        assert await opened.read(0, BLOCK_BYTES) == BODY[:BLOCK_BYTES]
        damage(file_of(house, artifact.digest), BLOCK_BYTES + 7, b"\xff\xff")
        with pytest.raises(StoreCorrupt):
            await opened.read(BLOCK_BYTES, BLOCK_BYTES + 1)


@spec("ART-1")
async def test_a_damaged_row_is_not_served(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        await house.run()
        artifact = await house.keep(b"small")
    db = apsw.Connection(str(database_of(tmp_path / "data")))
    db.execute("UPDATE bodies SET inline = ? WHERE digest = ?", (b"smell", artifact.digest))
    db.close()
    async with open_house(tmp_path / "data") as house:
        with pytest.raises(StoreCorrupt):
            await house.artifacts.open(artifact.artifact_id)


async def test_the_same_body_again_mends_a_damaged_file(house: House) -> None:
    first = await house.keep(BODY)
    damage(file_of(house, first.digest), 3, b"\xff")
    await house.keep(BODY)
    assert await house.read(first) == BODY


async def test_an_unknown_artifact_is_not_found(house: House) -> None:
    with pytest.raises(ArtifactNotFound):
        await house.artifacts.open("art_none")
    with pytest.raises(ArtifactNotFound):
        await house.artifacts.pin("art_none", True)


@given(text=st.text(max_size=200), limit=st.integers(min_value=1, max_value=300))
def test_cut_text_is_always_whole_characters_within_the_limit(text: str, limit: int) -> None:
    body = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    kept = shortened(body, limit, text=True)
    assert len(kept) <= limit
    assert kept.decode()[:1] in ("", body.decode()[:1], "\n")
