"""Processes the harness starts: a fresh one per measurement, and servers that are ended by their own id."""

import http.client
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ParamSpec, Self, TypeVar

from bench.machine import resident_kb

ROOT = Path(__file__).resolve().parent.parent

P = ParamSpec("P")
R = TypeVar("R")


def _pin(cores: frozenset[int]) -> None:
    os.sched_setaffinity(0, cores)


def in_fresh_process(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `function` in a new interpreter, so that no side inherits another's heap, caches or threads."""
    return in_fresh_pinned_process(frozenset(os.sched_getaffinity(0)), function, *args, **kwargs)


def in_fresh_pinned_process(cores: frozenset[int], function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same, on these cores only."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn, initializer=_pin, initargs=(cores,)) as pool:
        return pool.submit(function, *args, **kwargs).result()


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where it listens and which process it is."""

    pid: int
    port: int
    seconds_to_healthy: float

    def resident_kb(self) -> int:
        """Its resident memory now."""
        return resident_kb(self.pid)


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    command: Sequence[str],
    port: int,
    *,
    cores: frozenset[int],
    health: str = "/healthz",
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Start a server, wait until its health path answers 200, and end it (SIGTERM, then SIGKILL) when done."""
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL, stderr=errors
        )
        os.sched_setaffinity(process.pid, cores)
        try:
            _wait_until_healthy(process, port, health)
            yield Server(pid=process.pid, port=port, seconds_to_healthy=time.perf_counter() - started)
        except BaseException:
            _show_end_of(errors)
            raise
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _show_end_of(errors: IO[bytes]) -> None:
    """What the server said last, which is where a failed measurement is explained."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 4000))
    sys.stderr.write(errors.read().decode(errors="replace"))


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, path: str, timeout_s: float = 20.0) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server on port {port} ended with status {process.returncode}")
        if _answers(port, path):
            return
        time.sleep(0.005)
    raise TimeoutError(f"server on port {port} was not healthy within {timeout_s} s")


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


class MemoryPeak:
    """Samples a process's resident memory every 5 ms while the block runs; `peak_kb` is the highest seen."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak_kb = resident_kb(pid)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            self.peak_kb = max(self.peak_kb, resident_kb(self._pid))


def python() -> str:
    """The interpreter that runs the harness, for its own children."""
    return sys.executable
