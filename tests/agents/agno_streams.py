"""Streams of an AgentOS, made by hand."""

import json

from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.agno.requests import Request, Target
from runwire.agents.dialect import Item, Outcome, Seen, Telling
from runwire.protocol.events.approval import ApprovalResolved
from runwire.protocol.payload import Opaque, Payload
from tests.agents.transcripts import breaches_of, items_of

RUN = "run-1"
Object = dict[str, object]


def event(name: str, run_id: str | None = RUN, **fields: object) -> Object:
    """One event."""
    return {"event": name, **({"run_id": run_id} if run_id else {}), **fields}


def new(name: str, run_id: str | None = RUN, **fields: object) -> Object:
    """One event of a release that tells of every call of its model."""
    return event(name, run_id) | {"nested_depth": 0} | fields


def sse(*events: Object) -> bytes:
    """Events as they are streamed."""
    return b"".join(
        f"event: {one['event']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode() for one in events
    )


def lines(*events: Object) -> bytes:
    """The same without the framing."""
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in events)


def tool(call_id: str = "t1", name: str = "create_document", **fields: object) -> Object:
    """A call, with every key that one has."""
    return {
        "tool_call_id": call_id,
        "tool_name": name,
        "tool_args": {"title": "A"},
        "tool_call_error": None,
        "result": None,
        "metrics": None,
        "child_run_id": None,
        "requires_confirmation": None,
        "confirmed": None,
        "confirmation_note": None,
        "requires_user_input": None,
        "user_input_schema": None,
        "answered": None,
        "external_execution_required": None,
        **fields,
    }


def paused(*tools: Object, name: str = "RunPaused", **fields: object) -> Object:
    """A pause for these calls; the ids of its requirements are `req-` and the call's."""
    requirements = [{"id": f"req-{one['tool_call_id']}", "tool_execution": one} for one in tools]
    told: Object = {"session_id": "s1", "content": "I need you.", "tools": list(tools), "requirements": requirements}
    return event(name) | told | fields


def heard(*events: Object, driven: bool = False) -> tuple[AgnoDialect, list[Item], list[Seen]]:
    """What a dialect makes of events, and how the pane shows them."""
    dialect = AgnoDialect(Telling(agent="agno", driven=driven))
    seen = [dialect.feed(json.dumps(one).encode(), 0, str(one.get("event", ""))) for one in events]
    return dialect, dialect.teller.take(), seen


def types(items: list[Item]) -> list[str]:
    """The types of what was told."""
    return [item.type for item in items if isinstance(item, (Payload, Opaque))]


AGENT = Target("agent", "spike")
CONFIRM = tool("t1", requires_confirmation=True)
FEEDBACK = tool(
    "t1",
    "ask_user",
    requires_user_input=True,
    user_feedback_schema=[
        {"question": "Colour?", "header": "C", "options": [{"label": "red"}, {"label": "blue"}], "multi_select": False}
    ],
)
INPUT = tool(
    "t1",
    "send_email",
    requires_user_input=True,
    user_input_schema=[{"name": "subject", "value": "Hi"}, {"name": "to", "value": None}],
)
EXTERNAL = tool("t1", "run_remote", external_execution_required=True)


def sent(request: Request, name: str) -> list[Object]:
    """What a request sends in a field of JSON."""
    found: list[Object] = json.loads(dict(request.form)[name])
    return found


STARTED = event("RunStarted", model="m", model_provider="p")
CONTINUED = event("RunContinued")
DONE = event("RunCompleted", content="done", metrics={"input_tokens": 10, "output_tokens": 2})


def told(*events: Object) -> tuple[list[Item], Outcome]:
    raw = sse(*events)
    assert breaches_of("agno", [raw]) == []
    return items_of("agno", [raw])


def of(kind: type, items: list[Item]) -> list[Item]:
    return [item for item in items if type(item) is kind]


def decisions(items: list[Item]) -> list[tuple[str, str, str]]:
    return [(one.approval_id, one.decision, one.by) for one in items if isinstance(one, ApprovalResolved)]
