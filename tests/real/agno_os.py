"""A real AgentOS in a process of its own."""

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real.installed import find

_APP = Path(__file__).with_name("agno_app.py")
_PATIENCE_S = 10


@dataclass(frozen=True, slots=True)
class AgnoOS:
    """An AgentOS that serves; requests that come before it is ready wait."""

    url: str
    process: subprocess.Popen[bytes]
    ledger: Path
    agent_id: str = "clerk"

    def executions(self) -> Sequence[str]:
        """Every execution of a tool so far: its name, and the title of a document that it made."""
        return self.ledger.read_text().splitlines()


@contextmanager
def serving_agno(folder: Path) -> Iterator[AgnoOS]:
    """Start an AgentOS that keeps its ledger in this folder; it is ended with the context."""
    ledger = folder / "ledger"
    ledger.touch()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        descriptor = listening.fileno()
        process = subprocess.Popen(
            [str(find("agno")), str(_APP), str(descriptor), str(ledger)],
            pass_fds=[descriptor],
            env=_environ(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        yield AgnoOS(url, process, ledger)
    finally:
        process.kill()
        process.wait(_PATIENCE_S)


def _environ(home: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "AGNO_TELEMETRY": "false"}
