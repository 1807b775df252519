"""Recorded streams of real agents, and what becomes of them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Body, Item, Outcome, Overspent, Question, Reply, StreamEnd, Telling
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Enveloper, Normaliser
from runwire.ids import Ids
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.lifecycle import Breach, check
from runwire.protocol.payload import Opaque, Payload

FOLDER = Path(__file__).resolve().parent.parent / "transcripts"
_NOW_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded stream."""

    path: Path

    @property
    def name(self) -> str:
        """Which agent and what happened."""
        return f"{self.path.parent.relative_to(FOLDER)}/{self.path.stem}"

    @property
    def agent(self) -> str:
        """The agent by the name that it is known by."""
        return _AGENTS[self.path.relative_to(FOLDER).parts[0].rstrip("0123456789.").rstrip("-")]

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return self.path.read_bytes()

    @property
    def expected(self) -> Path:
        """What is to become of it."""
        return self.path.with_suffix(".expected.jsonl")

    @property
    def end(self) -> StreamEnd:
        """How its process ended, where that was recorded."""
        return _ends(self.path.parent).get(self.path.stem, StreamEnd())


_AGENTS = {
    "zot": "zot",
    "pi": "pi",
    "claude-code": "claude",
    "codex": "codex",
    "codex-app-server": "codex",
    "opencode": "opencode",
    "opencode-serve": "opencode",
    "opencode-acp": "acp",
    "gemini-cli": "gemini",
    "gemini-acp": "acp",
    "agno": "agno",
}


@cache
def _ends(folder: Path) -> dict[str, StreamEnd]:
    """The exit codes that were recorded beside a folder's streams; a negative one is a signal's number."""
    file = folder / "ends.json"
    if not file.exists():
        return {}
    codes = json.loads(file.read_text("utf-8"))
    return {name: StreamEnd(exit_code=code) for name, code in codes.items()}


def transcripts(*folders: str) -> list[Transcript]:
    """Every recorded stream of these folders, in order."""
    files = (file for folder in folders for file in sorted((FOLDER / folder).rglob("*")))
    return [
        Transcript(file)
        for file in files
        if file.suffix in {".jsonl", ".sse"} and not file.name.endswith(".expected.jsonl")
    ]


def items_of(agent: str, pieces: Iterable[bytes], end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    """What a stream tells, and how it ends."""
    normaliser = Normaliser(make_dialect(agent, Telling(agent=agent)))
    items: list[Item] = []
    for piece in pieces:
        items += normaliser.feed(piece, _NOW_NS)
    rest, outcome = normaliser.end(end or StreamEnd(), _NOW_NS)
    return items + rest, outcome


def envelopes_of(agent: str, pieces: Iterable[bytes]) -> list[bytes]:
    """The log that a stream becomes."""
    ids = Ids(now_ns=lambda: _NOW_NS, random_bytes=bytes)
    dialect = make_dialect(agent, Telling(agent=agent))
    normaliser, enveloper = Normaliser(dialect), Enveloper(run_id=ids.new("run"), agent=agent, ids=ids)
    log = enveloper.begin(_NOW_NS)
    for piece in pieces:
        log += enveloper.write(normaliser.feed(piece, _NOW_NS), _NOW_NS)
    rest, outcome = normaliser.end(StreamEnd(), _NOW_NS)
    return [*log, *enveloper.write(rest, _NOW_NS), *enveloper.end(outcome, dialect, _NOW_NS)]


def breaches_of(agent: str, pieces: Iterable[bytes]) -> list[Breach]:
    """What is wrong with the log that a stream becomes: nothing, whatever the stream."""
    return list(check(envelopes_of(agent, pieces)))


def kept(items: Iterable[Item]) -> list[str]:
    """Why frames were kept as they came, of those that were."""
    return [item.error for item in items if isinstance(item, AgentUnparsed)]


def watched(agent: str, raw: bytes) -> list[tuple[str, str]]:
    """The names and the state of each frame in the pane."""
    normaliser, pane = Normaliser(make_dialect(agent, Telling(agent=agent))), Pane()
    lines = [*normaliser.watch(raw, _NOW_NS, pane), *normaliser.watch_end(_NOW_NS, pane)]
    return [(line.split("\t")[1], line.split("\t")[2]) for line in lines if not line.startswith("-\t")]


def told(items: Iterable[Item], outcome: Outcome) -> Iterator[str]:
    """Items as the lines of an expectation."""
    for item in items:
        match item:
            case Payload() | Opaque():
                yield json.dumps({"type": item.type, "data": json.loads(msgspec.json.encode(item))}, ensure_ascii=False)
            case Reply() | Body() | Question() | Overspent():
                yield json.dumps({"item": type(item).__name__}, ensure_ascii=False)
    yield json.dumps(
        {"outcome": type(outcome).__name__, **json.loads(msgspec.json.encode(outcome))}, ensure_ascii=False
    )
