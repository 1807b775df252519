"""Normalising: the recorded streams of real agents in, encoded envelopes out, on one core.

Rival: decoding each frame of the same bytes with msgspec and encoding it again, which is the least that any normaliser does.
Neither waits for anything, so the time that counts is the processor's: what else the machine does meanwhile is not theirs.
"""

import secrets
import time
from pathlib import Path

import msgspec

from bench.context import Context
from bench.figures import Row, check_ratio, check_value, figure, interleave
from bench.processes import in_fresh_process
from runwire.agents.catalogue import make_dialect
from runwire.agents.codec.framing import Framer
from runwire.agents.dialect import StreamEnd, Telling
from runwire.agents.normalising import Enveloper, Normaliser
from runwire.clock import SystemClock
from runwire.ids import Ids

RECORDED = Path(__file__).resolve().parents[2] / "tests" / "transcripts"
PIECE_BYTES = 64 * 1024
WANTED = {"zot": 150_000, "agno": 60_000}
FOLDERS = {"zot": ("zot", "*.jsonl"), "agno": ("agno/3.1.10", "*.sse")}


def measure(context: Context) -> list[Row]:
    """One row an agent that a rate is asked for."""
    if not context.measure_ours:
        return []
    return [_row(context, agent) for agent in WANTED]


def _row(context: Context, agent: str) -> Row:
    frames = context.pick(200_000, 20_000)
    sides = {
        "ours": lambda: in_fresh_process(normalised_per_second, agent, frames),
        "rival": lambda: in_fresh_process(recoded_per_second, agent, frames),
    }
    samples = interleave(context.repetitions, sides, f"normalise {agent}")
    mine = figure("normalised", samples["ours"])
    rival = figure("msgspec decode + encode", samples["rival"])
    # Either is enough: a rate is for one class of machine, a ratio carries over to any.
    rate = check_value("frames a second", mine.median if mine else None, ">=", WANTED[agent], "/s")
    ratio = check_ratio("decode + encode", mine, rival, ">=", 1 / 3)
    checks = (rate if rate.met else ratio,)
    return Row("normalise", agent, "frames/s", mine, None, rival, checks)


def stream_of(agent: str, frames: int) -> tuple[bytes, int]:
    """Recorded streams, one behind the other, until there are so many frames; and how many there are."""
    folder, pattern = FOLDERS[agent]
    files = sorted(file for file in (RECORDED / folder).glob(pattern) if not file.name.endswith(".expected.jsonl"))
    once = b"".join(file.read_bytes().rstrip(b"\n") + b"\n\n" for file in files)
    count = sum(1 for _ in Framer().feed(once))
    times = max(1, frames // count)
    return once * times, count * times


def normalised_per_second(agent: str, frames: int) -> float:
    """Bytes in, encoded envelopes out."""
    raw, count = stream_of(agent, frames)
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    dialect = make_dialect(agent, Telling(agent=agent))
    normaliser, enveloper = Normaliser(dialect), Enveloper(run_id=ids.new("run"), agent=agent, ids=ids)
    began = time.process_time()
    enveloper.begin(clock.now_ns())
    for at in range(0, len(raw), PIECE_BYTES):
        now_ns = clock.now_ns()
        enveloper.write(normaliser.feed(raw[at : at + PIECE_BYTES], now_ns), now_ns)
    rest, outcome = normaliser.end(StreamEnd(), clock.now_ns())
    enveloper.write(rest, clock.now_ns())
    enveloper.end(outcome, dialect, clock.now_ns())
    return count / (time.process_time() - began)


def recoded_per_second(agent: str, frames: int) -> float:
    """Each frame decoded and encoded again."""
    raw, count = stream_of(agent, frames)
    decode, encode, framer = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode, Framer()
    began = time.process_time()
    for at in range(0, len(raw), PIECE_BYTES):
        for frame in framer.feed(raw[at : at + PIECE_BYTES]):
            encode(decode(frame.data))
    return count / (time.process_time() - began)
