"""What becomes of an object that a run hands over."""

import asyncio
import resource
from pathlib import Path

import pytest

from runwire.config import Config
from runwire.errors import ArtifactNotFound, QuotaExceeded, RunNotFound, StaleLease, StoreError
from runwire.journal.artifact import ArtifactFilter, ArtifactMeta, NewArtifact, PatchStats
from runwire.journal.bodies import INLINE_MAX
from runwire.journal.frames import envelopes
from runwire.journal.layout import bodies_of
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.run import RunStarted
from runwire.testing.clock import ManualClock
from tests.journal.house import House, open_house
from tests.spec import spec

SECRET = "correct-horse-battery-staple"
LARGE = bytes(range(256)) * 1024


async def events_of(house: House, run_id: str = "run_1") -> list[str]:
    batch = await house.journal.reader.read(run_id, -1, 1_000_000)
    return [] if batch is None else [decode_envelope(stored).type for stored in envelopes(batch.frames)]


def files_in(house: House) -> list[Path]:
    return [path for path in bodies_of(house.data).rglob("*") if path.is_file() and path.name != ".lock"]


@spec("ART-1")
@pytest.mark.parametrize("body", [b"", b"x", b"y" * INLINE_MAX, b"z" * (INLINE_MAX + 1), LARGE])
async def test_a_body_comes_back_as_it_was_given(house: House, body: bytes) -> None:
    artifact = await house.keep(body)
    assert artifact.size == len(body)
    assert await house.read(artifact) == body


@spec("SEQ-8")
async def test_an_artifact_and_the_event_that_names_it_appear_together(house: House) -> None:
    artifact = await house.keep(b"output")
    assert await events_of(house) == ["run.queued", "artifact.created"]
    assert await house.artifacts.get(artifact.artifact_id) == artifact
    assert (artifact.run_id, artifact.task_id, artifact.kind, artifact.status) == (
        "run_1",
        "task_1",
        "command_output",
        None,
    )


