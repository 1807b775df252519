"""`approvals`, `approve`, `deny`: decisions from a terminal."""

import json
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.program import RUNWIRE, Ended, Shell
from tests.cli.running import Gateway, running
from tests.cli.working import done, rows, script, sh, types, workspace


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that waits for a decision, in a program that shows it."""

    shell: Shell
    gateway: Gateway
    process: "subprocess.Popen[bytes]"
    lines: list[bytes]
    approval_id: str

    def decide(self, *arguments: str, feed: bytes = b"") -> Ended:
        """Run another command on the same data."""
        return self.shell.runwire("--data", str(self.gateway.data), *arguments, feed=feed)

    def end(self) -> tuple[int, list[bytes]]:
        """Wait for the program's end: its status and the whole log."""
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, self.lines + out.splitlines()


@pytest.fixture
def waiting(shell: Shell, tmp_path: Path) -> Generator[Waiting]:
    model = script(shell.home, sh("echo loud > said.txt"), done())
    with running(shell, tmp_path / "data") as gateway:
        command = ["--json", "run", "--model", model, "--policy", "ask", "--workspace", str(workspace(shell)), "x"]
        process = subprocess.Popen(
            [*RUNWIRE, "--data", str(gateway.data), *command],
            stdout=subprocess.PIPE,
            env=shell.environment(),
            cwd=shell.home,
        )
        try:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip(b"\n"))
                if b'"type":"approval.requested"' in line:
                    break
            asked = json.loads(lines[-1])
            assert asked["type"] == "approval.requested", types(lines)
            yield Waiting(shell, gateway, process, lines, asked["data"]["approval_id"])
        finally:
            process.kill()
            process.communicate()


def _said(shell: Shell) -> str | None:
    file = shell.home / "workspace" / "said.txt"
    return file.read_text() if file.exists() else None


def test_what_waits_is_listed(waiting: Waiting) -> None:
    (row,) = rows(waiting.decide("--json", "approvals"))
    assert (row["approval_id"], row["status"]) == (waiting.approval_id, "pending")
    assert row["input"] == {"command": "echo loud > said.txt"}
    table = waiting.decide("approvals")
    assert waiting.approval_id in table.out.decode()
    assert "echo loud" in table.out.decode()


def test_an_approved_run_goes_on_to_its_end(waiting: Waiting) -> None:
    ended = waiting.decide("approve", waiting.approval_id, "--comment", "fine")
    assert ended.status == 0
    assert "approved" in ended.out.decode()
    status, lines = waiting.end()
    assert (status, types(lines)[-1], _said(waiting.shell)) == (0, "run.finished", "loud\n")
    assert rows(waiting.decide("--json", "approvals")) == []
    (row,) = rows(waiting.decide("--json", "approvals", "--all"))
    assert (row["status"], row["comment"]) == ("approved", "fine")


def test_an_edited_input_is_what_happens(waiting: Waiting) -> None:
    edited = json.dumps({"command": "echo quiet > said.txt"}).encode()
    assert waiting.decide("approve", waiting.approval_id, "--edit", "-", feed=edited).status == 0
    assert waiting.end()[0] == 0
    assert _said(waiting.shell) == "quiet\n"


def test_a_denied_run_goes_on_without(waiting: Waiting) -> None:
    assert waiting.decide("deny", waiting.approval_id, "--comment", "no").status == 0
    status, lines = waiting.end()
    assert (status, types(lines)[-1], _said(waiting.shell)) == (0, "run.finished", None)


def test_a_denial_that_stops_is_status_1_of_the_run(waiting: Waiting) -> None:
    assert waiting.decide("deny", waiting.approval_id, "--stop").status == 0
    status, lines = waiting.end()
    assert (status, types(lines)[-1]) == (1, "run.failed")


def test_the_same_answer_twice_is_fine_and_another_is_status_5(waiting: Waiting) -> None:
    assert waiting.decide("approve", waiting.approval_id).status == 0
    assert waiting.decide("approve", waiting.approval_id).status == 0
    late = waiting.decide("deny", waiting.approval_id)
    assert (late.status, late.out) == (5, b"")
    assert late.err.startswith("error: ")


def test_the_beginning_of_an_id_is_enough_to_decide(waiting: Waiting) -> None:
    assert waiting.decide("deny", waiting.approval_id[:12]).status == 0
    (row,) = rows(waiting.decide("--json", "approvals", "--all", "--run", "run_"))
    assert (row["approval_id"], row["status"]) == (waiting.approval_id, "denied")


@pytest.mark.parametrize("verb", ["approve", "deny"])
def test_an_approval_that_is_not_there_is_status_4(shell: Shell, tmp_path: Path, verb: str) -> None:
    ended = shell.runwire("--data", str(tmp_path / "data"), verb, "appr_01JC0000000000000000000001")
    assert ended.status == 4


def test_an_edit_that_is_no_object_is_status_2(waiting: Waiting) -> None:
    assert waiting.decide("approve", waiting.approval_id, "--edit", "-", feed=b"[1]").status == 2
    wrong = json.dumps({"comand": "echo"}).encode()
    ended = waiting.decide("approve", waiting.approval_id, "--edit", "-", feed=wrong)
    assert ended.status == 2
    assert "comand" in ended.err


def test_a_decision_may_be_made_without_a_gateway(waiting: Waiting) -> None:
    waiting.process.kill()
    waiting.gateway.stop()
    assert waiting.decide("deny", waiting.approval_id).status == 0
