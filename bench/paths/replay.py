"""Replay and disk: a finished run read from its beginning as SSE over loopback HTTP, and what it costs to keep.

Rival: the same envelopes, a row per event, read in one loop in one process and sent nowhere. Limit: the same frames in
one flat file, sent by the kernel. Ours is a whole gateway on the server's cores with the load client on its own core.
A first, untimed pass proves that every event arrives once and in order.
"""

import itertools
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from bench import ours, ours_server
from bench.context import Context
from bench.corpus import envelopes, identifier_list
from bench.figures import Row, check_ratio, check_value, figure, interleave, say
from bench.load.subscribers import Load, Received, get, receive
from bench.processes import MemoryPeak, Server, free_port, in_fresh_pinned_process, in_fresh_process, python, serving
from bench.rivals import row_log
from bench.rivals.sqlite_raw import Settings

_FRAME = re.compile(rb"^id: (\d+)\ndata: (.*)$", re.MULTILINE)


def measure(context: Context) -> list[Row]:
    """Rows for speed, memory and disk."""
    events = context.pick(1_000_000, 50_000)
    with context.scratch() as scratch:
        say(f"  storing one run of {events:,} events")
        run_id, live_size = _store(context, scratch, events)
        disk = _disk(scratch, events, live_size)
        flat = scratch / "frames"
        with _limit_server(context, flat) as limit:
            if not context.measure_ours:
                return [_speed(context, scratch, events, run_id, None, limit), disk]
            with ours_server.running(context, scratch / "ours") as server:
                _prove(context, server, run_id, events)
                idle_kb = server.resident_kb()
                with MemoryPeak(server.pid) as memory:
                    speed = _speed(context, scratch, events, run_id, server, limit)
    above_mb = (memory.peak_kb - idle_kb) / 1024
    bound = check_value("server memory above idle", above_mb, "<=", 50.0, "MB")
    peak = figure("peak above idle", (above_mb,))
    return [speed, Row("replay", f"memory while a {events:,}-event run is replayed", "MB", peak, checks=(bound,)), disk]


def _store(context: Context, scratch: Path, events: int) -> tuple[str, int | None]:
    """Keep the run three times: our way, as rows, and as a flat file of frames. Returns its id and our size on disk."""
    if context.measure_ours:
        filled = in_fresh_process(ours.fill, scratch / "ours", 1, events, settle=True)
        in_fresh_process(_copy_for_others, scratch, filled.runs[0])
        return filled.runs[0], filled.bytes_on_disk
    (run_id,) = identifier_list("run", 1)
    in_fresh_process(_make_for_others, scratch, run_id, events)
    return run_id, None


def _copy_for_others(scratch: Path, run_id: str) -> None:
    pieces = ours.stored_frames(scratch / "ours", run_id)
    (scratch / "frames").write_bytes(b"".join(pieces))
    found = (match for piece in pieces for match in _FRAME.finditer(piece))
    _keep_rows(scratch, ((run_id, int(match[1]), match[2]) for match in found))


def _make_for_others(scratch: Path, run_id: str, events: int) -> None:
    bodies = list(itertools.islice(itertools.cycle(envelopes(min(events, 100_000))), events))
    with (scratch / "frames").open("wb") as flat:
        flat.writelines(b"id: %d\ndata: %b\n\n" % (sequence, body) for sequence, body in enumerate(bodies))
    _keep_rows(scratch, ((run_id, sequence, body) for sequence, body in enumerate(bodies)))


def _keep_rows(scratch: Path, rows: Iterator[tuple[str, int, bytes]]) -> None:
    (scratch / "rows").mkdir()
    row_log.fill(scratch / "rows" / "rows.db", Settings(), rows)


def _limit_server(context: Context, flat: Path) -> AbstractContextManager[Server]:
    port = free_port()
    return serving([python(), "-m", "bench.rivals.segment", str(port), str(flat)], port, cores=context.cores.server)


def _prove(context: Context, server: Server, run_id: str, events: int) -> None:
    whole = _receive(context, server, run_id, keep=True).bodies[0]
    seen = [int(match[1]) for match in _FRAME.finditer(whole)]
    if seen != list(range(events)):
        raise RuntimeError(f"the replay held {len(seen)} events instead of {events}, or not in order")


def _receive(context: Context, server: Server, run_id: str, keep: bool = False) -> Received:
    request = get(ours_server.events_path(run_id), ours_server.TOKEN)
    return in_fresh_pinned_process(context.cores.client, receive, Load(server.port, (request,), keep=keep))


def _speed(context: Context, scratch: Path, events: int, run_id: str, server: Server | None, limit: Server) -> Row:
    expected = (scratch / "frames").stat().st_size

    def over_http(whom: Server) -> float:
        received = _receive(context, whom, run_id)
        if received.size < expected:
            raise RuntimeError(f"{received.size} bytes arrived of {expected}")
        return events / received.seconds

    def row_by_row() -> float:
        return events / in_fresh_pinned_process(
            context.cores.server, _seconds_row_by_row, scratch / "rows" / "rows.db", run_id, events
        )

    sides = {"limit": lambda: over_http(limit), "rival": row_by_row}
    if server is not None:
        sides = {"ours": lambda: over_http(server), **sides}
    samples = interleave(context.repetitions, sides, "replay")
    mine = figure("SSE over HTTP", samples.get("ours", ()))
    flat = figure("flat file, sendfile", samples["limit"])
    rows = figure("row by row, not sent", samples["rival"])
    checks = (check_ratio("reading row by row", mine, rows, ">=", 1.5),)
    return Row("replay", f"a finished run of {events:,} events", "events/s", mine, flat, rows, checks)


def _seconds_row_by_row(file: Path, run_id: str, events: int) -> float:
    started = time.perf_counter()
    count, _ = row_log.read_row_by_row(file, run_id)
    elapsed = time.perf_counter() - started
    if count != events:
        raise RuntimeError(f"the rival held {count} events instead of {events}")
    return elapsed


def _disk(scratch: Path, events: int, live_size: int | None) -> Row:
    """Bytes an event once settled, WAL included, with the journal still open.

    The limit is the whole log as one zlib stream, which no cursor could seek in.
    """
    flat = scratch / "frames"
    packed = in_fresh_process(_packed_size, flat)
    mine = figure("settled, still open", (live_size / events,)) if live_size is not None else None
    limit = figure("one zlib-1 stream", (packed / events,))
    rival = figure("row per event", (ours.bytes_on_disk(scratch / "rows") / events,))
    checks = (check_value("bytes an event", mine.median if mine else None, "<=", 200.0, "bytes"),)
    notes = (f"{ours.bytes_on_disk(scratch / 'ours') / events:.0f} bytes an event once closed",) if mine else ()
    mean = flat.stat().st_size / events
    workload = f"the same run, settled; frames of {mean:.0f} bytes"
    return Row("disk", workload, "bytes/event", mine, limit, rival, checks, notes)


def _packed_size(flat: Path) -> int:
    compressor = zlib.compressobj(level=1)
    size = 0
    with flat.open("rb") as source:
        while piece := source.read(1 << 20):
            size += len(compressor.compress(piece))
    return size + len(compressor.flush())
