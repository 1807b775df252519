"""Codex: what the stream of `codex app-server` is taken for."""

import json

import pytest

from runwire.agents.catalogue import make_dialect
from runwire.agents.codex.app_server import AppServerDialect
from runwire.agents.codex.items import missing
from runwire.agents.dialect import Cancelled, Seen, Telling
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCancelled
from runwire.protocol.events.turn import TurnCompleted
from tests.agents.codex_streams import (
    COMPLETED,
    STARTED,
    Frame,
    approval_frame,
    command_frame,
    item_frame,
    note,
    raw_of,
    told_of,
)
from tests.agents.transcripts import kept, watched


def test_what_the_pieces_of_an_output_leave_out_is_told_once() -> None:
    items, _ = told_of(
        STARTED,
        command_frame("started", processId="7"),
        note("item/commandExecution/outputDelta", itemId="c1", delta="line 2\n"),
        note("item/commandExecution/outputDelta", itemId="c1", delta="line 3\n"),
        command_frame("completed", status="completed", aggregatedOutput="line 1\nline 2\nline 3\n", exitCode=0),
        note("item/commandExecution/outputDelta", itemId="c1", delta="line 3\n"),
        COMPLETED,
    )
    printed = "".join(item.data for item in items if isinstance(item, ShellOutputChunk))
    assert sorted(printed.splitlines()) == ["line 1", "line 2", "line 3"]
    assert [item.stdout_bytes for item in items if isinstance(item, ShellExited)] == [21]


@pytest.mark.parametrize(
    ("told", "whole", "rest"),
    [
        ([], "abc", "abc"),
        (["bc"], "abc", "a"),
        (["a", "c"], "abc", "b"),
        (["abc"], "abc", ""),
        (["a"], "abc", "bc"),
        (["x"], "abc", ""),
    ],
)
def test_what_is_missing_of_an_output(told: list[str], whole: str, rest: str) -> None:
    assert missing(told, whole) == rest


def test_an_interrupted_turn_leaves_nothing_open() -> None:
    items, outcome = told_of(
        STARTED,
        command_frame("started", processId="7"),
        note("turn/completed", turn={"id": "u1", "status": "interrupted"}),
    )
    assert outcome == Cancelled()
    assert len([item for item in items if isinstance(item, ToolCancelled)]) == 1


def test_the_end_of_a_helpers_thread_is_not_ours() -> None:
    other = {"threadId": "helper"}
    items, outcome = told_of(
        {"method": "thread/started", "params": {"thread": {"id": "t"}}},
        STARTED,
        {"method": "thread/started", "params": {"thread": {"id": "helper", "parentThreadId": "t"}}},
        {"method": "turn/started", "params": {**other, "turn": {"id": "u2"}}},
        {"method": "item/agentMessage/delta", "params": {**other, "itemId": "m", "delta": "not ours"}},
        {"method": "turn/completed", "params": {**other, "turn": {"id": "u2", "status": "failed"}}},
        item_frame("completed", type="agentMessage", text="ours"),
        COMPLETED,
    )
    assert outcome == Finished("ours")
    assert len([item for item in items if isinstance(item, TurnCompleted)]) == 1


def test_a_thread_that_goes_on_from_an_earlier_time_pays_for_what_is_new() -> None:
    total = {"inputTokens": 5000, "cachedInputTokens": 4000, "outputTokens": 50}
    last = {"inputTokens": 1000, "cachedInputTokens": 896, "outputTokens": 10}
    usage = note("thread/tokenUsage/updated", tokenUsage={"total": total, "last": last})
    items, _ = told_of(STARTED, usage, usage, COMPLETED)
    turn = next(item for item in items if isinstance(item, TurnCompleted))
    assert (turn.input_tokens, turn.cached_input_tokens, turn.output_tokens) == (1000, 896, 10)