async def test_a_body_that_the_disk_does_not_take_leaves_nothing_and_can_be_tried_again(house: House) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(LARGE) // 2, hard))
    try:
        with pytest.raises(StoreError):
            await house.keep(LARGE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files_in(house) == []
    assert await events_of(house) == ["run.queued"]
    assert await house.read(await house.keep(LARGE)) == LARGE


@spec("SEQ-8")
async def test_an_event_that_is_refused_leaves_no_artifact(house: House) -> None:
    with pytest.raises(StaleLease):
        await house.artifacts.create("run_1", NewArtifact("image", ArtifactMeta(mime="image/png")), b"png", lease=7)
    assert (await house.artifacts.list(ArtifactFilter())).artifacts == []
    assert await events_of(house) == ["run.queued"]


async def test_a_draft_can_go_with_other_events(house: House) -> None:
    draft = await house.artifacts.prepare("run_1", NewArtifact("image", ArtifactMeta(mime="image/png")), LARGE)
    with pytest.raises(ArtifactNotFound):
        await house.artifacts.get(draft.artifact.artifact_id)
    await house.journal.append_all("run_1", [RunStarted(worker_id="w"), draft.event], also=draft.effect)
    assert await house.read(draft.artifact) == LARGE
    assert await events_of(house) == ["run.queued", "run.started", "artifact.created"]


async def test_a_run_that_is_not_there_gets_no_artifact(house: House) -> None:
    with pytest.raises(RunNotFound):
        await house.keep(LARGE, run_id="run_none")
    assert files_in(house) == []


async def test_the_same_body_is_kept_once(house: House) -> None:
    first, second = await house.keep(LARGE), await house.keep(LARGE)
    assert first.artifact_id != second.artifact_id
    assert first.etag == second.etag
    assert len(files_in(house)) == 1


async def test_large_bodies_are_private_files_that_nobody_writes_again(house: House) -> None:
    await house.keep(LARGE)
    (path,) = files_in(house)
    assert path.stat().st_mode & 0o777 == 0o400
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_what_a_kind_knows_of_itself_is_kept(house: House) -> None:
    meta = ArtifactMeta(
        mime="text/x-diff",
        summary="governor.go: 1 hunk, +1/-1",
        target_path="governor.go",
        base_revision="sha256:8a4f",
        stats=PatchStats(additions=1, deletions=1, hunks=1),
        produced_by_tool_call_id="call_1",
    )
    made = await house.artifacts.create("run_1", NewArtifact("patch", meta), b"--- a\n+++ b\n")
    found = await house.artifacts.get(made.artifact_id)
    assert found.meta == meta
    assert found.status == "proposed"


@pytest.mark.parametrize(
    ("kind", "status"), [("poem", None), ("image", "proposed"), ("patch", "reverted")], ids=["kind", "status", "revert"]
)
def test_what_no_artifact_can_be_is_refused(kind: str, status: str | None) -> None:
    with pytest.raises(ValueError, match=r"artifact|cannot be"):
        NewArtifact(kind, ArtifactMeta(), status=status)  # type: ignore[arg-type] # the mistake that is tested


@spec("RED-6")
@pytest.mark.parametrize("mime", ["text/plain", "application/octet-stream"])
@pytest.mark.parametrize("padding", [10, 100_000])
async def test_a_secret_reaches_neither_body_nor_metadata(house: House, mime: str, padding: int) -> None:
    house.secrets.register("test.secret", SECRET)
    body = b"a" * padding + SECRET.encode() + b"\n" + b"b" * padding
    new = NewArtifact("command_output", ArtifactMeta(mime=mime, summary=f"says {SECRET}", target_path="x"))
    artifact = await house.artifacts.create("run_1", new, body)
    stored = await house.read(artifact)
    assert b"[redacted:test.secret]" in stored
    assert artifact.size == len(stored)
    assert artifact.meta.redactions == 1
    assert artifact.meta.summary == "says [redacted:test.secret]"
    assert artifact.meta.redacted_paths == ["/summary"]
    for path in (path for path in house.data.rglob("*") if path.is_file()):
        assert SECRET.encode() not in path.read_bytes()


class TestTooLarge:
    """Bodies past the limit."""

    async def cut(self, tmp_path: Path, body: bytes, *, mime: str, limit: int) -> tuple[bytes, ArtifactMeta]:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, artifact_limit_bytes=limit)) as house:
            await house.run()
            artifact = await house.artifacts.create(
                "run_1", NewArtifact("fetched_resource", ArtifactMeta(mime=mime)), body
            )
            stored = await house.read(artifact)
            assert artifact.size == len(stored) <= limit
            return stored, artifact.meta

    @spec("ART-5")
    async def test_text_is_cut_between_two_characters_and_says_so(self, tmp_path: Path) -> None:
        body = "añ€😀".encode() * 100
        stored, meta = await self.cut(tmp_path, body, mime="text/plain", limit=500)
        text, marker = stored.decode().split("\n", 1)
        assert body.startswith(text.encode())
        assert len(text.encode()) > 500 - 80
        assert marker == "[truncated: this is the beginning of 1000 bytes]\n"
        assert (meta.truncated, meta.original_size) == (True, 1000)

    @spec("ART-5")
    async def test_bytes_are_cut_to_the_limit(self, tmp_path: Path) -> None:
        stored, meta = await self.cut(tmp_path, LARGE, mime="image/png", limit=100_000)
        assert stored == LARGE[:100_000]
        assert (meta.truncated, meta.original_size) == (True, len(LARGE))

    async def test_a_limit_without_room_for_a_marker_still_holds(self, tmp_path: Path) -> None:
        stored, meta = await self.cut(tmp_path, "€€€€".encode(), mime="text/plain", limit=5)
        assert stored.decode() == "€"
        assert meta.truncated

    async def test_what_just_fits_is_left_alone(self, tmp_path: Path) -> None:
        stored, meta = await self.cut(tmp_path, b"x" * 500, mime="text/plain", limit=500)
        assert stored == b"x" * 500
        assert not meta.truncated

    @spec("RED-6")
    async def test_a_secret_on_the_cut_is_found_first(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, artifact_limit_bytes=110)) as house:
            house.secrets.register("test.secret", SECRET)
            await house.run()
            new = NewArtifact("image", ArtifactMeta(mime="image/png"))
            artifact = await house.artifacts.create("run_1", new, b"." * 100 + SECRET.encode() + b"." * 100)
            assert SECRET[:10].encode() not in await house.read(artifact)


