"""`runwire audit --sql`: questions about everything that happened, which change nothing."""

import re
from pathlib import Path

import pytest

from runwire.cli.ledger import VIEWS, Ledger, QuestionRefused, QuestionTooLong
from tests.cli.program import Ended, Shell
from tests.cli.working import done, edit, rows, script, sh, workspace

_ROOT = Path(__file__).parents[2]
_DOCUMENT = _ROOT / "docs" / "how-to" / "audit.md"
_FIXTURES = _ROOT / "spec" / "fixtures" / "v1"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with a run that has run commands, asked for one of them, and changed a file."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    folder = workspace(shell, a="one\n")
    look = {"tools": [{"name": "file_read", "input": {"path": "a.txt"}}]}
    model = script(shell.home, sh("echo audited"), sh("exit 3"), look, edit("a.txt", "one", "two"), done())
    arguments = ("run", "--model", model, "--workspace", str(folder), "--policy", "trust", "x")
    ended = shell.runwire("--data", str(shell.home / "data"), *arguments)
    assert ended.status == 0, ended.err
    return shell


def _ask(shell: Shell, question: str, *more: str) -> Ended:
    return shell.runwire("--data", str(shell.home / "data"), "audit", "--sql", question, *more)


def test_commands_and_how_they_ended_are_rows(shell: Shell) -> None:
    found = rows(_ask(shell, "SELECT command, exit_code FROM shell_commands ORDER BY sequence", "--json"))
    assert found == [{"command": "echo audited", "exit_code": 0}, {"command": "exit 3", "exit_code": 3}]


def test_a_question_about_nothing_that_is_kept_is_answered_too(shell: Shell) -> None:
    assert rows(_ask(shell, "SELECT 6 * 7 AS n", "--json")) == [{"n": 42}]
    refused = _ask(shell, "SELECT 1; SELECT 2")
    assert (refused.status, refused.err.split("\n")[0]) == (2, "error: one question at a time")


def test_since_may_say_how_long_ago(shell: Shell) -> None:
    everything = rows(_ask(shell, "SELECT count(*) AS n FROM events", "--json"))
    assert rows(_ask(shell, "SELECT count(*) AS n FROM events", "--json", "--since", "2d")) == everything
    (none,) = rows(_ask(shell, "SELECT count(*) AS n FROM events", "--json", "--since", "2999-01-01T00:00:00Z"))
    assert none == {"n": 0}
    refused = _ask(shell, "SELECT count(*) FROM events", "--since", "yesterday")
    assert refused.status == 2
    assert "'yesterday' is neither a time ago such as 2d" in refused.err


def test_every_event_can_be_asked_for(shell: Shell) -> None:
    (run,) = rows(shell.runwire("--data", str(shell.home / "data"), "--json", "runs"))
    (found,) = rows(_ask(shell, "SELECT count(*) AS n, max(sequence) AS head FROM events", "--json"))
    assert found == {"n": run["head_sequence"] + 1, "head": run["head_sequence"]}
    (some,) = rows(_ask(shell, "SELECT count(*) AS n FROM events", "--json", "--type", "run.*"))
    assert 0 < some["n"] < found["n"]


def test_edits_tell_the_path_at_every_step(shell: Shell) -> None:
    shown = _ask(shell, "SELECT path, action FROM edits ORDER BY sequence").out.decode().splitlines()
    assert [line.split() for line in shown] == [["path", "action"], ["a.txt", "proposed"], ["a.txt", "applied"]]


def test_more_rows_than_wanted_are_cut_and_said(shell: Shell) -> None:
    ended = _ask(shell, "SELECT type FROM events", "--limit", "2", "--json")
    assert len(ended.out.splitlines()) == 2
    assert "more than these 2 rows" in ended.err


@pytest.mark.parametrize("option", [["--grep", "x"], ["--limit", "0"]])
def test_options_that_do_not_go_together_are_status_2(shell: Shell, option: list[str]) -> None:
    assert _ask(shell, "SELECT 1", *option).status == 2


