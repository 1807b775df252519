"""Memory and start: what the gateway costs before anybody uses it, and what each reader adds.

The gateway is the product's own command in a new data directory. A subscriber is idle when its run is open and silent;
a frozen one has stopped reading while the run grows far past every buffer. What one costs is the growth of the
server's resident memory over the number of them, after a few others have filled the caches that all of them share.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from bench import ours_server
from bench.context import Context
from bench.figures import Row, check_ratio, check_value, figure, interleave, say
from bench.load.subscribers import get, holding
from bench.processes import Server, free_port, python, serving

_WARM_UP = 50


def measure(context: Context) -> list[Row]:
    """Rows for idle memory, time to healthy, start-up of the command, idle and frozen readers."""
    if not context.measure_ours:
        return []
    frozen = [
        _frozen_reader(context, "at the start of the log", from_end=False),
        _frozen_reader(context, "at its end", from_end=True),
    ]
    return [*_gateway(context), *_commands(context), _idle_reader(context), *frozen]


def _gateway(context: Context) -> list[Row]:
    resident: list[float] = []
    seconds: list[float] = []
    for _ in range(context.repetitions):
        with context.scratch() as scratch, _up(context, scratch) as server:
            seconds.append(server.seconds_to_healthy)
            time.sleep(1.0)
            resident.append(server.resident_kb() / 1024)
    memory, start = statistics.median(resident), statistics.median(seconds)
    say(f"  gateway: {memory:.1f} MB, healthy after {start:.2f} s")
    return [
        Row(
            "memory",
            "idle gateway",
            "MB",
            figure("resident", resident),
            checks=(check_value("resident", memory, "<=", 80.0, "MB"),),
        ),
        Row(
            "start",
            "`runwire up` to healthy",
            "s",
            figure("new data", seconds),
            checks=(check_value("seconds", start, "<=", 1.0, "s"),),
        ),
    ]


def _up(context: Context, data: Path) -> AbstractContextManager[Server]:
    port = free_port()
    command = [*_runwire(), "--data", str(data), "up", "--host", "127.0.0.1", "--port", str(port)]
    every_core = context.cores.server | context.cores.client
    return serving(command, port, cores=every_core)


def _runwire() -> list[str]:
    """The installed command, or the module where it is not installed."""
    script = Path(sys.executable).with_name("runwire")
    return [str(script)] if script.exists() else [python(), "-m", "runwire"]


def _commands(context: Context) -> list[Row]:
    """What it takes to be told something: against the imports that nobody who uses them gets around."""
    return [
        _command(context, "--version", "import msgspec", 1.3),
        _command(context, "--help", "import rich, httpx2", 1.5),
    ]


def _command(context: Context, option: str, imports: str, most: float) -> Row:
    def seconds(command: list[str]) -> Callable[[], float]:
        def once() -> float:
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return time.perf_counter() - started

        return once

    sides = {"ours": seconds([*_runwire(), option]), "rival": seconds([python(), "-c", imports])}
    samples = interleave(context.pick(25, 7), sides, "start")
    mine = figure(f"runwire {option}", samples["ours"])
    bare = figure(f'python -c "{imports}"', samples["rival"])
    return Row("start", f"`runwire {option}`", "s", mine, bare, None, (check_ratio(imports, mine, bare, "<=", most),))


def _idle_reader(context: Context) -> Row:
    count = context.pick(1_000, 200)

    def cost(server: Server) -> float:
        request = get(ours_server.events_path(ours_server.new_run(server)), ours_server.TOKEN)
        with holding(server.port, request, _WARM_UP, b"event: synced"):
            before = server.resident_kb()
            with holding(server.port, request, count, b"event: synced"):
                time.sleep(1.0)
                return (server.resident_kb() - before) / count

    return _reader_row(context, f"an idle subscriber, of {count:,}", cost)


def _frozen_reader(context: Context, stopped: str, from_end: bool) -> Row:
    """A reader that stops after its first bytes; what the run's growth alone costs is measured first and taken off."""
    count, events = context.pick(1_000, 200), context.pick(100_000, 40_000)

    def cost(server: Server) -> float:
        run_id = ours_server.new_run(server)
        path = ours_server.events_path(run_id)
        cursor = f"?after_sequence={2 * events}" if from_end else ""
        marker = b"event: synced" if from_end else b"data: "

        def growth_kb() -> int:
            before = server.resident_kb()
            ours_server.grow(server, run_id, events)
            time.sleep(1.0)
            return server.resident_kb() - before

        with holding(server.port, get(path, ours_server.TOKEN), _WARM_UP, b"data: ", receive_buffer=4096):
            growth_kb()
            alone = growth_kb()
            before = server.resident_kb()
            crowd = get(path + cursor, ours_server.TOKEN)
            with holding(server.port, crowd, count, marker, receive_buffer=4096):
                joining = server.resident_kb() - before
                return max(0.0, (joining + growth_kb() - alone) / count)

    return _reader_row(
        context, f"a reader that stopped reading {stopped}, of {count:,}, {events:,} events behind", cost
    )


def _reader_row(context: Context, workload: str, cost: Callable[[Server], float]) -> Row:
    samples = []
    for _ in range(context.repetitions):
        with context.scratch() as scratch, ours_server.running(context, scratch) as server:
            samples.append(cost(server))
    say(f"  {workload}: {statistics.median(samples):.1f} KB")
    check = check_value("resident", statistics.median(samples), "<=", 40.0, "KB")
    return Row("memory", workload, "KB", figure("server memory each", samples), checks=(check,))
