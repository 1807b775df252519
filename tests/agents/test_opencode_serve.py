"""opencode: what the events of `opencode serve` are taken for."""

import json
from collections.abc import Sequence

import pytest

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Cancelled, Seen, Telling
from runwire.agents.opencode.serve import ServeDialect
from runwire.host import Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.events.tool import ToolCompleted, ToolInvoked
from runwire.protocol.events.user import UserMessage
from tests.agents.opencode_streams import (
    IDLE,
    KILLED,
    PERMISSION,
    START,
    Frame,
    asks,
    event,
    part_event,
    says,
    told_of,
    tool_event,
)
from tests.agents.transcripts import kept, watched


def test_an_output_that_is_shown_again_and_again_is_printed_once() -> None:
    items, _ = told_of(
        *asks(),
        part_event("p-start", "step-start"),
        tool_event("pending", input={}),
        tool_event("running"),
        tool_event("running", metadata={"output": ""}),
        tool_event("running", metadata={"output": "1\n"}),
        tool_event("running", metadata={"output": "1\n2\n"}),
        tool_event("completed", output="1\n2\n3\n", metadata={"output": "1\n2\n3\n", "exit": 0}),
        tool_event("completed", output="1\n2\n3\n", metadata={"output": "1\n2\n3\n", "exit": 0}),
        IDLE,
    )
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == "1\n2\n3\n"
    assert len([item for item in items if isinstance(item, ToolInvoked)]) == 1


def test_what_comes_after_the_end_is_kept_and_changes_nothing() -> None:
    items, outcome = told_of(
        *asks(),
        part_event("p-start", "step-start"),
        event("message.part.delta", partID="p", messageID="m", field="text", delta="half"),
        event("session.error", error={"name": "MessageAbortedError", "data": {"message": "Aborted"}}),
        event("session.status", status={"type": "idle"}),
        IDLE,
        part_event("p", "text", text="half", time={"start": 1, "end": 2}),
        event("message.updated", info={"id": "m", "role": "assistant"}),
        IDLE,
        end=KILLED,
    )
    assert outcome == Cancelled()
    assert [item.text for item in items if isinstance(item, AssistantTextComplete)] == ["half"]
    assert len([item for item in items if isinstance(item, AgentUnparsed)]) == 1


def test_a_helpers_session_neither_speaks_for_ours_nor_ends_it() -> None:
    def helper(kind: str, **properties: object) -> Frame:
        return {"type": kind, "properties": {"sessionID": "h", **properties}}

    items, outcome = told_of(
        event("session.created", info={"id": "s"}),
        *asks(),
        part_event("p-start", "step-start"),
        helper("session.created", info={"id": "h", "parentID": "s"}),
        helper("message.updated", info={"id": "hu", "role": "user"}),
        helper("message.part.delta", partID="hp", messageID="hm", field="text", delta="not ours"),
        helper("session.error", error={"name": "APIError", "data": {"message": "not ours"}}),
        helper("session.idle"),
        *says("ours"),
        part_event("p-end", "step-finish", reason="stop"),
        IDLE,
    )
    assert outcome == Finished("ours")
    assert [item.text for item in items if isinstance(item, AssistantTextComplete)] == ["ours"]
    assert not [item for item in items if isinstance(item, ErrorUpstream)]


def test_a_helper_that_was_heard_first_is_not_taken_for_ours() -> None:
    items, outcome = told_of(
        {"type": "session.created", "properties": {"sessionID": "h", "info": {"id": "h", "parentID": "s"}}},
        {"type": "session.idle", "properties": {"sessionID": "h"}},
        *asks(),
        *says("ours"),
        IDLE,
    )
    assert outcome == Finished("ours")
    assert [item.text for item in items if isinstance(item, UserMessage)] == ["do it"]


def test_a_named_session_is_ours_whatever_comes_first() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True, session={"session": "s"}))
    other = {"type": "message.updated", "properties": {"sessionID": "other", "info": {"id": "x", "role": "user"}}}
    for frame in (other, {"type": "session.idle", "properties": {"sessionID": "other"}}, *asks(), *says("x"), IDLE):
        dialect.feed(json.dumps(frame).encode(), 0)
    assert dialect.teller.outcome == Finished("x")


def test_an_idle_session_that_was_asked_for_nothing_has_not_ended() -> None:
    items, outcome = told_of(event("session.created", info={"id": "s"}), IDLE, *asks(), *says("x"), IDLE)
    assert outcome == Finished("x")
    assert not [item for item in items if isinstance(item, AgentUnparsed)]


def test_another_prompt_is_another_leg() -> None:
    items, outcome = told_of(
        *asks("one", "u1"), *says("first", "a"), IDLE, *asks("two", "u2"), *says("second", "b"), IDLE
    )
    assert [item.text for item in items if isinstance(item, UserMessage)] == ["one", "two"]
    assert outcome == Finished("second")


