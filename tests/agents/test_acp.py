"""Agents that speak ACP, trap by trap."""

import json

import pytest

from runwire.agents.acp.dialect import AcpDialect
from runwire.agents.dialect import Cancelled, StreamEnd, Telling
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete, AssistantToolCallProposed
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnStarted
from tests.agents.acp_streams import (
    GREETED,
    OPENCODE,
    OVER,
    SESSION,
    Frame,
    asks,
    chunk,
    fault,
    of,
    raw_of,
    read,
    result,
    update,
    words,
)
from tests.agents.transcripts import breaches_of, kept, transcripts, watched

SHELL: Frame = {"title": "ls -l", "kind": "execute", "status": "pending"}


def test_a_prompt_is_one_turn_that_ends_with_its_answer() -> None:
    items, outcome = read(GREETED, SESSION, chunk("Hel"), chunk("lo."), OVER)
    assert [turn.model for turn in of(items, TurnStarted)] == ["gemini-2.5-flash"]
    assert [one.text for one in of(items, AssistantTextComplete)] == ["Hello."]
    assert [one.summary for one in of(items, AssistantFinalAnswer)] == ["Hello."]
    assert outcome == Finished("Hello.")


def test_a_model_is_told_with_its_provider_where_its_name_says_so() -> None:
    settings = [{"id": "model", "category": "model", "currentValue": "fake/fake-1"}]
    items, _ = read(GREETED, result(1, sessionId="s1", configOptions=settings), chunk("x"), OVER)
    assert [(turn.provider, turn.model) for turn in of(items, TurnStarted)] == [("fake", "fake-1")]


def test_what_follows_an_answer_answers_another_prompt() -> None:
    items, outcome = read(SESSION, chunk("One.", messageId="a"), OVER, chunk("Two.", messageId="b"), OVER)
    assert [one.text for one in of(items, AssistantTextComplete)] == ["One.", "Two."]
    assert outcome == Finished("Two.")


def test_what_is_late_changes_nothing() -> None:
    late = [
        chunk("?", messageId="a"),
        update("tool_call_update", toolCallId="c1", status="completed"),
        update("tool_call_update", toolCallId="c9", status="failed"),
    ]
    call = update("tool_call", toolCallId="c1", title="x", kind="read", status="completed")
    items, outcome = read(SESSION, call, chunk("One.", messageId="a"), OVER, *late)
    assert [one.error for one in of(items, AgentUnparsed)] == ["late: the agent had ended already"] * 3
    assert outcome == Finished("One.")


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"inputTokens": 9, "outputTokens": 8, "cachedReadTokens": 896, "totalTokens": 913}, (905, 896, 8)),
        ({"inputTokens": 905, "outputTokens": 8, "cachedReadTokens": 896, "totalTokens": 913}, (905, 896, 8)),
        ({"inputTokens": 10, "outputTokens": 5, "thoughtTokens": 3, "totalTokens": 18}, (10, 0, 8)),
        ({"inputTokens": 10, "outputTokens": 5}, (10, 0, 5)),
    ],
)
def test_input_counts_what_was_cached_however_the_agent_counts(
    usage: dict[str, object], counted: tuple[int, int, int]
) -> None:
    items, _ = read(SESSION, chunk("x"), result(2, stopReason="end_turn", usage=usage))
    [turn] = of(items, TurnCompleted)
    assert (turn.input_tokens, turn.cached_input_tokens, turn.output_tokens) == counted


def test_tokens_that_only_gemini_tells_are_counted() -> None:
    meta = {"quota": {"token_count": {"input_tokens": 44, "output_tokens": 9}}}
    items, _ = read(SESSION, chunk("x"), result(2, stopReason="end_turn", _meta=meta))
    [turn] = of(items, TurnCompleted)
    assert (turn.input_tokens, turn.output_tokens) == (44, 9)


def test_money_is_told_as_a_total_so_each_prompt_costs_the_difference() -> None:
    def cost(amount: float, currency: str = "USD") -> Frame:
        return update("usage_update", used=1, size=2, cost={"amount": amount, "currency": currency})

    items, _ = read(SESSION, chunk("a"), cost(0.0002), OVER, chunk("b"), cost(5, "credits"), cost(0.0005), OVER)
    assert [turn.cost_micros_usd for turn in of(items, TurnCompleted)] == [200, 300]


