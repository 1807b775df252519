"""The questions of pi's extensions: pi itself never asks, but an extension may, mostly about the call that has just begun."""

from runwire.agents.dialect import Question
from runwire.agents.pi import lines as wire
from runwire.agents.pi.tooling import effects_of, paths_of
from runwire.agents.telling import Teller
from runwire.agents.tools import ToolCall, line
from runwire.host import Answer

ASKS = frozenset({"confirm", "select", "input", "editor"})
"""What an extension waits for."""
SHOWS = frozenset({"notify", "setStatus", "setTitle", "setWidget", "setEditorText", "set_editor_text"})
"""What it only shows."""

_EXTENSION = "extension"
_UNSEEN = "the agent went on; the stream does not show the answer"


class Asking:
    """Keeps what extensions ask. The stream shows no answers: they follow from what becomes of the call."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._methods: dict[str, str] = {}
        self.called: str | None = None
        """The call that began last."""

    def ask(self, message: wire.ExtensionUi) -> None:
        """An extension waits for an answer."""
        tools = self._teller.tools
        call = tools.call(self.called) if self.called is not None and tools.is_open(self.called) else None
        self._methods[message.id] = message.method
        self._teller.asks(question_of(message, call))

    def decided(self, call_id: str, *, allowed: bool, comment: str = "") -> None:
        """A call went on, or not: whatever was asked about it has been answered."""
        question = self._teller.questions.of_call(call_id)
        if question is not None:
            self._settle(question.question_id, allowed=allowed, comment=comment)

    def passed(self) -> None:
        """The agent goes on with something else: whatever was asked about no call has been answered."""
        questions = self._teller.questions
        for question_id in questions.open:
            question = questions.get(question_id)
            if question is not None and question.tool_call_id is None:
                self._settle(question_id, allowed=True, comment=_UNSEEN)

    def response(self, question_id: str, answer: Answer) -> dict[str, object] | None:
        """What is to be sent for an answer of ours; nothing if the question is not open any more."""
        question = self._teller.questions.get(question_id)
        if question is None:
            return None
        method = self._methods.get(question_id, "confirm")
        self._settle(question_id, allowed=answer.allowed, comment=answer.told)
        return response_to(method, question, answer)

    def close(self) -> list[dict[str, object]]:
        """Nobody will answer what is open: what is to be sent, so that no extension waits for ever."""
        closing = [closed(question_id) for question_id in self._teller.questions.open]
        for question_id in self._teller.questions.open:
            self._settle(question_id, allowed=False, comment="")
        return closing

    def _settle(self, question_id: str, *, allowed: bool, comment: str) -> None:
        self._methods.pop(question_id, None)
        self._teller.answered(question_id, allowed=allowed, comment=comment)


def question_of(message: wire.ExtensionUi, call: ToolCall | None) -> Question:
    """What an extension asks, about a call if one is at work."""
    if message.method != "confirm":
        return _for_a_person(message, call)
    title = message.title or "an extension asks"
    if call is None:
        return Question(
            question_id=message.id,
            tool_name=_EXTENSION,
            tool_kind="tool",
            summary=line(message.message or title),
            reason=title,
            input={"title": message.title, "message": message.message},
            fixed=True,
        )
    command = call.input.get("command")
    return Question(
        question_id=message.id,
        tool_call_id=call.call_id,
        tool_name=call.name,
        tool_kind=call.kind,
        summary=line(message.message or title),
        reason=title,
        input=call.input,
        effects=effects_of(call),
        paths=paths_of(call),
        argv_text=command if call.kind == "shell" and isinstance(command, str) else None,
        fixed=True,
    )


def _for_a_person(message: wire.ExtensionUi, call: ToolCall | None) -> Question:
    asked: dict[str, object] = {"title": message.title}
    if message.options:
        asked["options"] = message.options
    if message.placeholder:
        asked["placeholder"] = message.placeholder
    if message.prefill:
        asked["value"] = message.prefill
    return Question(
        question_id=message.id,
        kind="choice" if message.method == "select" else "input",
        tool_call_id=call.call_id if call is not None else None,
        tool_name=_EXTENSION,
        tool_kind="tool",
        summary=line(message.title or message.message or "an extension asks"),
        reason=message.title or "an extension asks",
        input=asked,
        choices=tuple(message.options),
    )


def response_to(method: str, question: Question, answer: Answer) -> dict[str, object]:
    """What pi is told. What nobody chose is left to the extension: it is told that the question was closed."""
    response: dict[str, object] = {"type": "extension_ui_response", "id": question.question_id}
    if method == "confirm":
        return {**response, "confirmed": answer.allowed}
    value = answer.input.get("value") if answer.edited or method == "editor" else None
    if not answer.allowed or not isinstance(value, str):
        return closed(question.question_id)
    return {**response, "value": value}


def closed(question_id: str) -> dict[str, object]:
    """Tell pi that nobody answers."""
    return {"type": "extension_ui_response", "id": question_id, "cancelled": True}
