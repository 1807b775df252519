"""Agents that start with `up`: they are there, they listen, they come back, and they can be sent away."""

import signal
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.program import Shell
from tests.cli.running import Gateway, running, said_by
from tests.cli.test_agents import configured
from tests.cli.working import rows
from tests.patience import PATIENCE_S

TABLES = """
workers = 1
close_grace_s = 0.2
[agents.zot]
command = {zot}
autospawn = true
prompt = "say I am here."
[agents.mayfly]
dialect = "zot"
command = {zot}
autospawn = true
prompt = "die"
"""


class Life:
    """A gateway with kept agents, and what is known of their runs."""

    def __init__(self, shell: Shell, gateway: Gateway) -> None:
        self.shell = shell
        self.gateway = gateway

    def runwire(self, *arguments: str) -> list[dict[str, Any]]:
        ended = self.shell.runwire("--data", str(self.gateway.data), "--json", *arguments)
        assert ended.status == 0, ended.err
        return rows(ended)

    def runs(self, agent: str) -> list[dict[str, Any]]:
        """The newest first."""
        return self.listed("/runs", agent=agent)

    def listed(self, path: str, **filters: str) -> list[dict[str, Any]]:
        """What the gateway itself lists: it is asked again and again, and each command would be a process."""
        headers = {"authorization": f"Bearer {self.gateway.token}"}
        with httpx2.Client(headers=headers, trust_env=False, verify=False, timeout=PATIENCE_S) as http:
            answer = http.get(f"{self.gateway.url}/hecate/v1{path}", params=filters)
        data: list[dict[str, Any]] = answer.raise_for_status().json()["data"]
        return data

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something to become true."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, said_by(self.gateway.data).read_text()[-4000:]
            time.sleep(0.1)

    def answers(self, run_id: str) -> list[str]:
        """All that the agent has said."""
        said = self.listed(f"/runs/{run_id}/events", type="assistant.text_complete")
        return [one["data"]["text"] for one in said]


@pytest.fixture
def life(shell: Shell, tmp_path: Path) -> Generator[Life]:
    with running(shell, configured(tmp_path / "data", TABLES)) as gateway:
        yield Life(shell, gateway)


def test_a_kept_agent_answers_stays_and_takes_what_is_said_as_its_next_prompt(life: Life) -> None:
    life.until(lambda: bool(life.runs("zot")))
    (run,) = life.runs("zot")
    life.until(lambda: life.answers(run["run_id"]) == ["I am here."])
    life.runwire("say", run["run_id"], "say Still here.")
    life.until(lambda: life.answers(run["run_id"]) == ["I am here.", "Still here."])
    (run,) = life.runs("zot")
    assert run["status"] == "running"
    # It takes no place of those who come and go, and they end with their answer.
    (told,) = life.runwire("agents", "probe", "zot")
    assert told["status"] == "completed"


def test_one_that_dies_is_started_again_in_the_same_task(life: Life) -> None:
    life.until(lambda: len(life.runs("mayfly")) >= 3)
    runs = life.runs("mayfly")
    assert {run["error_code"] for run in runs[1:]} == {"agent_exited"}
    assert len({run["task_id"] for run in runs}) == 1
    assert "mayfly starts again in 2." in said_by(life.gateway.data).read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_gateway_that_comes_back_goes_on_with_the_same_task(life: Life, number: signal.Signals) -> None:
    life.until(lambda: bool(life.runs("zot")))
    (first,) = life.runs("zot")
    life.until(lambda: life.answers(first["run_id"]) == ["I am here."])
    life.gateway.restart(number)
    life.until(lambda: len(life.runs("zot")) == 2)
    second, first = life.runs("zot")
    assert second["task_id"] == first["task_id"]
    assert (first["status"], first["error_code"]) == ("failed", "agent_gone")
    life.until(lambda: life.answers(second["run_id"]) == ["I am here."])


def test_one_that_somebody_cancelled_stays_down_until_the_gateway_starts_again(life: Life) -> None:
    life.until(lambda: bool(life.runs("zot")) and life.runs("zot")[0]["status"] == "running")
    (run,) = life.runs("zot")
    life.runwire("cancel", run["run_id"])
    life.until(lambda: "zot was cancelled: it stays down" in said_by(life.gateway.data).read_text())
    # The other one has come back meanwhile, so there was time.
    life.until(lambda: len(life.runs("mayfly")) >= 3)
    (run,) = life.runs("zot")
    assert run["status"] == "cancelled"
    life.gateway.restart(signal.SIGTERM)
    life.until(lambda: len(life.runs("zot")) == 2)
    assert len({one["task_id"] for one in life.runs("zot")}) == 1