def test_a_call_that_says_what_it_does_only_later_is_told_when_it_has_said_it() -> None:
    items, _ = read(
        SESSION,
        update("tool_call", toolCallId="c1", title="bash", kind="execute", status="pending", rawInput={}),
        update("tool_call_update", toolCallId="c1", title="ls -l", status="in_progress", rawInput={"command": "ls -l"}),
        update("tool_call_update", toolCallId="c1", status="completed", content=words("x")),
        OVER,
    )
    [proposed] = of(items, AssistantToolCallProposed)
    assert (proposed.tool_name, proposed.input) == ("bash", {"command": "ls -l"})
    assert of(items, ShellCommand)[0].argv == ["bash", "-c", "ls -l"]


def test_output_that_is_shown_again_and_again_is_told_once() -> None:
    def shows(text: str, status: str = "in_progress", **more: object) -> Frame:
        return update("tool_call_update", toolCallId="c1", status=status, content=words(text), **more)

    output = {"output": "a\nb\n", "metadata": {"exit": 3}}
    items, _ = read(
        SESSION,
        update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"}),
        shows("a\n"),
        shows("a\nb\n"),
        shows("a\nb\n", "completed", rawOutput=output),
        OVER,
    )
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == "a\nb\n"
    assert [one.exit_code for one in of(items, ShellExited)] == [3]
    assert [one.message for one in of(items, ToolFailed)] == ["exited with status 3"]


def test_what_a_call_is_about_to_do_is_not_what_it_printed() -> None:
    items, _ = read(
        SESSION,
        update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress", "content": words("[in /workspace]")}),
        update("tool_call_update", toolCallId="c1", status="completed", content=[]),
        OVER,
    )
    assert of(items, ShellOutputChunk) == []
    assert [one.output for one in of(items, ToolCompleted)] == [""]


def test_a_change_of_a_file_is_told_as_a_diff() -> None:
    diff = [{"type": "diff", "path": "/workspace/a.txt", "oldText": "one\n", "newText": "two\n"}]
    items, _ = read(
        SESSION,
        update("tool_call", toolCallId="c1", title="Edit a.txt", kind="edit", status="in_progress", content=diff),
        update("tool_call_update", toolCallId="c1", status="completed", content=diff),
        OVER,
    )
    [done] = of(items, ToolCompleted)
    assert (done.kind, done.summary) == ("edit", "Edit a.txt")
    assert isinstance(done.output, str)
    assert "-one\n+two" in done.output


@pytest.mark.parametrize(
    ("kind", "ours"),
    [("read", "file"), ("edit", "edit"), ("delete", "edit"), ("search", "search"), ("fetch", "web"), ("think", "tool")],
)
def test_kinds_are_ours(kind: str, ours: str) -> None:
    items, _ = read(
        SESSION, update("tool_call", toolCallId="c1", title="do it now", kind=kind, status="completed"), OVER
    )
    assert [one.kind for one in of(items, ToolInvoked)] == [ours]


def test_a_plan_is_a_list_of_things_to_do() -> None:
    entries = [{"content": "a", "priority": "high", "status": "in_progress"}]
    items, _ = read(SESSION, update("plan", entries=entries), chunk("x"), OVER)
    assert [(one.content, one.status) for one in of(items, TodoWriteUpdated)[0].todos] == [("a", "in_progress")]


def test_a_question_may_be_all_that_announces_a_call() -> None:
    items, _ = read(
        SESSION,
        asks(0, "run_shell_command__7", SHELL),
        update("tool_call_update", toolCallId="run_shell_command__7", status="completed", content=words("x")),
        chunk("Done."),
        OVER,
    )
    assert [one.decision for one in of(items, ApprovalResolved)] == ["approved"]
    assert [one.tool_name for one in of(items, ToolCompleted)] == ["run_shell_command"]
    assert of(items, ShellCommand)[0].argv == ["bash", "-c", "ls -l"]