_APP_NAMES = [
    ({"id": 1, "result": {}}, "response", ()),
    (STARTED, "turn/started", ("turn_start",)),
    (item_frame("started", type="agentMessage", text=""), "item/started", ("message_start",)),
    (note("item/agentMessage/delta", itemId="c1", delta="x"), "item/agentMessage/delta", ("message_update",)),
    (item_frame("completed", type="agentMessage", text="x"), "item/completed", ("message_end",)),
    (command_frame("started"), "item/started", ("tool_execution_start",)),
    (approval_frame(), "item/commandExecution/requestApproval", ()),
    (note("serverRequest/resolved", requestId=0), "serverRequest/resolved", ()),
    (
        note("item/commandExecution/outputDelta", itemId="c1", delta="x"),
        "item/commandExecution/outputDelta",
        ("tool_execution_update",),
    ),
    (command_frame("completed", status="completed"), "item/completed", ("tool_execution_end",)),
    (note("error", error={"message": "Reconnecting... 1/1"}, willRetry=True), "error", ()),
    (note("error", error={"message": "x"}, willRetry=False), "error", ("error",)),
    (note("turn/diff/updated", diff="x"), "turn/diff/updated", ()),
    (note("turn/completed", turn={"status": "interrupted"}), "turn/completed", ("turn_end", "agent_end")),
]


def test_the_frames_of_the_server_have_their_canonical_names() -> None:
    dialect = AppServerDialect(Telling(agent="codex"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _, _ in _APP_NAMES]
    assert seen == [Seen(raw_type, names) for _, raw_type, names in _APP_NAMES]


def test_either_stream_is_known_by_its_first_frame() -> None:
    for frame in (STARTED, {"type": "turn.started"}):
        dialect = make_dialect("codex", Telling(agent="codex"))
        assert dialect.feed(json.dumps(frame).encode(), 0).names == ("turn_start",)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (item_frame("started", type="brandNew"), "no item is called 'brandNew'"),
        (item_frame("completed", type="brandNew"), "no item is called 'brandNew'"),
        (note("thread/brandNew"), "no notification is called 'thread/brandNew'"),
        (note("brand/new"), "no notification is called 'brand/new'"),
        ({**note("brand/new"), "id": 7}, "no request is called 'brand/new'"),
    ],
)
def test_what_the_server_says_and_nobody_knows_is_kept(frame: Frame, why: str) -> None:
    items, _ = told_of(STARTED, frame, COMPLETED)
    assert kept(items) == [why]


@pytest.mark.parametrize("method", ["thread/readState/changed", "account/rateLimits/updated", "turn/diff/updated"])
def test_what_the_server_says_and_what_tells_nothing_is_passed_over(method: str) -> None:
    items, _ = told_of(STARTED, note(method), item_frame("completed", type="contextCompaction"), COMPLETED)
    assert kept(items) == []


def test_a_turn_that_ends_nobody_knows_how_has_not_succeeded() -> None:
    items, outcome = told_of(STARTED, note("turn/completed", turn={"id": "u1", "status": "evaporated"}))
    assert kept(items) == ["no end of a turn is called 'evaporated'"]
    assert outcome == Failed("agent_error", "the turn ended as 'evaporated'")


def test_a_turn_that_was_interrupted_is_no_error_in_the_pane() -> None:
    interrupted = note("turn/completed", turn={"id": "u1", "status": "interrupted"})
    failed = note("error", error={"message": "stream broke"}, willRetry=False)
    assert watched("codex", raw_of([STARTED, failed, interrupted]))[-1] == ("turn_end+agent_end", "done")


def test_an_end_comes_from_the_state_before_it() -> None:
    asked: Frame = {**note("item/commandExecution/requestApproval", itemId="c1", command="make"), "id": 0}
    interrupted = note("turn/completed", turn={"id": "u1", "status": "interrupted"})
    waiting, _ = told_of(STARTED, command_frame("started"), asked, interrupted)
    working, _ = told_of(STARTED, interrupted)
    never, _ = told_of(note("thread/started", thread={"id": "t"}))
    broken, _ = told_of(STARTED)
    changes = [
        [(one.from_, one.to) for one in items if isinstance(one, AgentStateChanged)]
        for items in (waiting, working, never, broken)
    ]
    assert changes == [[("blocked", "done")], [("working", "done")], [("idle", "done")], [("working", "error")]]
