"""Fan-out, unpaced: one run, 1,000 SSE subscribers, events as fast as they can be delivered.

Limit: a bare uvloop hub that joins 128 frames and writes the same bytes to everyone (the join at which it is fastest
here; it stores nothing). Rival: Starlette with a queue per subscriber. Ours appends the same events durably, 128 to an
append, in the gateway's own process. The clock runs from the order to produce until every subscriber's stream has
ended with the last event.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from bench import ours_server
from bench.context import Context
from bench.figures import Row, check_ratio, check_value, figure, interleave
from bench.load.subscribers import Load, Received, get, post, receive
from bench.processes import Server, free_port, in_fresh_pinned_process, python, serving

JOIN = 128
_SAMPLE_EVERY = 50
_HUB_ON_REFERENCE = 4e6
_OURS_ON_REFERENCE = 1.5e6


@dataclass(frozen=True, slots=True)
class Crowd:
    """Subscribers and the events they are sent; a rate of 0 is unpaced."""

    subscribers: int
    events: int
    rate: float = 0.0
    sample_every: int = _SAMPLE_EVERY


def measure(context: Context) -> list[Row]:
    """One row."""
    crowd = Crowd(context.pick(1_000, 200), context.pick(10_000, 2_000))
    slow = Crowd(crowd.subscribers, crowd.events // 10)
    with contenders(context) as (mine, hub, queues):
        sides = {
            "limit": lambda: _rate(hear(context, hub, crowd), crowd),
            "rival": lambda: _rate(hear(context, queues, slow), slow),
        }
        if mine is not None:
            sides = {"ours": lambda: _rate(hear_ours(context, mine, crowd), crowd), **sides}
        samples = interleave(context.repetitions, sides, "fan-out")
    ours = figure("gateway, durable", samples.get("ours", ()))
    limit = figure("bare uvloop hub", samples["limit"])
    rival = figure("queue per subscriber", samples["rival"])
    checks = [check_ratio("bare hub", ours, limit, ">=", 0.5)]
    if limit and limit.median >= _HUB_ON_REFERENCE:
        checks.append(check_value("deliveries/s", ours.median if ours else None, ">=", _OURS_ON_REFERENCE, "/s"))
    workload = f"{crowd.subscribers:,} subscribers, {crowd.events:,} events"
    notes = (f"the rival is given {slow.events:,} events",)
    return [Row("fan-out, unpaced", workload, "deliveries/s", ours, limit, rival, tuple(checks), notes)]


@contextmanager
def contenders(context: Context) -> Iterator[tuple[Server | None, Server, Server]]:
    """Ours, the hub and the queues, all up; only the one that is measured has anything to do."""
    with ExitStack() as stack:
        mine = None
        if context.measure_ours:
            mine = stack.enter_context(ours_server.running(context, stack.enter_context(context.scratch())))
        others = []
        for module in ("bench.rivals.hub", "bench.rivals.queues"):
            port = free_port()
            command = [python(), "-m", module, str(port)]
            others.append(stack.enter_context(serving(command, port, cores=context.cores.server)))
        yield mine, others[0], others[1]


def hear(context: Context, server: Server, crowd: Crowd) -> Received:
    """Subscribe to a limit or rival and have it produce."""
    order = post(f"/produce?events={crowd.events}&rate={crowd.rate}&join={JOIN}")
    return _hear(context, server, get("/events"), order, crowd)


def hear_ours(context: Context, server: Server, crowd: Crowd) -> Received:
    """Subscribe to a new run of ours and have it grow; its last event ends the streams."""
    run_id = ours_server.new_run(server)
    order = post(ours_server.produce_path(run_id, crowd.events, crowd.rate, JOIN), ours_server.TOKEN)
    return _hear(context, server, get(ours_server.events_path(run_id), ours_server.TOKEN), order, crowd)


def _hear(context: Context, server: Server, request: bytes, order: bytes, crowd: Crowd) -> Received:
    load = Load(
        port=server.port,
        requests=(request,) * crowd.subscribers,
        ready=b"event: synced",
        trigger=order,
        sample_every=crowd.sample_every,
    )
    received = in_fresh_pinned_process(context.cores.client, receive, load)
    if any(frames < crowd.events for frames in received.frames):
        raise RuntimeError(f"a subscriber got {min(received.frames)} events of {crowd.events}")
    if received.least_size < 400 * crowd.events:
        raise RuntimeError(f"a subscriber got only {received.least_size} bytes of {crowd.events} events")
    return received


def _rate(received: Received, crowd: Crowd) -> float:
    return crowd.subscribers * crowd.events / received.seconds
