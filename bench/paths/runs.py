"""Runs: tasks queued in the store, carried by the workers of one process, every event durable.

Rival: the journal alone, handed the same events in the same batches by as many producers. Limit: the same by 64 of them,
which is as fast as the journal becomes. A run has 20 events: a turn with a tool call and a turn with an answer of a scripted
model; its first two are stored when it is queued and not counted.

Start: from the request for a task to its first event, on a gateway whose slots are taken and whose queue holds 100 runs;
and, while 100 queued runs are carried, from the claim of each to the event after it. Idle: the processor time of a
`runwire worker` that has nothing to do.
"""

import http.client
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import working
from bench.context import Context
from bench.figures import Row, check_ratio, check_value, figure, interleave, say
from bench.processes import Server, free_port, in_fresh_process, python, serving

SLOTS = 4
CROWD = 64
QUEUED = 100
TOKEN = "bench-token-0123456789abcdef0123456789abcdef"


def measure(context: Context) -> list[Row]:
    """Rows for throughput, for the first event, and for a worker without work."""
    if not context.measure_ours:
        return []
    return [_throughput(context), _first_event(context), _claimed(context), _idle(context)]


def _throughput(context: Context) -> Row:
    runs = context.pick(1_000, 100)
    with context.scratch() as scratch:
        told = in_fresh_process(working.batches, scratch / "alone")
        sizes = [len(batch) for batch in told]
        count = 0

        def place() -> Path:
            nonlocal count
            count += 1
            return scratch / str(count)

        sides = {
            "ours": lambda: in_fresh_process(working.carry, place(), runs, SLOTS).per_second,
            "rival": lambda: in_fresh_process(working.appended, place(), told, runs, SLOTS),
            "limit": lambda: in_fresh_process(working.appended, place(), told, runs, CROWD),
        }
        samples = interleave(context.repetitions, sides, f"{runs:,} runs")
    mine = figure("carried", samples["ours"])
    rival = figure(f"journal alone, {SLOTS} producers, batches of {'+'.join(map(str, sizes))}", samples["rival"])
    limit = figure(f"journal alone, {CROWD} producers", samples["limit"])
    checks = (check_ratio("the journal alone", mine, rival, ">=", 0.40),)
    workload = f"{runs:,} runs of {working.EVENTS_OF_A_RUN} events, {SLOTS} at a time"
    return Row("runs", workload, "events/s", mine, limit, rival, checks)


def _claimed(context: Context) -> Row:
    medians = []
    for _ in range(context.repetitions):
        with context.scratch() as scratch:
            carried = in_fresh_process(working.carry, scratch / "queued", QUEUED, SLOTS)
            medians.append(statistics.median(carried.first_event_ms))
    return _milliseconds(f"claim to the next event, {QUEUED} queued", medians)


def _first_event(context: Context) -> Row:
    medians = []
    for _ in range(context.repetitions):
        with context.scratch() as scratch, _gateway(context, scratch) as server:
            slow = scratch / "slow.json"
            slow.write_text(json.dumps({"turns": [{"text": "Late.", "delay_ms": 3_600_000}]}))
            for _ in range(SLOTS + QUEUED):
                _start(server, f"scripted:{slow}")
            waits = [_wait_ms(server, working.script(scratch)) for _ in range(context.pick(50, 10))]
            medians.append(statistics.median(waits))
    return _milliseconds(f"request to first event, {QUEUED} queued", medians)


def _milliseconds(workload: str, medians: list[float]) -> Row:
    value = statistics.median(medians)
    say(f"  {workload}: {value:.1f} ms")
    check = check_value("median", value, "<=", 30.0, "ms")
    return Row("runs", workload, "ms", figure("median", medians), checks=(check,))


@contextmanager
def _gateway(context: Context, directory: Path) -> Iterator[Server]:
    port = free_port()
    command = [python(), "-m", "runwire", "--data", str(directory / "data"), "up", "--port", str(port)]
    environment = {"RUNWIRE_TOKEN": TOKEN, "RUNWIRE_CLOSE_GRACE_S": "0"}
    with serving(command, port, cores=context.cores.server, environment=environment) as server:
        yield server


def _wait_ms(server: Server, model: str) -> float:
    """From the request for a task to the first event of its run, read from its stream."""
    began = time.perf_counter()
    run_id = _start(server, model)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        headers = {"authorization": f"Bearer {TOKEN}", "accept": "text/event-stream"}
        connection.request("GET", f"/hecate/v1/runs/{run_id}/events", headers=headers)
        answer = connection.getresponse()
        while not answer.readline().startswith(b'data: {"schema_version"'):
            pass
        return (time.perf_counter() - began) * 1000
    finally:
        connection.close()


def _start(server: Server, model: str) -> str:
    body = json.dumps({"prompt": "Wait.", "model": model})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        connection.request("POST", "/hecate/v1/tasks", body, headers)
        answer = connection.getresponse()
        made = json.loads(answer.read())
        if answer.status != 201:
            raise RuntimeError(f"the task was not made: {made}")
        return str(made["latest_run"]["run_id"])
    finally:
        connection.close()


def _idle(context: Context) -> Row:
    shares = []
    for _ in range(context.repetitions):
        with context.scratch() as scratch:
            shares.append(_idle_share(scratch / "data", context.pick(10, 3)))
    value = statistics.median(shares)
    say(f"  an idle worker: {value:.2f} % of a core")
    check = check_value("of a core", value, "<=", 1.0, "%")
    return Row("runs", "a worker without work", "%", figure("processor time", shares), checks=(check,))


def _idle_share(data: Path, seconds: float) -> float:
    command = [python(), "-m", "runwire", "--data", str(data), "--json", "worker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("the worker did not start")
            # What it does when it starts, such as reading prices, is not what it does when it is idle.
            time.sleep(3.0)
            before = _processor_s(process.pid)
            time.sleep(seconds)
            return 100 * (_processor_s(process.pid) - before) / seconds
        finally:
            process.terminate()


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
