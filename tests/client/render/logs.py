"""Logs to draw: every fixture of the contract, and what became of streams captured from real agents."""

from pathlib import Path

import msgspec

from runwire.client.render.drawing import Drawing
from runwire.clock import rfc3339
from runwire.protocol.envelope import EnvelopeWriter

_TESTS = Path(__file__).parents[2]
FIXTURES = sorted((_TESTS.parent / "spec" / "fixtures" / "v1").glob("*.jsonl"))
CAPTURES = sorted((_TESTS / "transcripts").rglob("*.expected.jsonl"))
_START_NS = 1_794_744_000_000_000_000
_WRITER = EnvelopeWriter(run_id="run_01M7FH87G00000000000000001")


class _Told(msgspec.Struct):
    """A line of a capture: an event, or how it all ended."""

    type: str = ""
    data: msgspec.Raw = msgspec.Raw(b"{}")
    outcome: str = ""
    code: str = ""
    message: str = ""
    by: str = ""

    def event(self) -> tuple[str, object]:
        if self.type:
            return self.type, self.data
        if self.code:
            return "run.failed", {"code": self.code, "message": self.message, "turns": 1}
        if self.by:
            return "run.cancelled", {"by": self.by}
        return "run.finished", {"turns": 1, "cost_micros_usd": 0, "duration_ms": 1}


def envelope(sequence: int, event_type: str, data: object) -> bytes:
    """A stored event, a hundredth of a second after the one before."""
    encoded = msgspec.json.encode(data)
    moment = rfc3339(_START_NS + sequence * 10_000_000)
    return _WRITER.write(f"evt_01M7FH87G0000000000000{sequence:04d}", sequence, moment, event_type, encoded)


def log(*events: tuple[str, object]) -> list[bytes]:
    """A run in which this has happened."""
    return [envelope(sequence, event_type, data) for sequence, (event_type, data) in enumerate(events)]


def envelopes(path: Path) -> list[bytes]:
    """The stored events of a file; those of a capture have been given envelopes."""
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    if path in FIXTURES:
        return lines
    told = [msgspec.json.decode(line, type=_Told) for line in lines]
    return log(*(one.event() for one in told if one.type or one.outcome))


def drawn(lines: list[bytes]) -> Drawing:
    """What the events look like."""
    drawing = Drawing()
    for line in lines:
        drawing.take(line)
    return drawing
