"""The stored bytes of a run, to hold those of a file against."""

from collections.abc import AsyncGenerator

from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.protocol import chain
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope, sequence_of, type_of
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.lifecycle import Breach


class Stored:
    """Reads a stored run once, as far as the file does. Close it in the end."""

    def __init__(self, client: Client, run_id: str) -> None:
        """Begin before the first event of a run that is there."""
        self._client = client
        self._run_id = run_id
        self._lines: AsyncGenerator[bytes] = client.export(run_id)
        self._line = b""
        self._sequence = -1
        # The chain value after the line; unknown between a hole and the marker that explains it.
        self._head: bytes | None = chain.GENESIS

    async def aclose(self) -> None:
        """Stop reading."""
        await self._lines.aclose()

    async def compare(self, sequence: int, line: bytes, head: bytes) -> Breach | None:
        """Hold the file's line, and its chain value after it, against what is stored under that sequence."""
        while self._sequence < sequence:
            if not await self._advance():
                return Breach(sequence, "CHAIN-1", f"the stored run ends at sequence {self._sequence}")
        if self._sequence > sequence or self._line == line:
            # What was pruned here since cannot be compared; the chain value at the marker stands for it.
            return None
        if GapEventsPruned.type not in (type_of(self._line), decode_envelope(line).type):
            return Breach(sequence, "CHAIN-1", "the stored event differs")
        if self._head in (None, head):
            return None
        return Breach(sequence, "CHAIN-1", "the chain up to here differs from the stored one")

    async def run(self) -> Run:
        """What the run is now."""
        return await self._client.run(self._run_id)

    async def _advance(self) -> bool:
        line = await anext(self._lines, None)
        if line is None:
            # The run may have grown since the export began, and the file with it.
            self._lines = self._client.export(self._run_id, after=self._sequence)
            line = await anext(self._lines, None)
        if line is None:
            return False
        sequence = sequence_of(line)
        if self._head is not None:
            self._head = chain.link(self._head, line) if sequence == self._sequence + 1 else None
        if type_of(line) == GapEventsPruned.type:
            self._head = _anchor(line, sequence)
        self._line, self._sequence = line, sequence
        return True


def _anchor(line: bytes, sequence: int) -> bytes | None:
    """The chain value that a gap marker recorded for its own place."""
    envelope = decode_envelope(line)
    marker = decode_payload(envelope.type, envelope.data)
    anchors = (marker.anchors or ()) if isinstance(marker, GapEventsPruned) else ()
    return next((chain.read(anchor.hash) for anchor in anchors if anchor.sequence == sequence), None)
