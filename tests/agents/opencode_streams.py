"""Frames of opencode, made by hand."""

import json

from runwire.agents.dialect import Item, Outcome, StreamEnd
from tests.agents.transcripts import breaches_of, items_of

Frame = dict[str, object]
OK = StreamEnd(exit_code=0)
KILLED = StreamEnd(exit_code=-15)


def told_of(*frames: Frame, end: StreamEnd = OK) -> tuple[list[Item], Outcome]:
    """What a stream tells, and how it ends."""
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    assert breaches_of("opencode", [raw]) == []
    return items_of("opencode", [raw], end)


START: Frame = {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}


def event(kind: str, **properties: object) -> Frame:
    """An event of the server's."""
    return {"id": "evt", "type": kind, "properties": {"sessionID": "s", **properties}}


def part_event(part_id: str, kind: str, **more: object) -> Frame:
    """A part of a message of the agent's."""
    return event("message.part.updated", part={"id": part_id, "messageID": "m", "type": kind, **more})


def asks(text: str = "do it", message: str = "u") -> list[Frame]:
    """A prompt, as the server tells of it."""
    part = {"id": f"p-{message}", "messageID": message, "type": "text", "text": text}
    return [
        event("message.updated", info={"id": message, "role": "user"}),
        event("message.part.updated", part=part),
    ]


def tool_event(status: str, **state: object) -> Frame:
    """A call of the shell's, in some state."""
    given = {"status": status, "input": {"command": "make"}, **state}
    return part_event("p-tool", "tool", tool="bash", callID="c", state=given)


def says(text: str, part_id: str = "p-text") -> list[Frame]:
    """A text that the agent writes."""
    return [
        part_event(part_id, "text", text="", time={"start": 1}),
        event("message.part.delta", partID=part_id, messageID="m", field="text", delta=text),
        part_event(part_id, "text", text=text, time={"start": 1, "end": 2}),
    ]


IDLE = event("session.idle")
PERMISSION = event(
    "permission.asked",
    id="per",
    permission="bash",
    patterns=["make"],
    metadata={"command": "make"},
    tool={"callID": "c"},
)
