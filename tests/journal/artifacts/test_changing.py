"""The life of a patch: proposed, then applied or rejected, perhaps reverted. Each step is an event, and comes once."""

import asyncio

import pytest

from runwire.clock import rfc3339
from runwire.errors import ArtifactNotFound, Conflict
from runwire.journal.artifact import Artifact, ArtifactMeta, NewArtifact
from runwire.journal.frames import envelopes
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.artifact import ArtifactUpdated
from runwire.protocol.events.run import RunCancelled
from tests.journal.house import House


async def updates(house: House) -> list[ArtifactUpdated]:
    batch = await house.journal.reader.read("run_1", -1, 1_000_000)
    assert batch is not None
    told = [decode_envelope(stored) for stored in envelopes(batch.frames)]
    payloads = [decode_payload(envelope.type, envelope.data) for envelope in told]
    return [payload for payload in payloads if isinstance(payload, ArtifactUpdated)]


@pytest.fixture
async def patch(house: House) -> Artifact:
    new = NewArtifact("patch", ArtifactMeta(mime="text/x-diff", target_path="a.py"))
    return await house.artifacts.create("run_1", new, b"--- a\n+++ b\n")


async def test_a_patch_is_applied_and_the_log_says_so(house: House, patch: Artifact) -> None:
    applied = await house.artifacts.update(house.artifacts.applied(patch.artifact_id))
    assert applied.status == "applied"
    assert applied.meta.applied_at == rfc3339(house.clock.now_ns())
    assert applied.meta.target_path == "a.py"
    assert await updates(house) == [
        ArtifactUpdated(artifact_id=patch.artifact_id, field="status", old_value="proposed", new_value="applied")
    ]


async def test_a_reverted_patch_stays_applied_and_says_when_that_ended(house: House, patch: Artifact) -> None:
    await house.artifacts.update(house.artifacts.applied(patch.artifact_id))
    reverted = await house.artifacts.update(house.artifacts.reverted(patch.artifact_id))
    assert (reverted.status, reverted.meta.reverted_at) == ("applied", rfc3339(house.clock.now_ns()))
    assert [update.field for update in await updates(house)] == ["status", "reverted_at"]


async def test_of_two_who_decide_at_once_one_is_refused(house: House, patch: Artifact) -> None:
    answers = await asyncio.gather(
        house.artifacts.update(house.artifacts.applied(patch.artifact_id)),
        house.artifacts.update(house.artifacts.rejected(patch.artifact_id)),
        return_exceptions=True,
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["Artifact", "Conflict"]
    assert len(await updates(house)) == 1


async def test_what_was_never_applied_cannot_be_reverted(house: House, patch: Artifact) -> None:
    with pytest.raises(Conflict, match="is proposed"):
        await house.artifacts.update(house.artifacts.reverted(patch.artifact_id))
    await house.artifacts.update(house.artifacts.rejected(patch.artifact_id))
    with pytest.raises(Conflict, match="is rejected"):
        await house.artifacts.update(house.artifacts.reverted(patch.artifact_id))
    assert len(await updates(house)) == 1


async def test_only_a_patch_has_a_status(house: House) -> None:
    output = await house.keep(b"out")
    with pytest.raises(Conflict, match="is a command_output"):
        await house.artifacts.update(house.artifacts.applied(output.artifact_id))


async def test_a_patch_can_be_decided_after_its_run_is_over(house: House, patch: Artifact) -> None:
    await house.journal.append("run_1", RunCancelled(by="operator"))
    assert (await house.artifacts.update(house.artifacts.rejected(patch.artifact_id))).status == "rejected"


async def test_an_unknown_patch_is_not_found(house: House) -> None:
    with pytest.raises(ArtifactNotFound):
        await house.artifacts.update(house.artifacts.applied("art_none"))


async def test_a_pinned_patch_can_be_decided_after_its_run_is_gone(house: House, patch: Artifact) -> None:
    await house.artifacts.pin(patch.artifact_id, True)
    await house.retention.delete("run_1")
    rejected = await house.artifacts.update(house.artifacts.rejected(patch.artifact_id))
    assert (rejected.status, rejected.pinned) == ("rejected", True)
