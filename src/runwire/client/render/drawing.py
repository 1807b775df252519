"""From events to blocks: takes stored envelopes one by one and keeps what a person sees of them."""

from collections.abc import Callable, Mapping

from msgspec import UNSET, UnsetType

from runwire.client.render.blocks import (
    Approval,
    Block,
    Edit,
    End,
    EndState,
    Growing,
    Note,
    Opaque,
    Prose,
    Thinking,
    Todo,
    User,
)
from runwire.client.render.calls import CHANGES, Calls
from runwire.client.render.harmless import one_line
from runwire.client.render.notes import remark_of
from runwire.clock import parse_rfc3339
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events import (
    approval,
    assistant,
    experimental,
    run,
    todo,
    turn,
)
from runwire.protocol.events import user as users
from runwire.protocol.payload import MalformedPayload, Payload
from runwire.protocol.state import pane as panes
from runwire.protocol.state import run as states

_OPAQUE_CHARS = 4096


class Drawing(Calls):
    """A run as blocks, in the order in which they began. What it keeps grows with what was said, not with how often."""

    def __init__(self) -> None:
        super().__init__()
        self.run = states.RunState()
        """Status, turns, tokens, cost, budget, open approvals."""
        self.pane = panes.PaneState()
        """What the agent does now, in `doing`."""
        self.run_id = ""
        self.todo: Todo | None = None
        self._prose: dict[tuple[type, int, int], Prose] = {}
        self._approvals: dict[str, Approval] = {}
        self._told_turn = -1
        self._failure = ""

    @property
    def pending(self) -> list[Approval]:
        """The questions that nobody has answered, the oldest first."""
        return [asked for asked in self._approvals.values() if asked.state == "pending"]

    @property
    def end(self) -> End | None:
        """How the run ended, once it has; what is settled later follows it."""
        return next((block for block in reversed(self.blocks) if isinstance(block, End)), None)

    def take(self, envelope: bytes) -> Block | None:
        """Take in the next event; the block that it made or changed, if it did. A line that is none is MalformedEnvelope."""
        told = decode_envelope(envelope)
        self.run_id, self.head = told.run_id, told.sequence
        self.head_ns = _moment(told.occurred_at, self.head_ns)
        try:
            payload = decode_payload(told.type, told.data)
        except MalformedPayload:
            return self._opaque(told.type, bytes(told.data))
        if not isinstance(payload, Payload):
            return self._opaque(told.type, bytes(told.data))
        self.run = states.fold(self.run, payload, self.head_ns)
        self.pane = panes.fold(self.pane, payload, self.head_ns)
        return self._draw(payload)

    def show_diff(self, artifact_ids: tuple[str, ...], diff: str) -> Edit | None:
        """Put the fetched diff of these patches into their edit."""
        found = self._edits.get(artifact_ids[0]) if artifact_ids else None
        if found is not None:
            found.diff = diff
            found.revision += 1
        return found

    def _draw(self, payload: Payload) -> Block | None:
        change = _CHANGES.get(type(payload))
        block = None if change is None else change(self, payload)
        remark = remark_of(payload)
        if remark is not None:
            level, text = remark
            return self._make(Note, level=level, text=one_line(text))
        if block is not None:
            block.revision += 1
        return block

    def _opaque(self, event_type: str, data: bytes) -> Opaque:
        text = data[: 4 * _OPAQUE_CHARS].decode("utf-8", "ignore")[:_OPAQUE_CHARS]
        return self._make(Opaque, type=event_type, data=text, size_bytes=len(data))

    # What is said

    def _said(self, payload: assistant.AssistantTextDelta | experimental.AssistantThinkingDelta) -> Block | None:
        kind = Prose if isinstance(payload, assistant.AssistantTextDelta) else Thinking
        key = (kind, payload.turn_index, payload.block_index)
        block = self._prose.get(key)
        if block is None:
            if not payload.delta:
                return None
            block = self._prose[key] = self._make(kind, body=Growing(), turn_index=payload.turn_index, open=True)
        block.body.add(payload.delta)
        self._told_turn = payload.turn_index
        return block

    def _said_all(
        self, payload: assistant.AssistantTextComplete | experimental.AssistantThinkingComplete
    ) -> Block | None:
        kind = Prose if isinstance(payload, assistant.AssistantTextComplete) else Thinking
        block = self._prose.pop((kind, payload.turn_index, payload.block_index), None)
        if block is None:
            if not payload.text:
                return None
            block = self._make(kind, body=Growing(), turn_index=payload.turn_index)
        block.body = Growing(payload.text)
        block.open = False
        self._told_turn = payload.turn_index
        return block

    def _answered(self, payload: assistant.AssistantFinalAnswer) -> Block | None:
        # An agent that streams has said it already; of one that does not, this is all there is.
        if payload.turn_index == self._told_turn or not payload.summary:
            return None
        return self._make(Prose, body=Growing(payload.summary), turn_index=payload.turn_index)

    def _turn_failed(self, payload: turn.TurnFailed) -> Block | None:
        self._break_off()
        what = one_line(f"the turn failed: {payload.code}: {payload.message}")
        if not payload.will_retry:
            # This ends the run as a rule, and its end says why.
            self._failure = what
            return None
        last = self.blocks[-1] if self.blocks else None
        if isinstance(last, Note) and one_line(payload.message) in last.text:
            return None
        return self._make(Note, level="warning", text=f"{what}; it is tried again")

    def _turn_started(self, _: turn.TurnStarted) -> Block | None:
        # The run goes on all the same, so no end of it will say what went wrong.
        failure, self._failure = self._failure, ""
        return self._make(Note, level="error", text=failure) if failure else None

    def _break_off(self) -> None:
        for block in self._prose.values():
            block.open, block.broken = False, True
            block.revision += 1
        self._prose.clear()

    def _heard(self, payload: users.UserMessage) -> Block:
        return self._make(User, text=payload.text, by=payload.by or "")

    # Decisions

    def _asked(self, payload: approval.ApprovalRequested) -> Block:
        block = self._approvals[payload.approval_id] = self._make(
            Approval,
            approval_id=payload.approval_id,
            call_id=payload.tool_call_id,
            kind=payload.kind,
            summary=payload.summary,
            reason=payload.policy_reason,
            input=None if isinstance(payload.input, UnsetType) else payload.input,
            effects=() if isinstance(payload.effects, UnsetType) else tuple(payload.effects),
            expires_at=payload.expires_at or None,
            open=True,
        )
        call = self._tools.get(payload.tool_call_id or "")
        if call is not None and call.open:
            call.approval = block
        return block

    def _resolved(self, payload: approval.ApprovalResolved) -> Block | None:
        block = self._approvals.pop(payload.approval_id, None)
        if block is not None:
            self._tell_by_call(block)
            block.state, block.open, block.by, block.comment = payload.decision, False, payload.by, payload.comment
            block.scope, block.edited = payload.scope or "", payload.edited_input is not UNSET
        return block

    def _expired(self, payload: approval.ApprovalTimedOut) -> Block | None:
        block = self._approvals.pop(payload.approval_id, None)
        if block is not None:
            self._tell_by_call(block)
            block.state, block.open = "timed_out", False
            block.comment = f"nobody decided in {payload.after_seconds} s"
        return block

    def _tell_by_call(self, block: Approval) -> None:
        call = self._tools.get(block.call_id or "")
        if call is not None and call.approval is block:
            block.told = True
            call.revision += 1

    # The run

    def _listed(self, payload: todo.TodoWriteUpdated) -> Block:
        items = tuple((one_line(one.content), one.status) for one in payload.todos)
        if payload.tool_call_id in self._tools:
            self._tools[payload.tool_call_id].told = True
        if self.todo is None:
            self.todo = self._make(Todo, items=items, open=True)
        self.todo.items = items
        return self.todo

    def _finished(self, payload: run.RunFinished) -> Block:
        return self._over("completed", "", payload)

    def _failed(self, payload: run.RunFailed) -> Block:
        return self._over("failed", f"{payload.code}: {payload.message}", payload)

    def _cancelled(self, payload: run.RunCancelled) -> Block:
        return self._over("cancelled", f"by {payload.by}" + (f": {payload.reason}" if payload.reason else ""), payload)

    def _over(self, state: EndState, text: str, payload: run.RunFinished | run.RunFailed | run.RunCancelled) -> Block:
        self._break_off()
        for block in self.blocks:
            # Of a log that was cut, calls and questions may be open; nothing will come of them now.
            block.open = block.open and isinstance(block, Edit | Approval)
        self._tools.clear()
        return self._make(
            End,
            state=state,
            text=one_line(text),
            turns=None if payload.turns is UNSET else payload.turns,
            cost_micros_usd=None if payload.cost_micros_usd is UNSET else payload.cost_micros_usd,
            duration_ms=None if payload.duration_ms is UNSET else payload.duration_ms,
        )


def _moment(text: str, before: int) -> int:
    try:
        return parse_rfc3339(text)
    except ValueError:
        return before


_CHANGES: Mapping[type, Callable[..., Block | None]] = {
    **CHANGES,
    assistant.AssistantTextDelta: Drawing._said,
    assistant.AssistantTextComplete: Drawing._said_all,
    experimental.AssistantThinkingDelta: Drawing._said,
    experimental.AssistantThinkingComplete: Drawing._said_all,
    assistant.AssistantFinalAnswer: Drawing._answered,
    turn.TurnStarted: Drawing._turn_started,
    turn.TurnFailed: Drawing._turn_failed,
    users.UserMessage: Drawing._heard,
    approval.ApprovalRequested: Drawing._asked,
    approval.ApprovalResolved: Drawing._resolved,
    approval.ApprovalTimedOut: Drawing._expired,
    todo.TodoWriteUpdated: Drawing._listed,
    run.RunFinished: Drawing._finished,
    run.RunFailed: Drawing._failed,
    run.RunCancelled: Drawing._cancelled,
}
