"""Against what users run today: a scripted model streams 2,000 text chunks to each of 1 and 50 clients.

Rival: a real Agno AgentOS 3.1.10 in its own environment, the whole way from the model's chunk to the client's socket,
nothing durable. Ours: a scripted producer hands every chunk to the journal as an agent would, text is coalesced by the
product's own settings, redacted, made durable, and served by the gateway. Counted is text that arrived, in chunks of
nine characters. The second pair of rows has coalescing turned off: an event for every chunk. Every side has one untimed round first.
"""

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from bench import ours_server
from bench.context import Context
from bench.figures import Row, check_ratio, figure, interleave
from bench.load.subscribers import Load, Received, post, receive
from bench.processes import ROOT, Server, free_port, in_fresh_pinned_process, serving
from bench.rivals.agno_environment import interpreter

_CHUNK_CHARS = 9
_DATA = re.compile(rb"^data: (\{.*\})$", re.MULTILINE)


def measure(context: Context) -> list[Row]:
    """Rows for 1 and 50 clients, coalesced and not."""
    chunks = context.pick(2_000, 500)
    rows = []
    with ExitStack() as stack:
        rival = stack.enter_context(_agno(context))
        servers: dict[str, Server] = {}
        if context.measure_ours:
            for name, coalesce in (("coalesced", True), ("an event a chunk", False)):
                place = stack.enter_context(context.scratch())
                servers[name] = stack.enter_context(ours_server.running(context, place, coalesce=coalesce))
        for clients in (1, 50):
            rows += _rows(context, clients, chunks, servers, rival)
    return rows


def _agno(context: Context) -> AbstractContextManager[Server]:
    port = free_port()
    command = [str(interpreter(context.cache)), str(ROOT / "bench" / "rivals" / "agno_app.py"), str(port)]
    return serving(command, port, cores=context.cores.server, health="/health")


def _rows(context: Context, clients: int, chunks: int, servers: dict[str, Server], rival: Server) -> list[Row]:
    def side(server: Server, request: bytes, count: Callable[[bytes], float]) -> Callable[[], float]:
        def rate() -> float:
            load = Load(server.port, (request,) * clients, keep=True)
            received = in_fresh_pinned_process(context.cores.client, receive, load)
            return _delivered(received, count, clients * chunks) / received.seconds

        return rate

    stream = post(ours_server.stream_path(chunks), ours_server.TOKEN)
    sides = {name: side(server, stream, _our_chunks) for name, server in servers.items()}
    sides["agno"] = side(rival, post("/agents/bench/runs", form=f"message={chunks}&stream=true"), _agno_chunks)
    for warm_up in sides.values():
        warm_up()
    samples = interleave(context.repetitions, sides, f"{clients} clients")
    agno = figure("Agno AgentOS 3.1.10", samples["agno"])
    workload = f"{chunks:,} chunks to {'each of ' if clients > 1 else ''}{clients} client{'s' if clients > 1 else ''}"
    coalesced = figure("durable, coalesced", samples.get("coalesced", ()))
    single = figure("durable, an event a chunk", samples.get("an event a chunk", ()))
    checks = (check_ratio("Agno AgentOS", coalesced, agno, ">=", 20.0),)
    return [
        Row("against Agno", workload, "chunks/s", coalesced, None, agno, checks),
        Row("against Agno", f"{workload}, not coalesced", "chunks/s", single, None, agno),
    ]


def _delivered(received: Received, count: Callable[[bytes], float], expected: int) -> float:
    chunks = sum(map(count, received.bodies))
    if chunks != expected:
        raise RuntimeError(f"{chunks} chunks arrived of {expected}: {received.bodies[0][:500]!r}")
    return chunks


def _agno_chunks(body: bytes) -> float:
    return body.count(b"event: RunContent\n")


def _our_chunks(body: bytes) -> float:
    envelopes = (json.loads(match[1]) for match in _DATA.finditer(body))
    texts = (each["data"]["delta"] for each in envelopes if each.get("type") == "assistant.text_delta")
    return sum(map(len, texts)) / _CHUNK_CHARS
