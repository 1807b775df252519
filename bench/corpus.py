"""Realistic events, the same on every machine: what a coding agent's run is made of, about 450 bytes an envelope.

None is a stream delta, so none is coalesced or held back: every append is one event in the log. They come in turns of
twenty, of which four change what the run's row says of it, about as in a run whose streams were coalesced. The words,
paths and commands vary enough that a compressor gains only what it would gain on a real log.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as count_from

ENVELOPE_BYTES = 454

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TEXT = (
    "the parser now reads every line before it decides whether a token belongs to the open block and keeps the offset of "
    "its first byte so an error can point at the place where reading stopped tests cover empty input broken utf eight "
    "nested lists deep maps long keys and a cursor beyond the end of file cache miss retry after backoff request budget "
    "refactor module import cycle removed type checker passes build took seconds warning unused variable lock released "
    "connection pool drained worker restarted queue depth latency histogram index rebuilt migration applied snapshot"
)
_WORDS = tuple(_TEXT.split())
_FILES = ("parser", "budget", "router", "cache", "queue", "ledger", "schema", "session", "worker", "render", "policy")
_FOLDERS = ("src/core", "src/api", "internal/store", "tests/unit", "web/components", "cmd/server", "docs/guide")
_COMMANDS = (
    ("go", "test"),
    ("pytest", "-q"),
    ("npm", "run", "build"),
    ("rg", "-n"),
    ("git", "diff", "--stat"),
    ("make",),
)


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it is stored: its type and its payload as compact JSON."""

    type: str
    data: bytes


def identifier(rng: random.Random, prefix: str) -> str:
    """An id of the shape the protocol uses."""
    return f"{prefix}_01{''.join(rng.choices(_CROCKFORD, k=24))}"


def drafts(count: int, seed: int = 1) -> list[Draft]:
    """`count` payloads of mixed types whose envelopes average `ENVELOPE_BYTES`."""
    rng = random.Random(seed)
    turns = chain.from_iterable(_turn(rng) for _ in count_from(0))
    return list(islice(turns, count))


def envelope(draft: Draft, run_id: str, task_id: str, sequence: int, rng: random.Random) -> bytes:
    """The stored form a limit or rival is handed ready made, so that it pays for storing alone."""
    head = (
        f'{{"schema_version":"1","event_id":"{identifier(rng, "evt")}","run_id":"{run_id}","task_id":"{task_id}",'
        f'"sequence":{sequence},"occurred_at":"2026-05-03T10:23:45.{rng.randrange(10**9):09d}Z","type":"{draft.type}","data":'
    )
    return head.encode() + draft.data + b"}"


def envelopes(count: int, seed: int = 1) -> list[bytes]:
    """Ready-made envelopes of one imaginary run."""
    rng = random.Random(~seed)
    run_id, task_id = identifier(rng, "run"), identifier(rng, "task")
    return [envelope(draft, run_id, task_id, index, rng) for index, draft in enumerate(drafts(count, seed))]


def prose(rng: random.Random, size: int) -> str:
    """About `size` characters of text."""
    words: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(_WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:size]


def _path(rng: random.Random) -> str:
    return f"{rng.choice(_FOLDERS)}/{rng.choice(_FILES)}_{rng.randrange(400)}.py"


def _turn(rng: random.Random) -> Iterator[Draft]:
    """What one turn leaves in the log: text, a call, its command, what came of it."""
    call, turn = identifier(rng, "call"), rng.randrange(40)
    for block in range(10):
        yield _of("assistant.text_complete", {"turn_index": turn, "block_index": block, "text": prose(rng, 172)})
    wanted = {"path": _path(rng), "start_line": rng.randrange(900), "note": prose(rng, 38)}
    asked = {"turn_index": turn, "tool_call_id": call, "tool_name": "file_read", "input": wanted}
    yield _of("assistant.tool_call_proposed", asked)
    argv = [*rng.choice(_COMMANDS), _path(rng), prose(rng, 22)]
    command = {"tool_call_id": call, "argv": argv, "cwd": f"/workspaces/{rng.choice(_FILES)}/run"}
    yield _of("tool.shell.command", command | {"env_keys": ["PATH", "HOME"], "sandbox_layer": "bwrap"})
    for _ in range(7):
        read = {
            "tool_call_id": call,
            "path": _path(rng),
            "size_bytes": rng.randrange(90_000),
            "lines": rng.randrange(900),
        }
        yield _of("tool.file_read.completed", read | {"snippet_artifact_id": identifier(rng, "art")})
    done = {"tool_call_id": call, "tool_name": "shell_exec", "kind": "shell", "duration_ms": rng.randrange(9000)}
    yield _of("tool.completed", done | {"summary": prose(rng, 86)})


def _of(event_type: str, data: Mapping[str, object]) -> Draft:
    return Draft(type=event_type, data=json.dumps(data, separators=(",", ":")).encode())


def identifier_list(prefix: str, count: int, seed: int = 7) -> list[str]:
    """`count` distinct ids with this prefix."""
    rng = random.Random(seed)
    return [identifier(rng, prefix) for _ in range(count)]


def secrets(count: int = 200, seed: int = 5) -> list[str]:
    """Values such as an environment holds: keys and tokens of 20 to 48 characters."""
    rng = random.Random(seed)
    letters = _CROCKFORD + _CROCKFORD.lower()
    return ["".join(rng.choices(letters, k=rng.randrange(20, 49))) for _ in range(count)]


def leaking(clean: list[Draft], known: list[str]) -> list[Draft]:
    """The same payloads, one in a hundred with a known secret in its text and one in a hundred with a bearer token."""
    rng = random.Random(9)
    token = "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
    spoilt = list(clean)
    for index in range(0, len(clean), 100):
        spoilt[index] = _spoil(clean[index], rng.choice(known))
        if index + 50 < len(clean):
            spoilt[index + 50] = _spoil(clean[index + 50], token)
    return spoilt


def _spoil(draft: Draft, text: str) -> Draft:
    """Put `text` where the first long string of the payload begins."""
    data = json.loads(draft.data)
    for holder in (data, data.get("input", {})):
        for name in ("summary", "text", "note", "path"):
            if name in holder:
                holder[name] = f"{text} {holder[name]}"
    if "argv" in data:
        data["argv"].append(text)
    return Draft(type=draft.type, data=json.dumps(data, separators=(",", ":")).encode())