def test_a_retry_is_told_and_is_no_failure() -> None:
    items, outcome = told_of(
        *asks(),
        event("session.status", status={"type": "retry", "attempt": 3, "message": "later"}),
        *says("x"),
        IDLE,
    )
    assert [(item.retriable, item.attempt) for item in items if isinstance(item, ErrorUpstream)] == [(True, 3)]
    assert isinstance(outcome, Finished)


_SERVE_NAMES: list[tuple[Frame, tuple[str, ...]]] = [
    ({"type": "server.connected", "properties": {}}, ()),
    ({"type": "plugin.added", "properties": {"id": "x"}}, ()),
    (asks()[0], ()),
    (asks()[1], ()),
    (part_event("p1", "step-start"), ("turn_start",)),
    (tool_event("pending"), ()),
    (tool_event("running"), ("tool_execution_start",)),
    (tool_event("running", metadata={"output": "x"}), ("tool_execution_update",)),
    (tool_event("completed", metadata={"output": "x"}), ("tool_execution_end",)),
    (says("x")[0], ("message_start",)),
    (says("x")[1], ("message_update",)),
    (says("x")[2], ("message_end",)),
    (part_event("p2", "step-finish", reason="stop"), ("turn_end",)),
    (PERMISSION, ()),
    (event("permission.replied", requestID="per", reply="once"), ()),
    (event("session.status", status={"type": "retry"}), ()),
    (event("session.error", error={"name": "APIError"}), ("error",)),
    (IDLE, ("agent_end",)),
]


def test_the_events_of_the_server_have_their_canonical_names() -> None:
    dialect = ServeDialect(Telling(agent="opencode"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _ in _SERVE_NAMES]
    assert seen == [Seen(str(frame["type"]), names) for frame, names in _SERVE_NAMES]


def test_an_event_that_nobody_knows_is_kept() -> None:
    items, _ = told_of(event("server.connected"), event("weather.changed"))
    assert len([item for item in items if isinstance(item, AgentUnparsed)]) == 1


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (START, ("turn_start",)),
        (event("session.error", error={"name": "APIError"}), ("error",)),
    ],
)
def test_a_stream_is_known_by_its_first_frame(frame: Frame, names: Sequence[str]) -> None:
    dialect = make_dialect("opencode", Telling(agent="opencode"))
    assert dialect.feed(json.dumps(frame).encode(), 0).names == names


def test_a_stream_of_acp_is_read_as_that() -> None:
    dialect = make_dialect("opencode", Telling(agent="opencode"))
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    frame = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    assert dialect.feed(json.dumps(frame).encode(), 0).names == ("message_update",)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (part_event("p9", "brand-new"), "no part is called 'brand-new'"),
        (tool_event("brand_new"), "no status of a call is called 'brand_new'"),
        (event("session.brand_new"), "no event is called 'session.brand_new'"),
        (event("message.brand_new"), "no event is called 'message.brand_new'"),
        (event("session.status", status={"type": "brand_new"}), "no status of a session is called 'brand_new'"),
        (event("message.updated", info={"id": "m9", "role": "brand_new"}), "no role is called 'brand_new'"),
        (event("message.part.delta", field="brand_new", delta="x"), "no field of a part is called 'brand_new'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(frame: Frame, why: str) -> None:
    items, _ = told_of(*asks(), frame, IDLE)
    assert kept(items) == [why]
    assert not [item for item in items if isinstance(item, ToolCompleted)]


@pytest.mark.parametrize(
    "frame",
    [
        event("session.diff"),
        event("plugin.added"),
        event("file.edited"),
        part_event("p9", "patch"),
        tool_event("pending"),
    ],
)
def test_what_tells_nothing_is_passed_over(frame: Frame) -> None:
    items, _ = told_of(*asks(), frame, IDLE)
    assert kept(items) == []


def test_a_session_ends_once_in_the_pane_however_often_it_is_idle() -> None:
    frames = [IDLE, *asks(), part_event("p1", "step-start"), IDLE, IDLE, *asks("more", "u2"), IDLE]
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    names = [name for (name, _), frame in zip(watched("opencode", raw), frames, strict=True) if frame is IDLE]
    assert names == ["-", "agent_end", "-", "agent_end"]


def test_what_was_aborted_is_no_error_in_the_pane() -> None:
    aborted = event("session.error", error={"name": "MessageAbortedError"})
    frames = [*asks(), part_event("p1", "step-start"), aborted, IDLE]
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    assert watched("opencode", raw)[-2:] == [("-", "working"), ("agent_end", "done")]
