"""`cancel`, `resume`, `say`: a hand on a run that somebody else shows."""

import json
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.program import RUNWIRE, Ended, Shell
from tests.cli.running import Gateway, running
from tests.cli.working import done, rows, script, sh, types

HELD = "until [ -e go ]; do sleep 0.1; done"
"""A command that goes on for as long as a test wants."""


@dataclass(frozen=True, slots=True)
class Live:
    """A gateway, and how to start runs on it."""

    shell: Shell
    gateway: Gateway
    file: str = "script.json"

    def runwire(self, *arguments: str) -> Ended:
        """Run a command on the same data."""
        return self.shell.runwire("--data", str(self.gateway.data), *arguments)

    def start(self, *turns: dict[str, object], place: Path | None = None) -> str:
        """Start a run, in a folder of its own or in one that is named, and leave it to the gateway."""
        model = script(self.shell.home, *turns, name=self.file)
        where = ["--mode", "scratch"] if place is None else ["--workspace", str(place)]
        ended = self.runwire("run", "--detach", *where, "--model", model, "x")
        assert ended.status == 0, ended.err
        return ended.out.decode().strip()

    def until(self, run_id: str, event_type: str) -> None:
        """Follow a run to the first event of a type."""
        command = [*RUNWIRE, "--data", str(self.gateway.data), "--json", "events", run_id, "--follow"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=self.shell.environment()) as process:
            assert process.stdout is not None
            found = any(f'"type":"{event_type}"'.encode() in line for line in process.stdout)
            process.kill()
        assert found

    def log(self, run_id: str) -> list[bytes]:
        """The whole log, once the run is over."""
        ended = self.runwire("--json", "events", run_id, "--follow")
        assert ended.status == 0, ended.err
        return ended.out.splitlines()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Generator[Live]:
    """One gateway for all: every test has runs of its own."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    with running(shell, shell.home / "data") as gateway:
        yield Live(shell, gateway)


def test_a_cancelled_run_is_over_when_the_command_is(live: Live) -> None:
    run_id = live.start(sh("sleep 63"))
    live.until(run_id, "tool.shell.command")
    ended = live.runwire("cancel", run_id, "--reason", "enough")
    assert (ended.status, ended.out.decode()) == (0, f"{run_id} cancelled\n")
    last = json.loads(live.log(run_id)[-1])
    assert (last["type"], last["data"]["reason"]) == ("run.cancelled", "enough")


def test_a_run_that_is_over_cannot_be_cancelled_nor_spoken_to(live: Live) -> None:
    run_id = live.start(done())
    live.log(run_id)
    for arguments in (["cancel", run_id], ["say", run_id, "hello"]):
        ended = live.runwire(*arguments)
        assert (ended.status, ended.out) == (5, b"")
        assert ended.err.startswith(f"error: {run_id}")


def test_a_run_hears_what_is_said(live: Live, tmp_path: Path) -> None:
    run_id = live.start(sh(HELD), done("In French."), place=tmp_path)
    live.until(run_id, "tool.shell.command")
    assert live.runwire("say", run_id, "in French").status == 0
    (tmp_path / "go").touch()
    log = live.log(run_id)
    assert types(log).count("turn.completed") == 2
    assert b"in French" in b"".join(log)


def test_a_resumed_run_goes_on_from_where_it_was(live: Live) -> None:
    run_id = live.start(sh("echo once >> count.txt"))
    live.log(run_id)
    script(live.shell.home, sh("echo once >> count.txt"), done("And the rest."))
    ended = live.runwire("resume", run_id)
    assert ended.status == 0, ended.err
    later = ended.out.decode().strip()
    log = live.log(later)
    assert types(log)[0] == "run.resumed_from_event"
    assert types(log)[-1] == "run.finished"
    assert "tool.invoked" not in types(log)


def test_a_place_that_the_run_never_reached_is_status_2(live: Live) -> None:
    run_id = live.start(done())
    live.log(run_id)
    assert live.runwire("resume", run_id, "--from", "999").status == 2


def test_a_live_run_cannot_be_resumed_beside_itself_but_branched(live: Live, tmp_path: Path) -> None:
    run_id = live.start(sh("true"), sh(HELD), done("Late."), place=tmp_path)
    live.until(run_id, "tool.completed")
    assert live.runwire("resume", run_id).status == 5
    (row,) = rows(live.runwire("--json", "resume", run_id, "--branch"))
    (tmp_path / "go").touch()
    assert types(live.log(str(row["run_id"])))[-1] == "run.finished"


@pytest.mark.parametrize("arguments", [["cancel"], ["say", "hello"], ["resume"]])
def test_a_run_that_is_not_there_is_status_4(live: Live, arguments: list[str]) -> None:
    verb, *more = arguments
    assert live.runwire(verb, "run_01JC0000000000000000000001", *more).status == 4


def test_without_a_gateway_a_run_is_resumed_by_the_command_itself(shell: Shell, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    model = script(shell.home, done("First."))
    assert shell.runwire(*data, "run", "--mode", "scratch", "--model", model, "x").status == 0
    (first,) = rows(shell.runwire(*data, "--json", "runs"))
    script(shell.home, done("First."), done("And the rest."))
    ended = shell.runwire(*data, "resume", str(first["run_id"]), "--from", "2")
    assert (ended.status, ended.err) == (0, "")
    log = shell.runwire(*data, "export", ended.out.decode().strip()).out.splitlines()
    assert (types(log)[0], types(log)[-1]) == ("run.resumed_from_event", "run.finished")
    # What is left of the script is too little for a third.
    script(shell.home)
    ended = shell.runwire(*data, "resume", str(first["run_id"]), "--from", "2")
    assert ended.status == 1
    assert shell.runwire(*data, "resume", "run_01JC0000000000000000000001").status == 4
