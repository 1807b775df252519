"""The frames that limit and rival servers send: ready made, the same size as ours."""

import random
import time
from collections.abc import Sequence

from bench.corpus import Draft, envelope, identifier_list

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
SYNCED = b'retry: 1000\n\nevent: synced\ndata: {"sequence":-1}\n\n'


def frames(drafts: Sequence[Draft]) -> list[bytes]:
    """One SSE frame per draft, numbered from 0."""
    rng = random.Random(3)
    (run_id,), (task_id,) = identifier_list("run", 1), identifier_list("task", 1)
    return [b"id: %d\ndata: %s\n\n" % (n, envelope(draft, run_id, task_id, n, rng)) for n, draft in enumerate(drafts)]


def stamp() -> str:
    """The words that carry the moment of sending; the load client looks for them."""
    return f"at={time.monotonic_ns()} "
