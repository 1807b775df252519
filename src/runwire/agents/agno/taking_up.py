"""What a run's own log says to who takes it up after its worker was lost."""

from collections.abc import Iterable, Sequence

import msgspec

from runwire.agents.dialect import Question
from runwire.host import Past
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.external import external
from runwire.protocol.events.tool import ToolInvoked
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque

_TOLD = "external.agno.continued"


class _Told(msgspec.Struct):
    decided: list[str]


def told_to_go_on(questions: Iterable[Question]) -> Opaque:
    """The event that the server is told what was decided about these. It is stored before that is done."""
    return external(_TOLD, msgspec.json.encode(_Told([name_of(question) for question in questions])))


def name_of(question: Question) -> str:
    """What approvals call the thing that a question is about."""
    return question.tool_call_id or question.question_id


def said_later(past: Sequence[Past], run_id: str) -> int:
    """How many messages a run was sent after its prompt."""
    said = sum(1 for one in past if one.run_id == run_id and isinstance(one.payload, UserMessage))
    return max(0, said - 1)


def begun(past: Sequence[Past], run_id: str) -> frozenset[str]:
    """What the server was told the decision about, or may have been, since that was last asked for.

    What came of it does not count: a server that is started again forgets what it did, and waits once more.
    """
    found: set[str] = set()
    for one in past:
        if one.run_id != run_id:
            continue
        match one.payload:
            case ToolInvoked(tool_call_id=call_id):
                found.add(call_id)
            case Opaque(type=kind, data=data) if kind == _TOLD:
                found.update(_decided(data))
            case ApprovalRequested(tool_call_id=str(name)):
                found.discard(name)
            case _:
                pass
    return frozenset(found)


def _decided(data: msgspec.Raw) -> Sequence[str]:
    try:
        return msgspec.json.decode(data, type=_Told).decided
    except msgspec.DecodeError:
        # Somebody else's: such events may be appended from outside.
        return ()
