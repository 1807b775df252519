"""Events as tables, for questions in SQL: a private copy that lives as long as the question and can only be read."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import apsw
from msgspec import UnsetType

from runwire.errors import InvalidRequest, RunwireError
from runwire.protocol.envelope import decode_envelope

Value = None | int | float | str | bytes

_TABLE = """
CREATE TABLE stored (run_id TEXT, task_id TEXT, session_id TEXT, sequence INTEGER, event_id TEXT, occurred_at TEXT, type TEXT, data TEXT);
CREATE INDEX stored_by_call ON stored (type, run_id, data ->> '$.tool_call_id');
CREATE INDEX stored_by_approval ON stored (type, run_id, data ->> '$.approval_id');
CREATE INDEX stored_by_patch ON stored (type, run_id, data ->> '$.patch_artifact_id');
"""

_EVENTS = "SELECT run_id, task_id, session_id, sequence, event_id, occurred_at, type, data FROM stored"

_SHELL_COMMANDS = """
SELECT c.run_id, c.task_id, c.sequence, c.data ->> '$.tool_call_id' AS tool_call_id, c.occurred_at AS started_at,
  CASE WHEN c.data ->> '$.argv[0]' = '/bin/sh' AND c.data ->> '$.argv[1]' = '-c' THEN c.data ->> '$.argv[2]'
    ELSE (SELECT group_concat(value, ' ') FROM json_each(c.data, '$.argv')) END AS command,
  c.data -> '$.argv' AS argv, c.data ->> '$.cwd' AS cwd, c.data ->> '$.sandbox_layer' AS sandbox_layer,
  e.data ->> '$.exit_code' AS exit_code, e.data ->> '$.signal' AS signal, e.occurred_at AS ended_at
FROM stored AS c LEFT JOIN stored AS e ON e.type = 'tool.shell.exited' AND e.run_id = c.run_id
  AND e.data ->> '$.tool_call_id' = c.data ->> '$.tool_call_id'
WHERE c.type = 'tool.shell.command'
"""

_APPROVALS = """
SELECT a.run_id, a.task_id, a.sequence, a.data ->> '$.approval_id' AS approval_id, a.data ->> '$.tool_call_id' AS tool_call_id,
  a.data ->> '$.kind' AS kind, a.data ->> '$.summary' AS summary, a.data ->> '$.policy_reason' AS reason,
  a.occurred_at AS requested_at,
  coalesce(d.data ->> '$.decision', iif(t.type IS NULL, 'pending', 'timed_out')) AS status,
  d.data ->> '$.by' AS decided_by, d.data ->> '$.scope' AS scope, d.data ->> '$.comment' AS comment,
  coalesce(d.occurred_at, t.occurred_at) AS decided_at
FROM stored AS a
LEFT JOIN stored AS d ON d.type = 'approval.resolved' AND d.run_id = a.run_id
  AND d.data ->> '$.approval_id' = a.data ->> '$.approval_id'
LEFT JOIN stored AS t ON t.type = 'approval.timed_out' AND t.run_id = a.run_id
  AND t.data ->> '$.approval_id' = a.data ->> '$.approval_id'
WHERE a.type = 'approval.requested'
"""

_EDITS = """
WITH steps AS (
  SELECT run_id, task_id, sequence, occurred_at, type, data, data ->> '$.patch_artifact_id' AS artifact_id,
    data ->> '$.path' AS path
  FROM stored WHERE type IN ('tool.file_write.proposed', 'tool.edit.proposed', 'tool.edit.applied', 'tool.edit.rejected',
    'tool.edit.reverted')
  UNION ALL
  SELECT s.run_id, s.task_id, s.sequence, s.occurred_at, s.type, s.data, each.value AS artifact_id,
    s.data ->> ('$.paths[' || each.key || ']') AS path
  FROM stored AS s, json_each(s.data, '$.patch_artifact_ids') AS each
  WHERE s.type IN ('tool.multi_edit.proposed', 'tool.multi_edit.applied', 'tool.multi_edit.rejected',
    'tool.multi_edit.reverted')
)
SELECT run_id, task_id, sequence, artifact_id, max(path) OVER (PARTITION BY run_id, artifact_id) AS path,
  substr(type, length(rtrim(type, 'abcdefghijklmnopqrstuvwxyz')) + 1) AS action, occurred_at,
  coalesce(data ->> '$.applied_by', data ->> '$.rejected_by', data ->> '$.reverted_by') AS who,
  data ->> '$.reason' AS reason, data ->> '$.summary' AS summary
FROM steps
"""

_COSTS = """
SELECT run_id, task_id, occurred_at AS as_of, data ->> '$.cumulative_input_tokens' AS input_tokens,
  data ->> '$.cumulative_cached_input_tokens' AS cached_input_tokens,
  data ->> '$.cumulative_output_tokens' AS output_tokens, data ->> '$.cumulative_cost_micros_usd' AS cost_micros_usd,
  (data ->> '$.cumulative_cost_micros_usd') / 1000000.0 AS cost_usd
FROM stored AS c WHERE type = 'cost.tick'
  AND sequence = (SELECT max(sequence) FROM stored AS l WHERE l.type = 'cost.tick' AND l.run_id = c.run_id)