def test_a_write_is_status_2_and_changes_nothing(shell: Shell) -> None:
    ended = _ask(shell, "DELETE FROM stored")
    assert (ended.status, ended.out) == (2, b"")
    assert ended.err.splitlines()[0] == "error: that cannot be asked: not authorized"


@pytest.mark.parametrize(
    "question",
    [
        "DELETE FROM stored",
        "INSERT INTO stored (type) VALUES ('x')",
        "DROP VIEW events",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "PRAGMA writable_schema = 1",
        "BEGIN",
        "SELECT load_extension('x')",
        "SELEC 1",
        "SELECT * FROM nothing",
        "",
        "-- nothing",
    ],
)
def test_whatever_does_more_than_read_is_refused_before_anything_is_read(question: str) -> None:
    with pytest.raises(QuestionRefused):
        Ledger().needs(question)


def test_one_question_at_a_time() -> None:
    ledger = Ledger()
    for second in ("SELECT 2", "DELETE FROM stored"):
        with pytest.raises(QuestionRefused):
            ledger.answer(f"SELECT 1; {second}", most=10, within_s=5)


def test_a_question_without_end_is_ended() -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(QuestionTooLong):
        Ledger().answer(endless, most=1, within_s=0.2)


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("SELECT * FROM costs", {"cost.tick"}),
        ("SELECT count(*) FROM costs", {"cost.tick"}),
        ("WITH c AS (SELECT * FROM costs) SELECT * FROM c JOIN approvals USING (run_id)", {"cost.tick", "approval.*"}),
        ("SELECT * FROM events", None),
        ("SELECT type FROM stored", None),
        ("SELECT * FROM costs, events", None),
    ],
)
def test_only_what_a_question_is_about_is_read(question: str, types: set[str] | None) -> None:
    needed = Ledger().needs(question)
    assert (None if needed is None else set(needed.split(","))) == types


def test_the_document_names_every_column_of_every_view() -> None:
    ledger = Ledger()
    told = re.findall(r"^\| `(\w+)` \|.*\| (.+) \|$", _DOCUMENT.read_text("utf-8"), re.MULTILINE)
    shown = {name: re.findall(r"`(\w+)`", columns) for name, columns in told}
    assert shown == {name: list(ledger.answer(f"SELECT * FROM {name}", most=1, within_s=5).columns) for name in VIEWS}


def _of_recorded(name: str, question: str) -> list[tuple[object, ...]]:
    ledger = Ledger()
    ledger.keep((_FIXTURES / f"{name}.jsonl").read_bytes().splitlines())
    return [tuple(row) for row in ledger.answer(question, most=9, within_s=5).rows]


@pytest.mark.parametrize(
    ("name", "status", "by"),
    [("approved", "approved", "operator"), ("denied", "denied", "operator"), ("nobody_decides", "timed_out", None)],
)
def test_approvals_tell_how_and_by_whom_they_were_decided(name: str, status: str, by: str | None) -> None:
    assert _of_recorded(name, "SELECT status, decided_by FROM approvals") == [(status, by)]


def test_a_batch_of_edits_is_a_row_for_each_patch_with_its_own_path() -> None:
    question = "SELECT action, count(DISTINCT path) = count(*), count(*) > 1 FROM edits GROUP BY 1 ORDER BY 1"
    assert _of_recorded("batch_applied", question) == [("applied", 1, 1), ("proposed", 1, 1)]


def test_costs_are_those_of_the_last_count_of_each_run() -> None:
    question = (
        "SELECT cost_micros_usd, (SELECT max(data ->> '$.cumulative_cost_micros_usd') FROM events"
        " WHERE type = 'cost.tick') FROM costs"
    )
    ((told, last),) = _of_recorded("warned", question)
    assert told == last
