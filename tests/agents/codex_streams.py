"""Frames of Codex, made by hand, and a speaker that hears them."""

import json
from collections.abc import Sequence

from runwire.agents.codex.speaking import CodexSpeaker
from runwire.agents.dialect import Item, Outcome, Reply, StreamEnd, Telling
from tests.agents.transcripts import breaches_of, items_of

Frame = dict[str, object]


def raw_of(frames: Sequence[Frame]) -> bytes:
    """The bytes of a stream."""
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)


def told_of(*frames: Frame, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    """What a stream tells, and how it ends."""
    raw = raw_of(frames)
    assert breaches_of("codex", [raw]) == []
    return items_of("codex", [raw], end)


def note(method: str, **params: object) -> Frame:
    """A notification of the server's."""
    return {"method": method, "params": {"threadId": "t", **params}}


def item_frame(stage: str, **item: object) -> Frame:
    """An item that begins or ends."""
    return note(f"item/{stage}", item={"id": "c1", **item})


def command_frame(stage: str, **more: object) -> Frame:
    """A command that begins or ends."""
    return item_frame(stage, type="commandExecution", command="/bin/bash -lc 'make'", cwd="/w", **more)


STARTED = note("turn/started", turn={"id": "u1", "status": "inProgress"})
COMPLETED = note("turn/completed", turn={"id": "u1", "status": "completed"})


def approval_frame(request_id: int = 0) -> Frame:
    """A question whether a command may run."""
    return {
        "id": request_id,
        "method": "item/commandExecution/requestApproval",
        "params": {"threadId": "t", "itemId": "c1", "command": "make", "reason": "it writes"},
    }


def new_speaker(**session: str) -> CodexSpeaker:
    """A speaker that drives a server."""
    return CodexSpeaker(Telling(agent="codex", driven=True, cwd="/workspace", session=session))


def is_ready(speaker: CodexSpeaker) -> bool:
    """Whether a prompt may be given."""
    return speaker.ready


def sent_by(speaker: CodexSpeaker) -> list[Frame]:
    """What was sent since it was last looked at."""
    return [json.loads(item.data) for item in speaker.teller.take() if isinstance(item, Reply)]


def hear(speaker: CodexSpeaker, *frames: Frame) -> None:
    """Let the speaker hear frames."""
    for frame in frames:
        speaker.feed(json.dumps(frame).encode(), 0)


def get_ready(speaker: CodexSpeaker) -> None:
    """Greet the server and begin a thread."""
    speaker.hello()
    hear(speaker, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "t"}, "approvalPolicy": "untrusted"}})
    speaker.teller.take()
