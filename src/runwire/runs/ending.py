"""How runs end: the terminal event, the decisions that nobody will take any more, and the rows that go with them."""

from collections.abc import Iterable, Sequence

import apsw
import msgspec

from runwire.errors import Conflict
from runwire.host import Ended, Finished
from runwire.journal.records import Effect
from runwire.protocol.events.approval import ApprovalResolved
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished
from runwire.protocol.payload import Payload
from runwire.runs.approval import Answer
from runwire.runs.rows.queue import remove_entry, remove_settled

_NS_PER_MS = 1_000_000


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What a run amounted to."""

    turns: int
    cost_micros_usd: int
    duration_ms: int


class ApprovalsMoved(Conflict):
    """What is pending is not what was about to be closed."""


def totals(*, turns: int, cost_micros_usd: int, started_ns: int | None, now_ns: int) -> Totals:
    """The sums that a terminal event carries."""
    duration_ms = 0 if started_ns is None else max(0, now_ns - started_ns) // _NS_PER_MS
    return Totals(turns=turns, cost_micros_usd=cost_micros_usd, duration_ms=duration_ms)


def terminal(ended: Ended, sums: Totals) -> Payload:
    """The event that says how the work ended."""
    if isinstance(ended, Finished):
        return RunFinished(turns=sums.turns, cost_micros_usd=sums.cost_micros_usd, duration_ms=sums.duration_ms)
    return RunFailed(
        code=ended.code,
        message=ended.message,
        retriable=ended.retriable,
        turns=sums.turns,
        cost_micros_usd=sums.cost_micros_usd,
        duration_ms=sums.duration_ms,
    )


def cancelled(by: str, reason: str, sums: Totals) -> Payload:
    """The event that says who stopped the run."""
    return RunCancelled(
        by=by, reason=reason, turns=sums.turns, cost_micros_usd=sums.cost_micros_usd, duration_ms=sums.duration_ms
    )


def denials(approval_ids: Iterable[str], *, by: str, comment: str) -> list[Payload]:
    """Nobody will decide these any more."""
    return [ApprovalResolved(approval_id=one, decision="denied", by=by, comment=comment) for one in approval_ids]


def pending_approvals(db: apsw.Connection, run_id: str) -> list[str]:
    """What a run waits for."""
    rows = db.execute(
        "SELECT approval_id FROM approvals WHERE run_id = ? AND status = 'pending' ORDER BY approval_key", (run_id,)
    )
    return [str(row[0]) for row in rows]


def deny_pending(db: apsw.Connection, run_id: str, *, by: str, comment: str, now_ns: int) -> None:
    """Answer for all who did not."""
    answer = msgspec.json.encode(Answer(decision="denied", by=by, comment=comment))
    db.execute(
        "UPDATE approvals SET status = 'denied', answer = ?, resolved_ns = ? WHERE run_id = ? AND status = 'pending'",
        (answer, now_ns, run_id),
    )


def over(run_id: str, expected: Sequence[str], *, by: str, comment: str, now_ns: int) -> Effect:
    """The rows of a run that ends: it leaves the queue, and what is pending is denied. More pending than expected is refused."""

    def effect(db: apsw.Connection) -> None:
        # Nearly every run ends without a question that is left open: then one look is enough.
        if not expected and remove_settled(db, run_id):
            return
        if pending_approvals(db, run_id) != list(expected):
            raise ApprovalsMoved(f"the approvals of {run_id} have moved")
        if expected:
            deny_pending(db, run_id, by=by, comment=comment, now_ns=now_ns)
        remove_entry(db, run_id)

    return effect