class TestQuota:
    """The room that a task has."""

    @spec("ART-4")
    async def test_artifacts_that_race_for_the_last_room_do_not_pass_it_together(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, artifact_quota_bytes=10_000)) as house:
            await house.run("run_1", task_id="task_1")
            await house.run("run_2", task_id="task_1")
            bodies = [bytes([number]) * 1_500 for number in range(20)]
            runs = ["run_1", "run_2"] * 10
            made = await asyncio.gather(
                *(house.keep(body, run_id=run) for body, run in zip(bodies, runs, strict=True)), return_exceptions=True
            )
            refused = [each for each in made if isinstance(each, QuotaExceeded)]
            assert len(refused) == 14
            assert {each.status for each in refused} == {413}
            page = await house.artifacts.list(ArtifactFilter(task_id="task_1"))
            assert sum(artifact.size for artifact in page.artifacts) == 9_000
            events = await events_of(house, "run_1") + await events_of(house, "run_2")
            assert events.count("artifact.created") == 6

    @spec("ART-4")
    async def test_two_processes_share_it(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        config = Config(data=data, artifact_quota_bytes=10)
        async with open_house(data, config=config) as one, open_house(data, config=config) as two:
            await one.run("run_1", task_id="task_1")
            await one.keep(b"123456")
            with pytest.raises(QuotaExceeded):
                await two.keep(b"abcdef")
            await two.keep(b"abcd")

    async def test_tasks_do_not_share_it_and_a_run_without_a_task_has_its_own(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, artifact_quota_bytes=10)) as house:
            for run_id, task_id in (("run_1", "task_1"), ("run_2", "task_2"), ("run_3", None), ("run_4", None)):
                await house.run(run_id, task_id=task_id)
                await house.keep(b"0123456789", run_id=run_id)
                with pytest.raises(QuotaExceeded):
                    await house.keep(b"x", run_id=run_id)


class TestListing:
    """Finding artifacts again."""

    async def test_pages_run_from_the_newest_to_the_oldest_without_gap_or_repeat(self, house: House) -> None:
        made = [(await house.keep(b"%d" % number)).artifact_id for number in range(7)]
        found: list[str] = []
        cursor = None
        while True:
            page = await house.artifacts.list(ArtifactFilter(run_id="run_1"), cursor=cursor, limit=3)
            found += [artifact.artifact_id for artifact in page.artifacts]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == made[::-1]

    async def test_a_page_that_is_just_full_has_no_next_one(self, house: House) -> None:
        await house.keep(b"1")
        await house.keep(b"2")
        assert (await house.artifacts.list(ArtifactFilter(), limit=2)).next_cursor is None

    async def test_filters_narrow_it(self, house: House) -> None:
        await house.run("run_2", task_id="task_2")
        patch = await house.artifacts.create("run_1", NewArtifact("patch", ArtifactMeta()), b"diff")
        output = await house.keep(b"out")
        other = await house.keep(b"other", run_id="run_2")
        await house.artifacts.pin(other.artifact_id, True)

        async def listed(which: ArtifactFilter) -> list[str]:
            return [artifact.artifact_id for artifact in (await house.artifacts.list(which)).artifacts]

        assert await listed(ArtifactFilter(kind="patch")) == [patch.artifact_id]
        assert await listed(ArtifactFilter(status="proposed")) == [patch.artifact_id]
        assert await listed(ArtifactFilter(run_id="run_1", kind="command_output")) == [output.artifact_id]
        assert await listed(ArtifactFilter(task_id="task_2")) == [other.artifact_id]
        assert await listed(ArtifactFilter(pinned=True)) == [other.artifact_id]
        assert await listed(ArtifactFilter(pinned=False, run_id="run_2")) == []


async def test_an_artifact_survives_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path / "data", clock=clock) as house:
        await house.run()
        small, large = await house.keep(b"small"), await house.keep(LARGE)
    async with open_house(tmp_path / "data", clock=clock) as house:
        assert await house.artifacts.get(small.artifact_id) == small
        assert await house.read(small) == b"small"
        assert await house.read(large) == LARGE
