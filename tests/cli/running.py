"""A real gateway in a process of its own."""

import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from runwire.cli.note import Note
from tests.cli.program import RUNWIRE, Shell


@dataclass(slots=True)
class Gateway:
    """A gateway that `runwire up` has started."""

    shell: Shell
    data: Path
    process: "subprocess.Popen[bytes]"
    url: str

    @property
    def token(self) -> str:
        """The admin token that the first start has made."""
        return (self.data / "token").read_text().strip()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal and return its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(15)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status

    def restart(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it and start it anew in the same place."""
        self.stop(number)
        self.process, self.url = _started(self.shell, self.data, {}, "--port", str(self.port))


@contextmanager
def running(shell: Shell, data: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Generator[Gateway]:
    """A gateway on `data` and a free port; ended after the block, if nothing else has ended it."""
    process, url = _started(shell, data, env or {}, "--port", "0", *arguments)
    gateway = Gateway(shell, data, process, url)
    try:
        yield gateway
    finally:
        if gateway.process.poll() is None:
            gateway.stop(signal.SIGKILL)


def _started(
    shell: Shell, data: Path, env: Mapping[str, str], *arguments: str
) -> tuple["subprocess.Popen[bytes]", str]:
    said = said_by(data)
    # Into a file: a pipe that nobody reads would stop a gateway that has much to say.
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [*RUNWIRE, "--data", str(data), "--json", "up", *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=shell.environment(env),
            cwd=shell.home,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(f"the gateway did not start: {said.read_text()}")
    return process, msgspec.json.decode(line, type=Note).url


def said_by(data: Path) -> Path:
    """What the gateway on `data` has said on stderr."""
    return data.with_name(f"{data.name}.stderr")
