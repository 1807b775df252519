"""Checkpoints: places in a run's log that it can be resumed from. They are events; there is no other store of them."""

from runwire.errors import CursorAhead
from runwire.journal.journal import Journal
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, sequence_of, type_of
from runwire.protocol.events.run import RunCheckpointSaved
from runwire.runs.errors import CheckpointNotFound, NotResumable
from runwire.runs.past import stored_events


async def find_checkpoint(journal: Journal, run_id: str, checkpoint_id: str) -> int:
    """The sequence of a checkpoint in its run."""
    name = checkpoint_id.encode()
    async for envelope in stored_events(journal, run_id):
        if name in envelope and type_of(envelope) == RunCheckpointSaved.type:
            saved = decode_payload(RunCheckpointSaved.type, data_of(envelope))
            if isinstance(saved, RunCheckpointSaved) and saved.checkpoint_id == checkpoint_id:
                return sequence_of(envelope)
    raise CheckpointNotFound(checkpoint_id)


async def resume_point(
    journal: Journal, run_id: str, *, from_sequence: int | None, checkpoint_id: str | None
) -> tuple[int, str | None]:
    """The last event that counts when a run is taken up, and the checkpoint it is; the newest one when neither is named."""
    if from_sequence is not None and checkpoint_id is not None:
        raise NotResumable("name a sequence or a checkpoint, not both")
    state = await journal.reader.run(run_id)
    if from_sequence is not None:
        if from_sequence > state.head_sequence:
            raise CursorAhead(from_sequence, head=state.head_sequence)
        if from_sequence < 0:
            raise NotResumable("sequences begin at 0")
        return from_sequence, None
    newest = checkpoint_id or state.story.run.checkpoint_id
    if newest is None:
        return state.head_sequence, None
    return await find_checkpoint(journal, run_id, newest), newest