def test_a_denial_may_leave_no_trace() -> None:
    items, outcome = read(SESSION, asks(0, "c1", SHELL), chunk("I may not."), OVER)
    assert [one.decision for one in of(items, ApprovalResolved)] == ["denied"]
    assert [one.tool_call_id for one in of(items, PolicyToolBlocked)] == ["c1"]
    assert of(items, ToolInvoked) == []
    assert outcome == Finished("I may not.")


def test_ids_of_both_sides_may_be_the_same() -> None:
    items, outcome = read(SESSION, asks(2, "c1", SHELL), result(2, stopReason="end_turn"))
    assert [one.approval_id for one in of(items, ApprovalRequested)] == ["2"]
    assert isinstance(outcome, Finished)


def test_opencode_calls_a_call_at_work_before_it_asks() -> None:
    works = update("tool_call_update", toolCallId="c1", **SHELL | {"status": "in_progress"})
    refused = "The user rejected permission to use this specific tool call."
    items, _ = read(
        OPENCODE,
        SESSION,
        update("tool_call", toolCallId="c1", **SHELL),
        works,
        asks(0, "c1", SHELL),
        update("tool_call_update", toolCallId="c1", status="failed", content=words(refused)),
        OVER,
    )
    assert of(items, ToolInvoked) == []
    assert [one.reason for one in of(items, PolicyToolBlocked)] == [refused]


def test_a_denial_of_a_call_that_was_told_as_begun_is_a_denial_all_the_same() -> None:
    items, _ = read(
        SESSION,
        update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"}),
        asks(0, "c1", SHELL),
        update("tool_call_update", toolCallId="c1", status="failed", content=words("permission denied by the user")),
        OVER,
    )
    assert [one.decision for one in of(items, ApprovalResolved)] == ["denied"]
    assert [one.message for one in of(items, ToolFailed)] == ["permission denied by the user"]


def test_a_cancelled_prompt_is_cancelled() -> None:
    works = update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"})
    items, outcome = read(SESSION, works, result(2, stopReason="cancelled"))
    assert len(of(items, ToolCancelled)) == 1
    assert isinstance(outcome, Cancelled)


