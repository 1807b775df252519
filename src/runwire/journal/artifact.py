"""An artifact: what is known about one object that a run produced or used. Its bytes are a body, kept apart."""

from dataclasses import dataclass
from typing import Literal, get_args

import msgspec

from runwire.journal.records import Effect
from runwire.protocol.chain import show
from runwire.protocol.events.artifact import ArtifactCreated, ArtifactUpdated

Kind = Literal[
    "patch", "file_snapshot", "command_output", "fetched_resource", "search_results", "image", "tool_result_blob"
]
KINDS: frozenset[str] = frozenset(get_args(Kind))

Status = Literal["proposed", "applied", "rejected"]
"""Where a patch stands; other kinds have no status. A patch that was applied and reverted stays applied, with `reverted_at`."""
STATUSES: frozenset[str] = frozenset(get_args(Status))

_TEXT_TYPES = frozenset(
    "application/json application/x-ndjson application/jsonl application/xml application/javascript application/yaml "
    "application/x-yaml application/toml application/x-sh application/sql application/graphql "
    "application/x-www-form-urlencoded".split()
)


class PatchStats(msgspec.Struct, frozen=True, kw_only=True):
    """How much a patch changes."""

    additions: int
    deletions: int
    hunks: int


class ArtifactMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the row of an artifact says beside its columns. Each kind fills in what it has."""

    mime: str = "application/octet-stream"
    summary: str = ""
    produced_by_tool_call_id: str | None = None

    truncated: bool = False
    original_size: int | None = None
    """How long a truncated body was."""
    redactions: int = 0
    """How many secrets were taken out of the body."""
    redacted_paths: list[str] = []
    """JSON Pointers of the fields in here that secrets were taken out of."""

    target_path: str | None = None
    base_revision: str | None = None
    stats: PatchStats | None = None
    applied_at: str | None = None
    rejected_at: str | None = None
    reverted_at: str | None = None
    inverse_of: str | None = None
    """The patch that this one takes back."""

    path: str | None = None
    revision: str | None = None
    exit_code: int | None = None
    url: str | None = None
    status_code: int | None = None
    headers: dict[str, str] = {}
    query: str | None = None


@dataclass(frozen=True, slots=True)
class NewArtifact:
    """An artifact that somebody wants to keep. A patch starts as proposed unless it says otherwise."""

    kind: Kind
    meta: ArtifactMeta
    status: Status | None = None
    created_by_event_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no artifact can be."""
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a kind of artifact; there are {', '.join(sorted(KINDS))}")
        if self.status is not None and (self.kind != "patch" or self.status not in STATUSES):
            raise ValueError(f"a {self.kind} cannot be {self.status!r}")


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact as it is stored."""

    artifact_id: str
    task_id: str | None
    run_id: str | None
    kind: str
    status: str | None
    pinned: bool
    created_ns: int
    size: int
    digest: bytes
    meta: ArtifactMeta

    @property
    def etag(self) -> str:
        """A strong entity tag: the same for the same bytes, and for no others."""
        return f'"{show(self.digest)}"'


@dataclass(frozen=True, slots=True)
class Draft:
    """An artifact whose body is safe. Append `event` with `effect`, and it exists from that event on."""

    artifact: Artifact
    event: ArtifactCreated
    effect: Effect


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one artifact. Append `event` with `effect`; where the artifact does not stand so, both are refused."""

    artifact_id: str
    event: ArtifactUpdated
    effect: Effect


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    """Which artifacts to list; None does not ask."""

    kind: str | None = None
    run_id: str | None = None
    task_id: str | None = None
    status: str | None = None
    pinned: bool | None = None
    id_prefix: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactPage:
    """Some artifacts, newest first, and the cursor for those before them; None at the end."""

    artifacts: list[Artifact]
    next_cursor: int | None


_META_ENCODER = msgspec.json.Encoder()
_META_DECODER = msgspec.json.Decoder(ArtifactMeta)


def encode_meta(meta: ArtifactMeta) -> bytes:
    """The bytes that the row keeps."""
    return _META_ENCODER.encode(meta)


def decode_meta(stored: bytes) -> ArtifactMeta:
    """What `encode_meta` has written. Fields that a later release has added are passed over."""
    return _META_DECODER.decode(stored)


def is_text(mime: str) -> bool:
    """Whether a body of this media type is text, which can be cut and read line by line."""
    essence = mime.partition(";")[0].strip().lower()
    return essence.startswith("text/") or essence in _TEXT_TYPES or essence.endswith(("+json", "+xml", "+yaml"))


def shortened(body: bytes, limit: int, *, text: bool) -> bytes:
    """The beginning of a body, at most `limit` bytes. Text is cut between two characters and says that it was cut."""
    if len(body) <= limit:
        return body
    if not text:
        return body[:limit]
    marker = f"\n[truncated: this is the beginning of {len(body)} bytes]\n".encode()
    room = limit - len(marker)
    if room < 0:
        marker, room = b"", limit
    while room and body[room] & 0xC0 == 0x80:
        room -= 1
    return body[:room] + marker
