"""A real AgentOS in a process of its own."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_S
from tests.real.installed import find

_APP = Path(__file__).with_name("agno_app.py")


@dataclass(frozen=True, slots=True)
class AgnoOS:
    """An AgentOS that serves; requests that come before it is ready wait."""

    url: str
    process: subprocess.Popen[bytes]
    ledger: Path
    agent_id: str = "clerk"

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def freeze(self) -> None:
        """Let it do nothing more, and hear nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def executions(self) -> Sequence[str]:
        """Every execution of a tool so far: its name, and the title of a document that it made."""
        return self.ledger.read_text().splitlines()


@contextmanager
def serving_agno(folder: Path, *, port: int = 0, database: Path | None = None) -> Iterator[AgnoOS]:
    """Start an AgentOS that keeps its ledger in this folder, and its runs in a database if one is named.

    It is ended with the context. Another one on the same port, with the same database, is the same one started again.
    """
    ledger = folder / "ledger"
    ledger.touch()
    with socket.create_server(("127.0.0.1", port)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        descriptor = listening.fileno()
        process = subprocess.Popen(
            [str(find("agno")), str(_APP), str(descriptor), str(ledger), *([str(database)] if database else [])],
            pass_fds=[descriptor],
            env=_environ(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    served = AgnoOS(url, process, ledger)
    try:
        yield served
    finally:
        served.kill()


def _environ(home: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "AGNO_TELEMETRY": "false"}
