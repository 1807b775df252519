"""Gateways in processes of their own: started as a user starts them, ended by their own id."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_S

TOKEN = "a-token-for-the-tests-alone"


@dataclass(frozen=True, slots=True)
class Up:
    """A gateway that listens."""

    url: str
    token: str
    process: subprocess.Popen[str]

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE_S)


@contextmanager
def up(data: Path, *options: str, port: int = 0, **settings: str) -> Generator[Up]:
    """`runwire up` on a data directory, until the block ends."""
    command = [sys.executable, "-m", "runwire", "--json", "--data", str(data), "up", "--port", str(port), *options]
    named = {f"RUNWIRE_{key.upper()}": value for key, value in settings.items()}
    environment = {**os.environ, "RUNWIRE_TOKEN": TOKEN, **named}
    log = data.with_suffix(".log")
    with (
        log.open("ab") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process,
    ):
        try:
            assert process.stdout is not None
            started = process.stdout.readline()
            assert started, log.read_text()
            yield Up(json.loads(started)["url"], TOKEN, process)
        finally:
            if process.poll() is None:
                process.kill()
