"""Codex: what the stream of `codex exec` is taken for."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.agents.codex.exec import ExecDialect
from runwire.agents.codex.items import words_of
from runwire.agents.dialect import Seen, StreamEnd, Telling
from runwire.host import Failed, Finished
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from tests.agents.codex_streams import Frame, raw_of, told_of
from tests.agents.transcripts import breaches_of, kept


def _turn(**usage: int) -> list[Frame]:
    return [{"type": "turn.started"}, {"type": "turn.completed", "usage": usage}]


def test_tokens_are_counted_for_a_thread_and_told_for_a_turn() -> None:
    items, _ = told_of(
        {"type": "thread.started", "thread_id": "t"},
        *_turn(input_tokens=1000, cached_input_tokens=896, output_tokens=5),
        *_turn(input_tokens=2100, cached_input_tokens=1792, output_tokens=12),
    )
    turns = [item for item in items if isinstance(item, TurnCompleted)]
    assert [(one.input_tokens, one.cached_input_tokens, one.output_tokens) for one in turns] == [
        (1000, 896, 5),
        (1100, 896, 7),
    ]


def test_a_thread_of_another_name_counts_anew() -> None:
    items, _ = told_of(
        {"type": "thread.started", "thread_id": "t"},
        *_turn(input_tokens=1000, output_tokens=5),
        {"type": "thread.started", "thread_id": "other"},
        *_turn(input_tokens=1500, output_tokens=9),
    )
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [1000, 1500]


def test_reconnecting_is_no_failure() -> None:
    items, outcome = told_of(
        {"type": "turn.started"},
        {"type": "error", "message": "Reconnecting... 2/5 (unexpected status 503 Service Unavailable: later)"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Here."}},
        {"type": "turn.completed"},
    )
    upstream = [item for item in items if isinstance(item, ErrorUpstream)]
    assert [(one.retriable, one.attempt, one.max_attempts, one.status) for one in upstream] == [(True, 2, 5, 503)]
    assert outcome == Finished("Here.")


@pytest.mark.parametrize(
    ("message", "code", "shown"),
    [
        ("Incomplete response returned, reason: max_output_tokens", "max_tokens", None),
        ('{"error": {"message": "Too long.", "code": "context_length_exceeded"}}', "context_overflow", "Too long."),
        ("unexpected status 401 Unauthorized: no", "model_error", None),
        ("", "model_error", "the turn failed"),
    ],
)
def test_a_failed_turn_says_why(message: str, code: str, shown: str | None) -> None:
    items, outcome = told_of({"type": "turn.started"}, {"type": "turn.failed", "error": {"message": message}})
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.message) == (code, shown or message)
    assert [one.code for one in items if isinstance(one, TurnFailed)] == [code]


def test_an_error_that_nothing_follows_is_the_end() -> None:
    _, outcome = told_of({"type": "error", "message": "no model"}, end=StreamEnd(exit_code=1))
    assert outcome == Failed("model_error", "no model")


def test_what_is_told_again_and_again_is_printed_once() -> None:
    def told(stage: str, output: str, **more: object) -> Frame:
        item = {"id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": output, **more}
        return {"type": f"item.{stage}", "item": item}

    items, _ = told_of(
        told("started", ""),
        told("updated", "a\n"),
        told("updated", "a\nb\n"),
        told("completed", "a\nb\nc\n", exit_code=3, status="failed"),
    )
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == "a\nb\nc\n"
    assert [item.exit_code for item in items if isinstance(item, ShellExited)] == [3]
    assert [item.code for item in items if isinstance(item, ToolFailed)] == ["nonzero_exit"]


def test_other_tools_are_known_for_what_they_are() -> None:
    items, _ = told_of(
        {
            "type": "item.completed",
            "item": {
                "id": "item_0",
                "type": "mcp_tool_call",
                "server": "docs",
                "tool": "find",
                "arguments": {"q": "x"},
                "result": {"content": [{"type": "text", "text": "found"}]},
                "status": "completed",
            },
        },
        {"type": "item.completed", "item": {"id": "item_1", "type": "web_search", "query": "weather"}},
        {
            "type": "item.started",
            "item": {"id": "item_2", "type": "todo_list", "items": [{"text": "look", "completed": True}]},
        },
        {"type": "turn.completed"},
    )
    invoked = [(one.kind, one.mcp_server, one.mcp_tool) for one in items if isinstance(one, ToolInvoked)]
    assert [kind for kind, *_ in invoked] == ["mcp", "web", "todo"]
    assert invoked[0] == ("mcp", "docs", "find")
    assert next(one.output for one in items if isinstance(one, ToolCompleted)) == "found"
    assert [[todo.status for todo in one.todos] for one in items if isinstance(one, TodoWriteUpdated)] == [
        ["completed"]
    ]


_EXEC_NAMES = [
    ({"type": "thread.started", "thread_id": "t"}, "thread.started", ()),
    ({"type": "turn.started"}, "turn.started", ("turn_start",)),
    (
        {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
        "item.started/command_execution",
        ("tool_execution_start",),
    ),
    (
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
        "item.completed/command_execution",
        ("tool_execution_end",),
    ),
    (
        {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "x"}},
        "item.completed/agent_message",
        ("message_start", "message_end"),
    ),
    (
        {"type": "item.completed", "item": {"id": "r", "type": "reasoning", "text": "x"}},
        "item.completed/reasoning",
        ("message_update",),
    ),
    ({"type": "item.completed", "item": {"id": "e", "type": "error", "message": "x"}}, "item.completed/error", ()),
    ({"type": "error", "message": "Reconnecting... 1/1 (x)"}, "error", ()),
    ({"type": "error", "message": "x"}, "error", ("error",)),
    ({"type": "turn.failed", "error": {"message": "x"}}, "turn.failed", ("turn_end", "error", "agent_end")),
]


def test_the_lines_of_the_command_have_their_canonical_names() -> None:
    dialect = ExecDialect(Telling(agent="codex"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _, _ in _EXEC_NAMES]
    assert seen == [Seen(raw_type, names) for _, raw_type, names in _EXEC_NAMES]


@pytest.mark.parametrize("first", [b"null\n", b"[]\n", b"\xff\xfe\n", b'{"type":7}\n', b'{"method":[]}\n'])
def test_junk_at_the_beginning_is_kept_and_survived(first: bytes) -> None:
    raw = first + raw_of([{"type": "turn.started"}, {"type": "turn.completed"}])
    assert breaches_of("codex", [raw]) == []


def test_a_long_line_takes_no_long_time() -> None:
    text = "x" * (16 * 1024 * 1024)
    items, outcome = told_of(
        {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": text}},
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "command": text}},
        {"type": "turn.completed"},
    )
    assert isinstance(outcome, Finished)
    assert [len(item.argv) for item in items if isinstance(item, ShellCommand)] == [1]


def test_a_command_is_taken_apart_where_it_can_be() -> None:
    assert words_of("/bin/bash -lc 'echo \"a b\"'") == ["/bin/bash", "-lc", 'echo "a b"']
    assert words_of("echo 'open") == ["echo 'open"]


@given(st.text(st.sampled_from(" '\"\\\n\tab$#\u00e9\u00a0\x0b"), max_size=16))
def test_a_command_has_the_words_that_a_shell_finds_in_it(command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = [command]
    assert words_of(command) == words


@pytest.mark.parametrize("stage", ["item.started", "item.updated", "item.completed"])
def test_an_item_of_a_kind_that_nobody_knows_is_kept(stage: str) -> None:
    items, _ = told_of({"type": "turn.started"}, {"type": stage, "item": {"id": "i", "type": "brand_new"}})
    assert kept(items) == ["no item is called 'brand_new'"]


def test_an_item_that_only_warns_is_passed_over() -> None:
    items, _ = told_of({"type": "item.completed", "item": {"id": "i", "type": "error", "message": "x"}}, *_turn())
    assert kept(items) == []
