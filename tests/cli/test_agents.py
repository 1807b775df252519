"""`runwire agents` and `agents probe`: who is here, and whether asking works."""

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import RUNWIRE, Ended, Shell
from tests.cli.running import Gateway, running
from tests.cli.working import rows, script, types

ZOT = Path(__file__).resolve().parents[1] / "agents" / "zot_program.py"


def configured(data: Path, tables: str) -> Path:
    """A data directory with these tables in its settings; `{zot}` is the stand-in's command."""
    data.mkdir(mode=0o700)
    (data / "config.toml").write_text(tables.replace("{zot}", json.dumps([sys.executable, str(ZOT)])))
    return data


TABLES = """
[agents.zot]
command = {zot}
[agents.gone]
dialect = "acp"
command = ["no-such-agent", "acp"]
[agents.sales]
dialect = "agno"
url = "http://127.0.0.1:9"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return configured(tmp_path / "data", TABLES)


@pytest.fixture
def gateway(shell: Shell, data: Path) -> Generator[Gateway]:
    with running(shell, data) as gateway:
        yield gateway


def agents(shell: Shell, data: Path, *arguments: str, **env: str) -> Ended:
    return shell.runwire("--data", str(data), "agents", *arguments, env=env)


def test_every_agent_is_listed_as_it_is_here(shell: Shell, data: Path) -> None:
    found = {row["name"]: row for row in rows(agents(shell, data, "--json"))}
    assert list(found) == ["native", "zot", "pi", "claude", "codex", "opencode", "gemini", "acp:gone", "agno:sales"]
    assert (found["native"]["installed"], found["native"]["driven"]) == (True, "in process")
    zot = found["zot"]
    assert (zot["object"], zot["dialect"], zot["installed"], zot["install"]) == ("agent", "zot", True, None)
    assert (zot["asks"], zot["survives_restart"], zot["place"]) == (False, False, sys.executable)
    assert {"tool.shell.exited", "run.finished"} <= set(zot["event_types"])
    assert (found["acp:gone"]["installed"], found["acp:gone"]["aliases"]) == (False, ["gone"])
    assert "no-such-agent" in found["acp:gone"]["install"]
    sales = found["agno:sales"]
    assert (sales["driven"], sales["installed"], sales["sandbox_layer"]) == ("HTTP/SSE", False, "none")


@pytest.mark.parametrize("columns", ["80", "132"])
def test_the_table_fits_the_width(shell: Shell, data: Path, columns: str) -> None:
    ended = agents(shell, data, COLUMNS=columns)
    lines = ended.out.decode().splitlines()
    assert ended.status == 0
    assert lines[0].split() == ["AGENT", "VERSION", "ASKS", "RESTART", "EVENTS", "DRIVEN"]
    assert max(map(len, lines)) <= int(columns)
    assert any(line.startswith("acp:gone ") and "not here" in line for line in lines)


def test_a_pipe_gets_whole_lines(shell: Shell, data: Path) -> None:
    assert "in `command` of [agents.gone]" in agents(shell, data).out.decode()


def test_a_probe_starts_the_agent_and_tells_what_happened(shell: Shell, data: Path) -> None:
    ended = agents(shell, data, "probe", "zot")
    shown = ended.out.decode()
    assert (ended.status, ended.err) == (0, "")
    for words in (["agent", "zot"], ["ended", "completed"], ["run.finished", "1"], ["turn.completed", "1"]):
        assert any(line.split() == words for line in shown.splitlines()), words
    assert "said       with the single word: ready" in shown


def test_a_probe_is_an_ordinary_run_of_the_gateway_that_is_there(shell: Shell, gateway: Gateway) -> None:
    (told,) = rows(agents(shell, gateway.data, "probe", "zot", "--json"))
    assert (told["agent"], told["installed"], told["status"]) == ("zot", True, "completed")
    assert told["took_s"] > 0
    log = shell.runwire("--data", str(gateway.data), "--json", "events", told["run_id"]).out.splitlines()
    assert types(log) == ["run.queued", "user.message", *types(log)[2:]]
    assert sum(told["events"].values()) == len(log)


@pytest.mark.parametrize(
    ("name", "complaint", "hint"),
    [
        ("gone", "acp:gone is not here", "install no-such-agent"),
        ("acp:gone", "acp:gone is not here", "install no-such-agent"),
        ("agno:sales", "agno:sales is not here", "start the AgentOS at http://127.0.0.1:9"),
    ],
)
def test_a_probe_of_one_that_is_not_here_fails_and_says_what_to_do(
    shell: Shell, data: Path, name: str, complaint: str, hint: str
) -> None:
    ended = agents(shell, data, "probe", name)
    assert ended.status == 1
    assert f"error: {complaint}\n" in ended.err
    assert hint in ended.err
    assert "installed  no" in ended.out.decode()


def test_a_probe_of_one_that_breaks_fails_and_names_the_run(shell: Shell, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 4.5.6\n")
    broken.chmod(0o755)
    data = configured(tmp_path / "data", f'[agents.zot]\ncommand = ["{broken}"]\n')
    ended = agents(shell, data, "probe", "zot")
    assert ended.status == 1
    assert "version    4.5.6" in ended.out.decode()
    assert "ended      failed" in ended.out.decode()
    assert ended.err.startswith("error: zot did not answer: ")
    assert "\nhint:  `runwire events run_" in ended.err


def test_a_probe_that_somebody_interrupts_ends_the_run(shell: Shell, tmp_path: Path) -> None:
    silent = ZOT.with_name("silent_program.py")
    data = configured(tmp_path / "data", f"[agents.zot]\ncommand = {json.dumps([sys.executable, str(silent)])}\n")
    with running(shell, data) as gateway:
        command = [*RUNWIRE, "--data", str(gateway.data), "agents", "probe", "zot"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=shell.environment()) as probing:
            runs: list[dict[str, Any]] = []
            while not (runs and runs[0]["status"] == "running"):
                runs = rows(shell.runwire("--data", str(data), "--json", "runs"))
            probing.send_signal(signal.SIGINT)
            assert probing.wait(30) == 130
        (run,) = rows(shell.runwire("--data", str(data), "--json", "runs"))
    assert (run["run_id"], run["status"]) == (runs[0]["run_id"], "cancelled")


def test_our_own_agent_is_probed_with_a_model(shell: Shell, data: Path) -> None:
    model = script(shell.home, {"text": "ready"})
    ended = agents(shell, data, "probe", "native", "--model", model)
    assert (ended.status, ended.err) == (0, "")
    assert "said       ready" in ended.out.decode()
    assert agents(shell, data, "probe", "native").status == 2


def test_a_probe_of_nobody_is_not_found(shell: Shell, data: Path) -> None:
    ended = agents(shell, data, "probe", "nobody")
    assert (ended.status, ended.out) == (4, b"")
    assert "\nhint:  `runwire agents` lists" in ended.err


def test_the_doctor_tells_of_agents(shell: Shell, tmp_path: Path) -> None:
    tables = TABLES.replace('["no-such-agent", "acp"]', '["no-such-agent", "acp"]\nautospawn = true\nprompt = "x"')
    data = configured(tmp_path / "data", tables)
    ended = shell.runwire("--data", str(data), "doctor")
    lines = ended.out.decode().splitlines()
    assert any(line.startswith("ok    agents ") and "zot" in line for line in lines)
    assert "warn  acp:gone is to start with the gateway and is not here" in lines
