"""What the audit says of each stored fact."""

from collections.abc import Iterator
from pathlib import Path

from runwire.journal.records import FeedEvent
from runwire.protocol.envelope import decode_envelope
from runwire.runs.audit import AuditEntry, accountable, entry

FIXTURES = Path(__file__).resolve().parents[2] / "spec" / "fixtures" / "v1"
# A run may be cancelled without a reason; then there is nothing to tell but who did it.
SILENT = {"run.cancelled"}


def _facts() -> Iterator[AuditEntry]:
    """Every accountable fact of the logs that real runs left."""
    for path in sorted(FIXTURES.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            envelope = decode_envelope(line)
            if accountable(envelope.type):
                yield entry(FeedEvent(0, envelope.run_id, line), "native")


def test_every_fact_is_told_in_words() -> None:
    facts = list(_facts())
    silent = {fact.type for fact in facts if not fact.what} - SILENT
    assert silent == set()
    assert {"tool.file_write.proposed", "tool.http.requested", "approval.resolved"} <= {fact.type for fact in facts}
