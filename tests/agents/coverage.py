"""Which events were recorded of which agent: the one source of the table in docs and of what the gateway claims."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Telling
from runwire.agents.normalising import Normaliser
from runwire.config import Dialect
from runwire.protocol.catalogue import EXPERIMENTAL
from runwire.protocol.envelope import type_of
from runwire.protocol.events.external import PREFIX
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunQueued, RunStarted
from runwire.protocol.payload import Payload
from tests.agents.transcripts import FOLDER, Transcript, transcripts

NATIVE = "native"
DIALECTS: tuple[str, ...] = (NATIVE, *get_args(Dialect))
FIXTURES = FOLDER.parents[1] / "spec" / "fixtures" / "v1"
_TERMINALS = {"Finished": RunFinished.type, "Failed": RunFailed.type, "Cancelled": RunCancelled.type}


def emitted() -> dict[str, set[str]]:
    """Every agent with the types of events that were recorded of it."""
    found: dict[str, set[str]] = {one: set() for one in DIALECTS}
    found[NATIVE] = {type_of(line) for path in FIXTURES.glob("*.jsonl") for line in path.read_bytes().splitlines()}
    for transcript in recorded():
        found[transcript.agent] |= {*expected_types(transcript.expected), *types_on_request(transcript)}
    return found


def recorded() -> list[Transcript]:
    """Every stream whose expectation is written down."""
    folders = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
    return [one for one in transcripts(*folders) if one.expected.exists()]


def expected_types(path: Path) -> Iterator[str]:
    """What becomes of a stream by its expectation: its events, and those that its run begins and ends with."""
    yield from (RunQueued.type, RunStarted.type)
    for line in path.read_bytes().splitlines():
        told = json.loads(line)
        if "type" in told:
            # What an agent's own tools tell has no place in the catalogue.
            if not told["type"].startswith(PREFIX):
                yield told["type"]
        elif "outcome" in told:
            yield _TERMINALS[told["outcome"]]


def types_on_request(transcript: Transcript) -> Iterator[str]:
    """What becomes of a stream beside that when the task asks for experimental events; expectations do not ask."""
    telling = Telling(agent=transcript.agent, experimental=EXPERIMENTAL)
    normaliser = Normaliser(make_dialect(transcript.agent, telling))
    for item in normaliser.feed(transcript.raw, 0):
        if isinstance(item, Payload) and item.type in EXPERIMENTAL:
            yield item.type
