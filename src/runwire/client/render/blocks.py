"""What a run looks like to a person: a list of blocks. `Drawing` makes them of events; faces only read them."""

from dataclasses import dataclass, field
from typing import Literal

ToolState = Literal["proposed", "running", "completed", "failed", "cancelled", "timed_out", "blocked"]
EditState = Literal["proposed", "applied", "rejected", "reverted"]
ApprovalState = Literal["pending", "approved", "denied", "timed_out"]
NoteLevel = Literal["info", "warning", "error"]
EndState = Literal["completed", "failed", "cancelled"]

TAIL_CHARS = 16_384
"""How much of a tool's output is kept."""


class Growing:
    """A text that grows by pieces and is put together only when somebody reads it."""

    __slots__ = ("_pieces", "length")

    def __init__(self, text: str = "") -> None:
        self._pieces = [text]
        self.length = len(text)

    def add(self, piece: str) -> None:
        """Put a piece to the end."""
        self._pieces.append(piece)
        self.length += len(piece)

    def read(self) -> str:
        """The whole text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class Tail:
    """The end of an output, however long it gets, and how much there was."""

    __slots__ = ("_text", "bytes", "kept_whole", "line_ends")

    def __init__(self) -> None:
        self._text = Growing()
        self.bytes = 0
        self.line_ends = 0
        self.kept_whole = True

    def add(self, piece: str) -> None:
        """Take in what was printed next."""
        self.bytes += len(piece.encode("utf-8", "replace"))
        self.line_ends += piece.count("\n")
        self._text.add(piece)
        if self._text.length > 2 * TAIL_CHARS:
            self._text = Growing(self._text.read()[-TAIL_CHARS:])
            self.kept_whole = False

    def read(self) -> str:
        """What is kept: its last characters, at most `TAIL_CHARS`, beginning with a whole line where there is one."""
        text = self._text.read()
        if self.kept_whole and len(text) <= TAIL_CHARS:
            return text
        text = text[-TAIL_CHARS:]
        return text[text.find("\n") + 1 :] or text

    @property
    def lines(self) -> int:
        """How many lines there were, a last one without its end included."""
        text = self._text.read()
        return self.line_ends + bool(text and not text.endswith("\n"))


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """One thing to be seen. It changes while `open`; `revision` grows with every change."""

    index: int
    """Its place among the blocks."""
    sequence: int
    """The event that it began with."""
    started_ns: int
    open: bool = False
    revision: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Prose(Block):
    """What the agent says, in Markdown."""

    body: Growing
    turn_index: int = 0
    broken: bool = False
    """Whether it was broken off."""

    @property
    def text(self) -> str:
        """All of it so far."""
        return self.body.read()


@dataclass(slots=True, kw_only=True, eq=False)
class Thinking(Prose):
    """What the agent thinks."""


@dataclass(slots=True, kw_only=True, eq=False)
class Approval(Block):
    """A question to a person."""

    approval_id: str
    call_id: str | None
    kind: str
    summary: str
    reason: str
    input: dict[str, object] | None = None
    effects: tuple[str, ...] = ()
    expires_at: str | None = None
    state: ApprovalState = "pending"
    by: str = ""
    comment: str = ""
    scope: str = ""
    edited: bool = False
    told: bool = False
    """Whether the line of its call says how it was answered."""


@dataclass(slots=True, kw_only=True, eq=False)
class Tool(Block):
    """A tool call."""

    call_id: str
    name: str
    kind: str = ""
    title: str = ""
    """What it does, on one safe line: a command, a path, a pattern."""
    state: ToolState = "proposed"
    ended_ns: int | None = None
    timeout_ms: int | None = None
    output: Tail = field(default_factory=Tail)
    exit_code: int | None = None
    signal: str | None = None
    summary: str = ""
    error: str = ""
    """Why it did not succeed."""
    result_artifact_id: str | None = None
    approval: Approval | None = None
    """The last question about it."""
    told: bool = False
    """Whether a block of its own (an edit, the list of what is to be done) says the same better."""


@dataclass(slots=True, kw_only=True, eq=False)
class Edit(Block):
    """A change to files."""

    call_id: str
    paths: tuple[str, ...]
    artifact_ids: tuple[str, ...]
    summary: str
    state: EditState = "proposed"
    waits: bool = False
    """Whether a person is to apply it."""
    by: str = ""
    reason: str = ""
    diff: str | None = None
    """The change itself, once a face has fetched it and handed it to `Drawing.show_diff`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Todo(Block):
    """What the agent wants to do. There is one list in a run, and its last state counts."""

    items: tuple[tuple[str, str], ...]
    """What is to be done, and its status: pending, in_progress or completed."""


@dataclass(slots=True, kw_only=True, eq=False)
class Note(Block):
    """Something worth knowing that is nobody's doing."""

    level: NoteLevel
    text: str


@dataclass(slots=True, kw_only=True, eq=False)
class User(Block):
    """What a person said."""

    text: str
    by: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Opaque(Block):
    """An event of a type that this release does not know, or whose data is not what its type says."""

    type: str
    data: str
    """The beginning of its data, as it came."""
    size_bytes: int


@dataclass(slots=True, kw_only=True, eq=False)
class End(Block):
    """How the run ended."""

    state: EndState
    text: str
    turns: int | None = None
    cost_micros_usd: int | None = None
    duration_ms: int | None = None


def told_elsewhere(block: Block) -> bool:
    """Whether another block says it: the question a call waits for, the edit that came of it."""
    if isinstance(block, Tool) and block.approval is not None and block.approval.state == "pending":
        return True
    return isinstance(block, Tool | Approval) and block.told and not block.open