def test_a_command_that_was_cancelled_may_call_that_completed() -> None:
    done = update("tool_call_update", toolCallId="c1", status="completed", content=words("Command cancelled by user."))
    items, _ = read(SESSION, update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"}), done, OVER)
    assert len(of(items, ToolCancelled)) == 1
    assert of(items, ShellOutputChunk) == []


@pytest.mark.parametrize(
    ("stop", "code"), [("max_turn_requests", "max_turns"), ("refusal", "refused"), ("max_tokens", None)]
)
def test_why_it_stopped(stop: str, code: str | None) -> None:
    items, outcome = read(SESSION, chunk("x"), result(2, stopReason=stop))
    assert (outcome.code if isinstance(outcome, Failed) else None) == code
    assert [turn.stop_reason for turn in of(items, TurnCompleted)] == ([] if code else [stop])


def test_a_prompt_that_fails_is_a_failure() -> None:
    wrapped = json.dumps({"error": {"code": 401, "message": "Incorrect API key.", "status": "UNAUTHENTICATED"}})
    items, outcome = read(SESSION, fault(2, 401, wrapped))
    assert outcome == Failed("model_error", "Incorrect API key.")
    assert [(one.status, one.message) for one in of(items, ErrorUpstream)] == [(401, "Incorrect API key.")]


def test_a_method_that_it_does_not_know_ends_nothing() -> None:
    _, outcome = read(SESSION, chunk("x"), fault(7, -32601, "Method not found"), chunk("y"), OVER)
    assert outcome == Finished("xy")


def test_what_could_not_begin_was_rejected() -> None:
    _, outcome = read(GREETED, fault(1, -32602, "no such folder"))
    assert outcome == Failed("rejected", "no such folder")


def test_a_stream_that_breaks_off_leaves_nothing_open() -> None:
    works = update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"})
    items, outcome = read(SESSION, works, end=StreamEnd(exit_code=1))
    assert [one.code for one in of(items, ToolFailed)] == ["interrupted"]
    assert isinstance(outcome, Failed)


def test_a_frame_that_the_protocol_does_not_know_is_kept() -> None:
    strange: list[Frame] = [
        {"jsonrpc": "2.0", "method": "session/other", "params": {}},
        update("no_such_update"),
        {"jsonrpc": "2.0", "id": 4},
    ]
    items, _ = read(SESSION, *strange, chunk("x"), OVER)
    assert len(of(items, AgentUnparsed)) == 3


SEEN: list[tuple[Frame, str, str]] = [
    (GREETED, "response/initialize", ""),
    (SESSION, "response/session/new", ""),
    (update("available_commands_update"), "session/update/available_commands_update", ""),
    (update("current_mode_update", currentModeId="plan"), "session/update/current_mode_update", ""),
    (chunk("x"), "session/update/agent_message_chunk", "message_update"),
    (update("tool_call", toolCallId="c1", title="x"), "session/update/tool_call", "tool_execution_start"),
    (
        update("tool_call_update", toolCallId="c1", status="in_progress"),
        "session/update/tool_call_update",
        "tool_execution_update",
    ),
    (asks(0, "c2", {"title": "y"}), "session/request_permission", ""),
    (
        update("tool_call_update", toolCallId="c1", status="failed"),
        "session/update/tool_call_update",
        "tool_execution_end",
    ),
    ({"jsonrpc": "2.0", "id": 1, "method": "fs/write_text_file", "params": {}}, "fs/write_text_file", ""),
    (OVER, "response/session/prompt", "message_end turn_end agent_end"),
    (fault(3, 500, "broken"), "error", "error agent_end"),
]


def test_the_pane_shows_the_canonical_names() -> None:
    dialect = AcpDialect(Telling(agent="acp"))
    for frame, raw_type, names in SEEN:
        seen = dialect.feed(json.dumps(frame).encode(), 0)
        assert (seen.raw_type, " ".join(seen.names)) == (raw_type, names)


def test_any_cut_of_a_recorded_stream_keeps_the_rules() -> None:
    for transcript in transcripts("opencode-acp-1.18.33", "gemini-acp-0.61.0"):
        raw = transcript.raw
        for at in range(0, len(raw), max(1, len(raw) // 5)):
            assert breaches_of("acp", [raw[:at]]) == []


def test_a_frame_of_many_mebibytes_is_read() -> None:
    raw = raw_of(SESSION, chunk("x" * (16 << 20)), OVER)
    assert breaches_of("acp", [raw[at : at + 65536] for at in range(0, len(raw), 65536)]) == []


# What is not known.


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (update("brand_new"), "no session update is called 'brand_new'"),
        (update("agent_message_chunk", content={"type": "brand_new"}), "no content is called 'brand_new'"),
        (update("tool_call", toolCallId="c", status="brand_new"), "no status of a call is called 'brand_new'"),
        (
            update("tool_call", toolCallId="c", content=[{"type": "brand_new"}]),
            "no content of a call is called 'brand_new'",
        ),
        ({"jsonrpc": "2.0", "method": "brand/new"}, "no notification is called 'brand/new'"),
        ({"jsonrpc": "2.0", "id": 9, "method": "brand/new"}, "no request is called 'brand/new'"),
        (result(2, stopReason="brand_new"), "no stop reason is called 'brand_new'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(frame: Frame, why: str) -> None:
    items, _ = read(GREETED, SESSION, chunk("x"), frame)
    assert kept(items) == [why]


@pytest.mark.parametrize(
    "frame",
    [
        update("available_commands_update"),
        {"jsonrpc": "2.0", "method": "_vendor/said"},
        {"jsonrpc": "2.0", "id": 9, "method": "fs/write_text_file"},
    ],
)
def test_what_tells_nothing_is_passed_over(frame: Frame) -> None:
    items, _ = read(GREETED, SESSION, chunk("x"), frame, OVER)
    assert kept(items) == []


@pytest.mark.parametrize(("stop", "state"), [("refusal", "error"), ("cancelled", "done"), ("end_turn", "done")])
def test_the_pane_says_what_the_log_says_of_an_end(stop: str, state: str) -> None:
    raw = raw_of(GREETED, SESSION, chunk("x"), result(2, stopReason=stop))
    assert watched("acp", raw)[-1][1] == state
