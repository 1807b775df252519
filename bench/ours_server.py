"""Our gateway as the network rows see it: how it is started and which addresses order it about."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.context import Context
from bench.processes import Server, free_port, python, serving

TOKEN = "bench-token-0123456789abcdef0123456789abcdef"


@contextmanager
def running(context: Context, directory: Path, coalesce: bool = True) -> Iterator[Server]:
    """The gateway on a data directory, with the benchmark's producer beside it in the same process."""
    port = free_port()
    command = [python(), "-m", "bench.gateway_process", str(port), str(directory)]
    environment = {"RUNWIRE_TOKEN": TOKEN}
    if not coalesce:
        environment |= {"RUNWIRE_COALESCE_BYTES": "1", "RUNWIRE_COALESCE_MS": "0"}
    cores = context.cores.server
    with serving(command, port, cores=cores, health="/bench/health", environment=environment) as server:
        yield server


def events_path(run_id: str) -> str:
    """Where a run's events are read."""
    return f"/hecate/v1/runs/{run_id}/events"


def produce_path(run_id: str, events: int, rate: float, join: int) -> str:
    """Where the producer is told to append to a run and end it: `join` events an append, or `rate` a second."""
    return f"/bench/produce?run={run_id}&events={events}&rate={rate}&join={join}"


def stream_path(chunks: int) -> str:
    """Where one request begins a run, has a scripted model stream into it, and answers with the run's events."""
    return f"/bench/stream?chunks={chunks}"


def new_run(server: Server) -> str:
    """Begin a run."""
    return str(_post(server, "/bench/runs")["run_id"])


def grow(server: Server, run_id: str, events: int) -> None:
    """Append so many events to a run that stays open; returns when they are durable."""
    _post(server, f"/bench/grow?run={run_id}&events={events}")


def produce(server: Server, run_id: str, events: int, rate: float) -> None:
    """Have so many events appended to a run, so many a second, and the run ended; returns at once."""
    _post(server, produce_path(run_id, events, rate, 1))


def _post(server: Server, path: str) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    try:
        connection.request("POST", path)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}: {answer[:300]!r}")
        found: dict[str, object] = json.loads(answer)
        return found
    finally:
        connection.close()
