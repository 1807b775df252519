"""A run as an editor is told of it: events in, updates out. What it says depends on the events alone. Pure."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

from msgspec import UNSET, UnsetType, structs

from runwire.acp.calls import content_of, diffs_of, kind_of, locations_of, status_of, text, title_of
from runwire.acp.updates import (
    AgentSaid,
    AgentThought,
    Call,
    CallBegun,
    CallChanged,
    Content,
    Cost,
    Diff,
    Location,
    Plan,
    PlanEntry,
    StopReason,
    Text,
    Update,
    Used,
    UserSaid,
)
from runwire.client.render.blocks import Approval, Block, Edit, Note, Prose, Thinking, Todo, Tool, User
from runwire.client.render.drawing import Drawing
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.assistant import AssistantToolCallProposed
from runwire.protocol.events.tool import ToolStarted
from runwire.protocol.events.turn import TurnCompleted
from runwire.protocol.events.user import UserAttachment
from runwire.protocol.payload import MalformedPayload, Opaque, Payload

_T = TypeVar("_T")
_PlanStatus = Literal["pending", "in_progress", "completed"]
_MICROS = 1_000_000
_OF_INTEREST = frozenset({AssistantToolCallProposed.type, ToolStarted.type, TurnCompleted.type, UserAttachment.type})
# How a model says that it stopped for another reason than being done.
_STOPS: dict[str, StopReason] = {
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}


class Telling:
    """Tells one run. Until it is `live`, what is over is told once and whole; from then on, everything as it comes."""

    def __init__(self, *, root: str, live: bool) -> None:
        """Name files as seen from `root` until the run itself says where it works."""
        self.drawing = Drawing()
        self._root = root
        self._live = live
        self._said: dict[int, int] = {}
        """Of each text, by its block, how much was told."""
        self._calls: dict[str, Call] = {}
        """Each call as it was told last, by the id that it has here."""
        self._ids: dict[str, str] = {}
        """The id of the last call that had this id in the log; agents use theirs again."""
        self._inputs: dict[str, dict[str, object]] = {}
        self._diffs: dict[str, list[Content | Diff]] = {}
        self._stop: StopReason = "end_turn"

    @property
    def stop_reason(self) -> StopReason:
        """Why the model stopped, once the run has completed."""
        return self._stop

    def draw(self, envelope: bytes) -> Block | None:
        """Take in an event; the block that it made or changed."""
        block = self.drawing.take(envelope)
        self._root = self.drawing.run.workspace_path or self._root
        return block

    def tell(self, envelope: bytes, block: Block | None) -> list[Update]:
        """What there is to say about an event, and about the block that was drawn for it."""
        if isinstance(block, Tool):
            self._ids[block.call_id] = self._place(block)
        match payload := _read(envelope):
            case AssistantToolCallProposed() | ToolStarted() if block is not None:
                if not isinstance(payload.input, UnsetType):
                    self._inputs[self._place(block)] = payload.input
            case TurnCompleted():
                self._stop = _STOPS.get(payload.stop_reason, "end_turn")
                return [self._used(payload)]
            case UserAttachment() if block is not None and not self._live:
                return [UserSaid(Text(f"[attached: {payload.mime}]"), self._place(block))]
            case _:
                pass
        return list(self._told(block))

    def catch_up(self) -> list[Update]:
        """Everything that is still going on, once the past has been told; from now on this is live."""
        self._live = True
        unfinished = [block for block in self.drawing.blocks if block.open and isinstance(block, Prose | Tool)]
        return [update for block in unfinished for update in self._told(block)]

    def asked_about(self, approval: Approval) -> Call:
        """The call that a question is about."""
        known = self._calls.get(self._ids.get(approval.call_id or "", ""))
        about = Call(
            approval.approval_id if known is None else known.tool_call_id,
            title=approval.summary or approval.kind,
            kind="other" if known is None else known.kind,
            status="pending",
            content=[text(approval.reason)] if approval.reason else [],
        )
        return about if approval.input is None else structs.replace(about, raw_input=approval.input)

    # One block

    def _told(self, block: Block | None) -> Iterator[Update]:
        match block:
            case Prose():
                if self._live or not block.open:
                    yield from self._prose(block)
            case User():
                yield UserSaid(Text(block.text), self._place(block))
            case Tool():
                if self._live or not block.open:
                    yield from self._call(block)
            case Edit() if block.state in {"proposed", "applied"}:
                yield from self._edit(block)
            case Todo():
                yield Plan([PlanEntry(what, "medium", _planned(status)) for what, status in block.items])
            case Note() if block.level != "info":
                yield AgentThought(Text(f"{block.level}: {block.text}\n"), self._place(block))
            case _:
                return

    def _prose(self, block: Prose) -> Iterable[Update]:
        told = self._said.get(block.index, 0)
        if block.body.length <= told:
            return
        self._said[block.index] = block.body.length
        kind = AgentThought if isinstance(block, Thinking) else AgentSaid
        yield kind(Text(block.text[told:]), self._place(block))

    def _call(self, block: Tool) -> Iterable[Update]:
        number = self._place(block)
        given = self._inputs.get(number)
        diffs = self._diffs.get(number, [])
        now = Call(
            number,
            title=title_of(block),
            kind=kind_of(block),
            status=status_of(block),
            content=[*content_of(block), *diffs],
            locations=self._locations(given, diffs),
            raw_input=UNSET if given is None else given,
        )
        yield from self._changed(now)

    def _edit(self, block: Edit) -> Iterable[Update]:
        number = self._ids.get(block.call_id) or self._place(block)
        if block.state == "proposed" or number not in self._diffs:
            self._diffs.setdefault(number, []).extend(diffs_of(block, self._root))
        diffs, known = self._diffs[number], self._calls.get(number)
        if known is None:
            if block.call_id in self._ids:
                # Its call is told later, and these with it.
                return
            known = Call(number, title=f"edit {', '.join(block.paths)}", kind="edit", status="completed", content=[])
        shown = [] if isinstance(known.content, UnsetType) else known.content
        said = [one for one in shown if one not in diffs]
        places = self._locations(self._inputs.get(number), diffs)
        yield from self._changed(structs.replace(known, content=[*said, *diffs], locations=places))

    def _changed(self, now: Call) -> Iterable[Update]:
        """Tell a call, or what is new about it."""
        before = self._calls.get(now.tool_call_id)
        self._calls[now.tool_call_id] = now
        if before is None:
            yield CallBegun(
                now.tool_call_id, now.title, now.kind, now.status, now.content, now.locations, now.raw_input
            )
        elif now != before:
            yield CallChanged(
                now.tool_call_id,
                _new(now.title, before.title),
                _new(now.kind, before.kind),
                _new(now.status, before.status),
                _new(now.content, before.content),
                _new(now.locations, before.locations),
                _new(now.raw_input, before.raw_input),
            )

    def _used(self, payload: TurnCompleted) -> Update:
        run = self.drawing.run
        spent = Cost((run.prior_cost_micros_usd + run.cost_micros_usd) / _MICROS)
        return Used(payload.input_tokens + payload.output_tokens, 0, spent)

    def _locations(self, given: dict[str, object] | None, diffs: list[Content | Diff]) -> list[Location]:
        named = locations_of(given or {}, self._root)
        written = dict.fromkeys(one.path for one in diffs if isinstance(one, Diff))
        return [*named, *(Location(path) for path in written if path not in {one.path for one in named})]

    # Names

    def _place(self, block: Block) -> str:
        """What no other block of any run is called."""
        return f"{self.drawing.run_id}:{block.sequence}"


def _new(now: _T, before: _T) -> _T | UnsetType:
    return UNSET if now == before else now


def _planned(status: str) -> _PlanStatus:
    match status:
        case "pending" | "in_progress" | "completed":
            return status
        case _:
            return "pending"


def _read(envelope: bytes) -> Payload | Opaque | None:
    """What an event says, of those where the block does not say enough."""
    told = type_of(envelope)
    try:
        return decode_payload(told, data_of(envelope)) if told in _OF_INTEREST else None
    except MalformedPayload:
        return None
