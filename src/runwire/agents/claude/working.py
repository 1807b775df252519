"""The calls of Claude Code at work: when each is told as begun, as refused, as ended."""

from collections.abc import Mapping

from runwire.agents.claude import lines as wire
from runwire.agents.claude.calls import Returned, call_of, ending_of, printed, question_of, todos_of, updated_input
from runwire.agents.dialect import Body, Cancelled, Question
from runwire.agents.telling import Teller
from runwire.agents.tools import OPEN_MAX, ToolCall, ToolEnding
from runwire.host import Answer

AT_ONCE = frozenset({"shell", "agent", "mcp", "web", "tool"})
"""Kinds that may take long: they are told as begun with the end of the message. The others wait for their result."""
_DENIED = "The user does not allow this."


class Work:
    """Keeps the calls of a prompt."""

    def __init__(self, teller: Teller) -> None:
        """Tell of calls."""
        self._teller = teller
        self.cwd: str | None = None
        self.now_ns = 0
        self._proposed_ns: dict[str, int] = {}
        self._withdrawn: set[str] = set()

    def leg_begins(self) -> None:
        """Another prompt: the calls of the last one are over."""
        self._proposed_ns.clear()
        self._withdrawn.clear()

    def propose(self, block: wire.Block) -> None:
        """The model asks for a call."""
        if len(self._proposed_ns) >= OPEN_MAX:
            self._proposed_ns.pop(next(iter(self._proposed_ns)))
        self._proposed_ns[block.id] = self.now_ns
        self._teller.proposes(self._call(block.id, block.name, block.input or {}))

    def begin_waiting(self, kinds: frozenset[str] | None = None) -> None:
        """The calls that were asked for, and that nobody has to decide about, are at work."""
        for call in self._teller.tools.waiting:
            is_asked = call.call_id in self._withdrawn or self._teller.questions.of_call(call.call_id) is not None
            if not is_asked and (kinds is None or call.kind in kinds):
                self._begin(call)

    def goes_on(self, call_id: str) -> None:
        """Something comes of a call, so it is at work."""
        call = self._teller.tools.call(call_id)
        if call is not None and self._teller.questions.of_call(call_id) is None:
            self._begin(call)

    def refuse(self, call_id: str, reason: str, name: str = "", policy_id: str = "agent") -> None:
        """A call is not to be made."""
        tools = self._teller.tools
        if tools.is_open(call_id):
            self._teller.tool_ends(call_id, ToolEnding(outcome="failed", code="denied", message=reason))
        else:
            self._teller.tool_blocked(tools.call(call_id) or self._call(call_id, name, {}), reason, policy_id)

    def end(self, call_id: str, found: Returned) -> None:
        """A call has returned."""
        teller = self._teller
        asked = teller.questions.of_call(call_id)
        if asked is not None:
            comment = "" if found.was_allowed else found.text
            teller.answered(asked.question_id, allowed=found.was_allowed, comment=comment)
        was_refused = found.never_ran or call_id in self._withdrawn or (asked is not None and not found.was_allowed)
        if was_refused and not teller.tools.is_open(call_id):
            self.refuse(call_id, found.text or "it was refused")
            return
        call = teller.tools.call(call_id) or self._call(call_id, "", {})
        proposed_ns = self._proposed_ns.pop(call_id, None)
        # What began unseen and was not asked about has been at work since it was asked for.
        is_unseen = asked is None and proposed_ns is not None and not teller.tools.is_open(call_id)
        self._begin(call)
        self._show(call, found)
        teller.tool_ends(call_id, self._ending(call, found, proposed_ns if is_unseen else None))

    def _begin(self, call: ToolCall) -> None:
        tools = self._teller.tools
        if tools.is_open(call.call_id):
            return
        self._teller.tool_begins(call)
        todos = todos_of(call)
        if todos is not None and tools.is_open(call.call_id):
            self._teller.say(todos)

    def _show(self, call: ToolCall, found: Returned) -> None:
        said = printed(found) if call.kind == "shell" else None
        if said is not None:
            self._teller.tool_prints(call.call_id, said.stdout)
            self._teller.tool_prints(call.call_id, said.stderr, "stderr")
        for image in found.images:
            body = Body(mime=image.media_type, base64=image.data, tool_call_id=call.call_id, summary="a picture")
            self._teller.say(body)

    def _ending(self, call: ToolCall, found: Returned, since_ns: int | None) -> ToolEnding:
        said = printed(found) if call.kind == "shell" else None
        is_stopped = found.was_stopped or (said is not None and said.interrupted)
        cancelled = self._teller.cancelling or (Cancelled() if is_stopped else None)
        if cancelled is not None and (is_stopped or found.is_error):
            return ToolEnding(outcome="cancelled", by=cancelled.by, message=cancelled.reason)
        duration_ms = None if since_ns is None else max(0, self.now_ns - since_ns) // 1_000_000
        return ending_of(call, found, duration_ms)

    def _call(self, call_id: str, name: str, given: Mapping[str, object]) -> ToolCall:
        return call_of(call_id, name, given, self.cwd)

    # Questions.

    def ask(self, request_id: str, request: wire.Request) -> None:
        """Claude Code waits for a decision about a call."""
        question = question_of(request_id, request)
        call_id = question.tool_call_id
        if call_id is not None and self._teller.tools.call(call_id) is None:
            self._teller.proposes(self._call(call_id, question.tool_name, question.input))
        self._teller.asks(question)

    def withdraw(self, request_id: str) -> None:
        """It waits no longer: the call is not made."""
        question = self._teller.answered(request_id, allowed=False, by="system", comment="it was withdrawn")
        if question is not None and question.tool_call_id is not None:
            self._withdrawn.add(question.tool_call_id)

    def decide(self, question: Question, answer: Answer) -> dict[str, object]:
        """What to answer; the call is told as begun, or as refused."""
        call_id = question.tool_call_id
        if not answer.allowed:
            told = answer.told or _DENIED
            if call_id is not None:
                self.refuse(call_id, told, question.tool_name, answer.policy_id or "agent")
            return {"behavior": "deny", "message": told, "interrupt": answer.stop}
        given = updated_input(question, answer.input, edited=answer.edited)
        if call_id is not None:
            self._begin(self._call(call_id, question.tool_name, given))
        return {"behavior": "allow", "updatedInput": given}
