"""Reading a log the way a careful reader does: cursor by cursor, to the end."""

from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal
from runwire.protocol.payload import Opaque


def note(text: str = "hello") -> Opaque:
    """A small event that an outside caller might append."""
    return Opaque.of("external.note", b'{"text":"%b"}' % text.encode())


async def whole_log(journal: Journal, run_id: str, after: int = -1, max_bytes: int = 32_768) -> list[bytes]:
    """Every stored envelope past a cursor."""
    found: list[bytes] = []
    while (batch := await journal.reader.read(run_id, after, max_bytes)) is not None:
        assert batch.last > after, "a batch that does not move the cursor would be read for ever"
        found += envelopes(batch.frames)
        after = batch.last
    return found


async def whole_feed(journal: Journal, position: int = 0, limit: int = 100) -> list[bytes]:
    """Every event of all runs from a feed position on."""
    found: list[bytes] = []
    while True:
        events, position = await journal.reader.feed(position, limit)
        if not events:
            return found
        found += [event.envelope for event in events]
