"""Envelopes, frames and whole logs to feed a client with."""

from runwire.clock import rfc3339
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.run import RunFinished, RunQueued, RunStarted
from runwire.protocol.payload import Payload, encode_payload

RUN = "run_01JC0000000000000000000000"
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
RETRY = b"retry: 1000\n\n"

_BEGAN_NS = 1_763_244_000_000_000_000
_STEP_NS = 50_000_000


def envelope(sequence: int, event_type: str = "external.note", data: bytes = b"{}", run_id: str = RUN) -> bytes:
    """One stored envelope; each is a twentieth of a second later than the one before."""
    return EnvelopeWriter(run_id=run_id).write(
        event_id=f"evt_{run_id[-6:]}{sequence:020d}",
        sequence=sequence,
        occurred_at=rfc3339(_BEGAN_NS + sequence * _STEP_NS),
        event_type=event_type,
        data=data,
    )


def frame(sequence: int, event_type: str = "external.note", data: bytes = b"{}") -> bytes:
    """One stored frame."""
    return b"id: %d\ndata: %b\n\n" % (sequence, envelope(sequence, event_type, data))


def synced(sequence: int) -> bytes:
    """The frame that ends a backlog."""
    return b'event: synced\ndata: {"sequence":%d}\n\n' % sequence


def finished(sequence: int) -> bytes:
    """The frame that ends a run."""
    return frame(sequence, RunFinished.type, encode_payload(_FINISHED))


def log(run_id: str, notes: int = 5, *, over: bool = True) -> list[bytes]:
    """The envelopes of a whole run that keeps every rule: begun, some notes with odd bytes in them, finished."""
    lines = [_line(0, _QUEUED, run_id), _line(1, RunStarted(worker_id="w1"), run_id)]
    for number in range(notes):
        # Escapes, exponents and line separators that no encoder of ours would write just so.
        data = f'{{"n":{number},"odd":"\\u00e9 \u2028 \\/","big":1.0e2}}'.encode()
        lines.append(envelope(len(lines), "external.note", data, run_id))
    if over:
        lines.append(_line(len(lines), _FINISHED, run_id))
    return lines


def _line(sequence: int, payload: Payload, run_id: str) -> bytes:
    return envelope(sequence, payload.type, encode_payload(payload), run_id)


_QUEUED = RunQueued(
    kind="agent_loop", model="scripted:x", provider="scripted", workspace_path=None, workspace_mode=None
)
_FINISHED = RunFinished(turns=0, cost_micros_usd=0, duration_ms=1)