"""

VIEWS: Mapping[str, tuple[str, str | None]] = {
    "events": (_EVENTS, None),
    "shell_commands": (_SHELL_COMMANDS, "tool.shell.command,tool.shell.exited"),
    "approvals": (_APPROVALS, "approval.*"),
    "edits": (_EDITS, "tool.edit.*,tool.multi_edit.*,tool.file_write.proposed"),
    "costs": (_COSTS, "cost.tick"),
}
"""Every view: its query, and the types that it is made of; None: all of them."""

_READING = {apsw.SQLITE_SELECT, apsw.SQLITE_READ, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
_FORBIDDEN = {"load_extension"}
_NO_QUESTION = "that is no question"
_VALUE_BYTES_MAX = 64 * 1024 * 1024
_STEPS_BETWEEN_LOOKS = 20_000


class QuestionRefused(InvalidRequest):
    """The question is no SQL that only reads."""

    code = "query_refused"
    hint = f"one SELECT over {', '.join(VIEWS)}; `runwire audit --help` shows some"


class QuestionTooLong(RunwireError):
    """The question takes too long to answer."""

    code = "query_too_long"
    hint = "read fewer events with --type or --since, or allow more time with --timeout"


@dataclass(frozen=True, slots=True)
class Found:
    """The answer: names of columns, and as many rows as were wanted."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    more: bool


class Ledger:
    """The copy. Ask what a question needs, keep those events, then answer it. Close it in the end."""

    def __init__(self) -> None:
        """Make an empty one, which spills to a temporary file of its own when it grows."""
        self._db = apsw.Connection("")
        self._db.limit(apsw.SQLITE_LIMIT_LENGTH, _VALUE_BYTES_MAX)
        self._db.execute(_TABLE + ";".join(f"CREATE VIEW {name} AS {query}" for name, (query, _) in VIEWS.items()))

    def close(self) -> None:
        """Forget everything."""
        self._db.close()

    def needs(self, question: str) -> str | None:
        """The types of events that a question is about: None for all, and none of them where it asks for none.

        A question that does more than read is refused.
        """
        touched: set[str] = set()

        def look(_: int, table: str | None, __: str | None, ___: str | None, within: str | None) -> None:
            if table == "stored":
                touched.add(within if within is not None and within in VIEWS else "events")
            elif table is not None and table in VIEWS:
                touched.add(table)

        with self._guarded(look), closing(self._db.cursor()) as cursor:
            # Compiled, but not run.
            cursor.exec_trace = lambda compiled, *_: _require_question(compiled) and False
            try:
                cursor.execute(question)
            except apsw.ExecTraceAbort:
                types = [VIEWS[name][1] for name in touched]
                return None if None in types else ",".join(str(each) for each in types)
            except apsw.Error as wrong:
                raise QuestionRefused(f"that cannot be asked: {wrong}") from wrong
        raise QuestionRefused(_NO_QUESTION)

    def keep(self, envelopes: Iterable[bytes]) -> None:
        """Take events in."""
        with self._db:
            self._db.executemany("INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(_row, envelopes))

    def answer(self, question: str, *, most: int, within_s: float) -> Found:
        """Run a question that `needs` has let pass."""
        end_s = time.monotonic() + within_s
        self._db.set_progress_handler(lambda: time.monotonic() > end_s, _STEPS_BETWEEN_LOOKS)
        columns: list[str] = []

        def begin(cursor: apsw.Cursor, *_: object) -> bool:
            # Only here are the columns of an answer without rows still known; a second statement is not begun.
            first = _require_question(cursor) and not columns
            columns.extend(name for name, *_ in cursor.get_description())
            return first

        with self._guarded(lambda *_: None), closing(self._db.cursor()) as cursor:
            cursor.exec_trace = begin
            try:
                cursor.execute(question)
                rows = list(_first(cursor, most + 1))
            except apsw.ExecTraceAbort as wrong:
                raise QuestionRefused("one question at a time") from wrong
            except apsw.InterruptError as wrong:
                raise QuestionTooLong(f"no answer within {within_s:g} s") from wrong
            except apsw.Error as wrong:
                raise QuestionRefused(f"that cannot be answered: {wrong}") from wrong
        return Found(columns, rows[:most], len(rows) > most)

    def _guarded(self, look: Callable[..., None]) -> "_Guard":
        return _Guard(self._db, look)


class _Guard:
    """While it stands, a connection can do nothing but read."""

    def __init__(self, db: apsw.Connection, look: Callable[..., None]) -> None:
        self._db = db
        self._look = look

    def __enter__(self) -> None:
        self._db.authorizer = self._allows

    def __exit__(self, *_: object) -> None:
        self._db.authorizer = None

    def _allows(
        self, action: int, first: str | None, second: str | None, database: str | None, within: str | None
    ) -> int:
        self._look(action, first, second, database, within)
        return apsw.SQLITE_OK if action in _READING and second not in _FORBIDDEN else apsw.SQLITE_DENY


def _require_question(compiled: apsw.Cursor) -> bool:
    """Refuse what the guard is not asked about: a statement that gives nothing, such as VACUUM, or is not there at all."""
    if not compiled.is_readonly or not compiled.get_description():
        raise QuestionRefused(_NO_QUESTION)
    return True


def _first(cursor: apsw.Cursor, count: int) -> Iterator[Sequence[Value]]:
    for _, row in zip(range(count), cursor, strict=False):
        yield row


def _row(line: bytes) -> tuple[Value, ...]:
    envelope = decode_envelope(line)
    return (
        envelope.run_id,
        None if isinstance(envelope.task_id, UnsetType) else envelope.task_id,
        None if isinstance(envelope.session_id, UnsetType) else envelope.session_id,
        envelope.sequence,
        envelope.event_id,
        envelope.occurred_at,
        envelope.type,
        bytes(envelope.data).decode(),
    )
