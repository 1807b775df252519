"""`artifacts`, `diff`, `apply`, `reject`, `revert`: reviewing what a run proposes, with a gateway or without."""

import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runwire.protocol.envelope import run_id_of
from tests.cli.program import Ended, Shell
from tests.cli.running import running
from tests.cli.working import done, edit, envelopes, rows, script, workspace

OLD, NEW = "one\ntwo\nthree\n", "one\nTWO\nthree\n"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A run that has proposed one edit and is over."""

    shell: Shell
    data: Path
    run_id: str
    patch: str
    file: Path

    def runwire(self, *arguments: str) -> Ended:
        """Run a command on the same data."""
        return self.shell.runwire("--data", str(self.data), *arguments)


@pytest.fixture(params=["embedded", "gateway"])
def proposed(request: pytest.FixtureRequest, shell: Shell, tmp_path: Path) -> Generator[Proposed]:
    data = tmp_path / "data"
    data.mkdir()
    (data / "config.toml").write_text("[policy]\nauto_apply = false\n")
    if request.param == "embedded":
        yield _propose(shell, data)
        return
    with running(shell, data):
        yield _propose(shell, data)


def _propose(shell: Shell, data: Path) -> Proposed:
    folder = workspace(shell, a=OLD)
    model = script(shell.home, edit("a.txt", "two", "TWO"), done())
    ended = shell.runwire("--data", str(data), "--json", "run", "--model", model, "--workspace", str(folder), "x")
    assert ended.status == 0, ended.err
    run_id = run_id_of(envelopes(ended)[0])
    (patch,) = rows(shell.runwire("--data", str(data), "--json", "artifacts", run_id, "--kind", "patch"))
    assert patch["status"] == "proposed"
    assert (folder / "a.txt").read_text() == OLD
    return Proposed(shell, data, run_id, patch["id"], folder / "a.txt")


def test_a_patch_is_seen_applied_and_taken_back(proposed: Proposed) -> None:
    shown = proposed.runwire("diff", proposed.patch)
    assert shown.status == 0
    assert b"\n-two\n+TWO\n" in shown.out
    assert proposed.runwire("diff", proposed.run_id).out == b""
    assert proposed.runwire("apply", proposed.patch).status == 0
    assert proposed.file.read_text() == NEW
    assert proposed.runwire("diff", proposed.run_id).out == shown.out
    (told,) = rows(proposed.runwire("--json", "revert", proposed.patch, "--reason", "too loud"))
    assert proposed.file.read_text() == OLD
    assert (told["artifact_id"], told["inverse_artifact_id"][:4]) == (proposed.patch, "art_")
    assert proposed.runwire("verify", proposed.run_id).status == 0


def test_the_diff_of_a_run_is_what_git_takes(proposed: Proposed, tmp_path: Path) -> None:
    assert proposed.runwire("apply", proposed.patch).status == 0
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "a.txt").write_text(OLD)
    diff = proposed.runwire("diff", proposed.run_id).out
    subprocess.run(["git", "apply", "-"], input=diff, cwd=fresh, check=True)
    assert (fresh / "a.txt").read_text() == NEW


def test_a_rejected_patch_cannot_be_applied(proposed: Proposed) -> None:
    assert proposed.runwire("reject", proposed.patch, "--reason", "no").status == 0
    late = proposed.runwire("apply", proposed.patch)
    assert (late.status, late.out) == (5, b"")
    assert proposed.file.read_text() == OLD


def test_a_file_that_has_changed_since_is_status_5_and_untouched(proposed: Proposed) -> None:
    proposed.file.write_text("something else\n")
    ended = proposed.runwire("apply", proposed.patch)
    assert (ended.status, ended.out) == (5, b"")
    assert "a.txt" in ended.err
    assert "\nhint:  " in ended.err
    assert proposed.file.read_text() == "something else\n"


def test_artifacts_are_listed_for_a_person(proposed: Proposed) -> None:
    table = proposed.runwire("artifacts", proposed.run_id).out.decode()
    assert proposed.patch in table
    assert "proposed" in table
    assert "a.txt" in table


@pytest.mark.parametrize("verb", ["apply", "reject", "revert", "diff"])
def test_a_patch_that_is_not_there_is_status_4(shell: Shell, tmp_path: Path, verb: str) -> None:
    assert shell.runwire("--data", str(tmp_path / "data"), verb, "art_01JC0000000000000000000001").status == 4


def test_the_artifacts_of_a_run_that_is_not_there_are_status_4(shell: Shell, tmp_path: Path) -> None:
    assert shell.runwire("--data", str(tmp_path / "data"), "artifacts", "run_01JC0000000000000000000001").status == 4
