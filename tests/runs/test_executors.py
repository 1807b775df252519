"""Which executor does a run's work."""

import pytest

from runwire.host import Ended, Finished, RunHost
from runwire.runs.supervisor import executor_for
from tests.runs.house import Doing


async def work(_: RunHost) -> Ended:
    return Finished()


EXECUTORS = {name: Doing(work) for name in ("native:shell", "native", "zot", "acp", "acp:goose", "my-agent")}


@pytest.mark.parametrize(
    ("agent", "kind", "name"),
    [
        ("native", "shell", "native:shell"),
        ("native", "agent_loop", "native"),
        ("zot", "agent_loop", "zot"),
        ("my-agent", "agent_loop", "my-agent"),
        ("acp:goose", "agent_loop", "acp:goose"),
        ("acp:other", "agent_loop", "acp"),
    ],
)
def test_the_most_particular_executor_is_taken(agent: str, kind: str, name: str) -> None:
    assert executor_for(EXECUTORS, agent, kind) is EXECUTORS[name]


def test_an_agent_that_nobody_drives_has_none() -> None:
    assert executor_for(EXECUTORS, "agno:sales", "agent_loop") is None
