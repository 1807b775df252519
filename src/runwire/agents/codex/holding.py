"""Calls that Codex has shown and may still ask about: they are proposed, and at work only when that is certain."""

from dataclasses import dataclass

from runwire.agents.codex import items
from runwire.agents.codex.frames import ApprovalAsked, RequestId
from runwire.agents.codex.items import AppItem
from runwire.agents.dialect import Question
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, line
from runwire.host import Answer, Effects

_COMMAND: Effects = frozenset({"executes"})
_PATCH: Effects = frozenset({"writes"})


@dataclass(slots=True)
class _Held:
    call: ToolCall
    item: AppItem
    question_id: str | None = None
    is_resolved: bool = False
    denied: Answer | None = None


class Holding:
    """Keeps the calls that wait, and tells of each how it went on: it began, or it was refused."""

    def __init__(self, teller: Teller) -> None:
        """Tell of calls."""
        self._teller = teller
        self._held: dict[str, _Held] = {}
        self._refused: dict[str, int] = {}
        self._asked: dict[str, RequestId] = {}

    def call_id(self, item_id: str) -> str:
        """What a call is known by. One that was refused is over; the same id names another one after it."""
        again = self._refused.get(item_id, 0)
        return item_id if not again else f"{item_id}~{again + 1}"

    def hold(self, item: AppItem) -> None:
        """The model wants it; whether it may be done is not known yet."""
        call = items.call_of(item, self.call_id(item.id))
        self._teller.proposes(call)
        if not self._teller.is_late:
            self._held[item.id] = _Held(call, item)

    def ask(self, request_id: RequestId, asked: ApprovalAsked, *, is_patch: bool) -> None:
        """The server waits for a decision about a call, which may be one that nobody knows of."""
        question_id = str(request_id)
        held = self._held.get(asked.item_id)
        if held is not None:
            held.question_id = question_id
        self._asked[question_id] = request_id
        call = held.call if held is not None else self._teller.tools.call(self.call_id(asked.item_id))
        item = held.item if held is not None else None
        self._teller.asks(_question(question_id, asked, item, call, is_patch=is_patch))

    def take(self, question_id: str) -> RequestId | None:
        """What the server calls a question that is to be answered now; None when it waits for no answer."""
        return self._asked.pop(question_id, None)

    def resolved(self, request_id: RequestId) -> None:
        """Somebody has decided. How, the server does not say: what follows shows it."""
        question_id = str(request_id)
        self._asked.pop(question_id, None)
        held = self._by_question(question_id)
        if held is not None:
            held.is_resolved = True
            self._teller.questions.go_on(question_id)
        elif self._teller.questions.get(question_id) is not None:
            self._teller.answered(question_id, allowed=True, comment="the agent went on")

    def decided(self, question_id: str, answer: Answer) -> None:
        """We have decided. What was refused is told as that when the server says so too."""
        self._teller.answered(question_id, allowed=answer.allowed)
        held = self._by_question(question_id)
        if held is not None and answer.allowed:
            self._begin(held)
        elif held is not None:
            held.denied = answer

    def go_on(self, *, waits: bool) -> None:
        """The server has gone on to something else; `waits` says that it still may wait for decisions."""
        for held in list(self._held.values()):
            is_allowed = held.is_resolved and held.denied is None and not waits
            if held.question_id is None or is_allowed:
                self._begin(held)

    def begin(self, item: AppItem) -> str:
        """The call is at work for certain, held or not; the id that it is told by."""
        held = self._held.get(item.id)
        if held is not None:
            self._begin(held)
            return held.call.call_id
        call_id = self.call_id(item.id)
        if not self._teller.tools.is_open(call_id):
            self._teller.tool_begins(items.call_of(item, call_id))
        return call_id

    def release(self, item_id: str) -> None:
        """Something was heard of the call that only one at work can tell."""
        if item_id in self._held:
            self._begin(self._held[item_id])

    def refuse(self, item: AppItem, reason: str) -> bool:
        """The call was refused before it began; False when it had begun."""
        held = self._held.pop(item.id, None)
        call = held.call if held is not None else items.call_of(item, self.call_id(item.id))
        if self._teller.tools.is_open(call.call_id):
            return False
        if held is not None and held.question_id is not None:
            self._teller.answered(held.question_id, allowed=False)
        denied = held.denied if held is not None else None
        if denied is None:
            self._teller.tool_blocked(call, reason)
        else:
            self._teller.tool_blocked(call, denied.told or reason, denied.policy_id or "agent")
        self._refused[item.id] = self._refused.get(item.id, 0) + 1
        return True

    def forget(self) -> None:
        """The turn is over: what waits will not begin."""
        self._held.clear()
        self._asked.clear()

    def _begin(self, held: _Held) -> None:
        self._held.pop(held.item.id, None)
        if held.question_id is not None:
            self._teller.answered(held.question_id, allowed=True)
        self._teller.tool_begins(held.call)

    def _by_question(self, question_id: str) -> _Held | None:
        return next((held for held in self._held.values() if held.question_id == question_id), None)


def _question(
    question_id: str, asked: ApprovalAsked, item: AppItem | None, call: ToolCall | None, *, is_patch: bool
) -> Question:
    command = asked.command or (item.command if item is not None else None) or ""
    paths = items.paths_of(item) if item is not None else []
    if asked.grant_root:
        paths = [*paths, asked.grant_root]
    what = f"change {', '.join(paths)}" if is_patch else command
    given = call.input if call is not None else ({} if is_patch else {"command": command})
    return Question(
        question_id=question_id,
        tool_call_id=call.call_id if call is not None else None,
        tool_name="apply_patch" if is_patch else "shell",
        tool_kind="edit" if is_patch else "shell",
        summary=line(what) or "do something that it does not name",
        reason=asked.reason or "Codex asks before it does this",
        input=given,
        effects=_PATCH if is_patch else _COMMAND,
        paths=paths,
        argv_text=None if is_patch else items.script_of(command),
        fixed=True,
    )
