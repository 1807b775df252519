"""Claude Code, trap by trap."""

import json

import pytest

from runwire.agents.claude.dialect import ClaudeDialect
from runwire.agents.dialect import Body, Cancelled, StreamEnd, Telling
from runwire.agents.glasspane import NAMES
from runwire.host import Failed, Finished
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete
from runwire.protocol.events.cost import CostBudgetExceeded, CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolInvoked, ToolTimedOut
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from runwire.protocol.events.user import UserMessage
from tests.agents.claude_streams import INIT, Line, asks, event, of, over, read, result_of, said, text, use
from tests.agents.transcripts import FOLDER, breaches_of, kept, transcripts, watched


def test_lines_that_share_a_message_are_one_turn_and_another_message_is_the_next() -> None:
    items, outcome = read(
        INIT, said("a", text("One.")), said("a", use("t1")), result_of("t1", "x"), said("b", text("Two.")), over()
    )
    assert [turn.stop_reason for turn in of(items, TurnCompleted)] == ["tool_use", "end_turn"]
    assert [(one.turn_index, one.text) for one in of(items, AssistantTextComplete)] == [(0, "One."), (1, "Two.")]
    assert [answer.summary for answer in of(items, AssistantFinalAnswer)] == ["Done."]
    assert outcome == Finished("Done.")


def test_input_counts_what_was_cached_and_the_last_turn_gets_what_only_the_result_tells() -> None:
    usage = {"input_tokens": 200, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 14, "output_tokens": 9}
    items, _ = read(INIT, said("a", use("t1")), result_of("t1", "x"), said("b", text("Two.")), over(usage=usage))
    first, last = of(items, TurnCompleted)
    assert (first.input_tokens, first.cached_input_tokens, first.output_tokens, first.cost_micros_usd) == (
        157,
        50,
        0,
        0,
    )
    assert (last.input_tokens, last.cached_input_tokens, last.output_tokens) == (157, 50, 9)
    assert last.cost_micros_usd == 10_000
    tick = of(items, CostTick)[-1]
    assert (tick.cumulative_input_tokens, tick.cumulative_cost_micros_usd) == (314, 10_000)


def test_money_is_told_for_the_whole_process_so_each_prompt_costs_the_difference() -> None:
    items, _ = read(INIT, said("a", text("One.")), over(), INIT, said("b", text("Two.")), over(total_cost_usd=0.0125))
    assert [turn.cost_micros_usd for turn in of(items, TurnCompleted)] == [10_000, 2_500]


def test_what_is_known_of_prices_is_told_before_the_end_and_set_right_there() -> None:
    dialect = ClaudeDialect(Telling(agent="claude", price=lambda _, __, used: used.input_tokens))
    for line in (INIT, said("a", use("t1")), result_of("t1", "x"), said("b", text("Two.")), over(total_cost_usd=0.001)):
        dialect.feed(json.dumps(line).encode(), 0)
    assert [turn.cost_micros_usd for turn in of(dialect.teller.take(), TurnCompleted)] == [157, 843]


def test_what_it_writes_itself_in_the_name_of_the_user_is_no_prompt() -> None:
    own: Line = {
        "type": "user",
        "message": {"content": "<local-command-stdout>x</local-command-stdout>"},
        "isReplay": True,
    }
    items, _ = read(INIT, own, over(result=""))
    assert of(items, UserMessage) == []


def test_an_error_that_calls_itself_a_success_is_a_failure() -> None:
    words = "Failed to authenticate. API Error: 401"
    items, outcome = read(
        INIT,
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": 1,
            "max_retries": 2,
            "error_status": 401,
            "error": "auth",
        },
        said("s", text(words), error="auth", is_api_error_message=True, api_error_status=401),
        over(is_error=True, result=words, terminal_reason="completed"),
    )
    assert outcome == Failed("api_error", words)
    assert [(one.status, one.retriable) for one in of(items, ErrorUpstream)] == [(401, True), (401, False)]
    assert of(items, AssistantTextComplete) == []
    assert [turn.code for turn in of(items, TurnFailed)] == ["model_error"]


def test_results_come_in_the_order_in_which_they_are_done() -> None:
    items, _ = read(
        INIT, said("a", use("t1")), said("a", use("t2")), result_of("t2", "2"), result_of("t1", "1"), over()
    )
    assert [one.tool_call_id for one in of(items, ToolCompleted)] == ["t2", "t1"]


def test_a_command_prints_to_both_streams_and_says_how_it_exited() -> None:
    printed = {"stdout": "out", "stderr": "err", "interrupted": False}
    items, _ = read(INIT, said("a", use("t1")), result_of("t1", "out\nerr", tool_use_result=printed), over())
    assert [(one.stream, one.data) for one in of(items, ShellOutputChunk)] == [("stdout", "out"), ("stderr", "err")]
    assert [one.exit_code for one in of(items, ShellExited)] == [0]
    assert of(items, ShellCommand)[0].argv == ["bash", "-c", "ls"]
    assert of(items, ShellCommand)[0].cwd == "/workspace"


def test_a_command_that_fails_says_so_in_words() -> None:
    items, _ = read(
        INIT,
        said("a", use("t1")),
        result_of("t1", "Exit code 3\nout", is_error=True, tool_use_result="Error: Exit code 3\nout"),
        over(),
    )
    assert of(items, ShellExited)[0].exit_code == 3
    assert [one.data for one in of(items, ShellOutputChunk)] == ["out"]
    assert [(one.code, one.message) for one in of(items, ToolFailed)] == [("nonzero_exit", "exited with status 3")]


def test_a_command_that_took_too_long_timed_out() -> None:
    words = "Exit code 143\nCommand timed out after 2m 0s"
    items, _ = read(INIT, said("a", use("t1")), result_of("t1", words, is_error=True), over())
    assert len(of(items, ToolTimedOut)) == 1


def test_what_says_that_there_was_no_output_is_not_output() -> None:
    printed = {"stdout": "", "stderr": "", "interrupted": False}
    items, _ = read(INIT, said("a", use("t1")), result_of("t1", "(no output)", tool_use_result=printed), over())
    assert of(items, ShellOutputChunk) == []


def test_a_picture_comes_right_before_the_end_of_its_call() -> None:
    picture = [{"type": "image", "source": {"type": "base64", "data": "AAAA", "media_type": "image/png"}}]
    items, _ = read(INIT, said("a", use("t1", "Read", file_path="/a.png")), result_of("t1", picture), over())
    at = next(at for at, item in enumerate(items) if isinstance(item, Body))
    assert isinstance(items[at + 1], ToolCompleted)


def test_a_list_of_things_to_do_is_told_as_one() -> None:
    todos = [{"content": "a", "status": "pending", "activeForm": "doing a"}]
    items, _ = read(INIT, said("a", use("t1", "TodoWrite", todos=todos)), result_of("t1", "ok"), over())
    assert [one.content for one in of(items, TodoWriteUpdated)[0].todos] == ["a"]


def test_a_tool_of_an_mcp_server_is_known_by_its_name() -> None:
    items, _ = read(INIT, said("a", use("t1", "mcp__files__stat", path="/a")), result_of("t1", "ok"), over())
    invoked = of(items, ToolInvoked)[0]
    assert (invoked.kind, invoked.mcp_server, invoked.mcp_tool) == ("mcp", "files", "stat")


def test_a_call_that_was_refused_was_never_begun() -> None:
    denied: Line = {
        "type": "system",
        "subtype": "permission_denied",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "message": "no",
    }
    items, outcome = read(INIT, said("a", use("t1")), denied, result_of("t1", "no", is_error=True), over())
    assert [one.reason for one in of(items, PolicyToolBlocked)] == ["no"]
    assert of(items, ToolInvoked) == []
    assert isinstance(outcome, Finished)


@pytest.mark.parametrize(
    ("meta", "decision"),
    [
        ([{"id": "t1", "permission_decision": {"decision": "accept", "source": "user_temporary"}}], "approved"),
        ([{"id": "t1", "permission_decision": {"decision": "reject", "source": "user_reject"}}], "denied"),
        (None, "denied"),
    ],
)
def test_a_decision_is_seen_from_the_result(meta: object, decision: str) -> None:
    answer = result_of("t1", "not today", is_error=True, tool_result_meta=meta)
    items, _ = read(INIT, said("a", use("t1")), asks("r1", "t1", command="ls"), answer, over())
    assert [one.approval_id for one in of(items, ApprovalRequested)] == ["r1"]
    assert [one.decision for one in of(items, ApprovalResolved)] == [decision]
    assert len(of(items, ToolInvoked)) == (decision == "approved")


def test_a_question_that_is_withdrawn_is_denied_by_nobody() -> None:
    items, outcome = read(
        INIT,
        said("a", use("t1")),
        asks("r1", "t1", command="ls"),
        {"type": "control_cancel_request", "request_id": "r1"},
        {"type": "control_response", "response": {"subtype": "success", "response": {"still_queued": []}}},
        result_of("t1", "rejected", is_error=True, tool_use_result="User rejected tool use"),
        over(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools"),
    )
    assert [(one.decision, one.by) for one in of(items, ApprovalResolved)] == [("denied", "system")]
    assert of(items, ToolInvoked) == []
    assert isinstance(outcome, Cancelled)


def test_an_interrupted_call_was_at_work() -> None:
    items, outcome = read(
        INIT,
        said("a", use("t1")),
        {"type": "control_response", "response": {"subtype": "success", "response": {"still_queued": []}}},
        result_of("t1", "rejected", is_error=True, tool_use_result="User rejected tool use"),
        over(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools", result=None),
    )
    assert len(of(items, ToolCancelled)) == 1
    assert isinstance(outcome, Cancelled)


def test_a_call_that_may_take_long_begins_with_the_end_of_its_message() -> None:
    dialect = ClaudeDialect(Telling(agent="claude"))
    started = event("message_start", message={"id": "a", "model": "claude-x"})
    for line in (INIT, started, said("a", use("t1")), event("message_stop")):
        dialect.feed(json.dumps(line).encode(), 0)
    assert [one.tool_call_id for one in of(dialect.teller.take(), ToolInvoked)] == ["t1"]


def test_a_stream_that_breaks_off_leaves_no_call_open() -> None:
    items, outcome = read(INIT, said("a", use("t1")), end=StreamEnd(exit_code=143))
    assert [one.code for one in of(items, ToolFailed)] == ["interrupted"]
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"


def test_an_answer_that_broke_off_is_a_turn_that_failed_and_is_tried_again() -> None:
    items, _ = read(
        INIT,
        event("message_start", message={"id": "a"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Ha"}),
        event("message_start", message={"id": "b"}),
        said("b", text("Hello.")),
        event("message_stop"),
        over(),
    )
    assert [turn.will_retry for turn in of(items, TurnFailed)] == [True]
    assert [one.text for one in of(items, AssistantTextComplete)] == ["Ha", "Hello."]


def test_the_words_of_an_agent_of_the_agent_are_not_its_own() -> None:
    inner = said("x", text("inner"), use("t2")) | {"parent_tool_use_id": "t1"}
    back = result_of("t2", "y") | {"parent_tool_use_id": "t1"}
    items, _ = read(INIT, said("a", use("t1", "Task", prompt="p")), inner, back, result_of("t1", "inner"), over())
    assert of(items, AssistantTextComplete) == []
    assert [one.tool_call_id for one in of(items, ToolCompleted)] == ["t2", "t1"]
    assert len(of(items, TurnCompleted)) == 1


def test_a_prompt_is_told_only_when_it_is_replayed() -> None:
    real = {"type": "user", "message": {"role": "user", "content": [text("hi")]}, "isReplay": True}
    made = {"type": "user", "message": {"role": "user", "content": [text("go on")]}, "isSynthetic": True}
    items, _ = read(INIT, real, made, said("a", text("Yes.")), over())
    assert [one.text for one in of(items, UserMessage)] == ["hi"]


def test_a_budget_of_its_own_that_is_spent_is_told() -> None:
    errors = ["Reached maximum budget ($0.001)"]
    items, outcome = read(
        INIT,
        said("a", use("t1")),
        over(
            subtype="error_max_budget_usd",
            is_error=True,
            result=None,
            errors=errors,
            terminal_reason="budget_exhausted",
        ),
    )
    assert of(items, CostBudgetExceeded)[0].task_budget_micros_usd == 1_000
    assert outcome == Failed("budget_exhausted", errors[0])
    assert of(items, ToolInvoked) == []


def test_one_result_alone_is_the_whole_answer() -> None:
    items, outcome = read(over(usage={"input_tokens": 5, "output_tokens": 3}))
    assert [one.text for one in of(items, AssistantTextComplete)] == ["Done."]
    assert of(items, TurnCompleted)[0].output_tokens == 3
    assert outcome == Finished("Done.")


SEEN: list[tuple[Line, str, str]] = [
    (INIT, "system/init", ""),
    ({"type": "system", "subtype": "status", "status": "requesting"}, "system/status", ""),
    (event("message_start", message={"id": "a"}), "stream_event/message_start", "turn_start message_start"),
    (
        event("content_block_delta", delta={"type": "text_delta", "text": "x"}),
        "stream_event/content_block_delta",
        "message_update",
    ),
    (
        event("content_block_delta", delta={"type": "input_json_delta", "partial_json": "{"}),
        "stream_event/content_block_delta",
        "message_update",
    ),
    (said("a", text("x")), "assistant", "message_end"),
    (said("a", use("t1")), "assistant", "tool_execution_start"),
    (asks("r1", "t1"), "control_request", ""),
    (result_of("t1", "x"), "user", "tool_execution_end"),
    (said("b", text("x")), "assistant", "turn_end turn_start message_start message_end"),
    (over(), "result/success", "turn_end agent_end"),
    (over(subtype="error_max_turns", is_error=True), "result/error_max_turns", ""),
]


def test_the_pane_shows_the_canonical_names() -> None:
    dialect = ClaudeDialect(Telling(agent="claude"))
    for line, raw_type, names in SEEN:
        seen = dialect.feed(json.dumps(line).encode(), 0)
        assert (seen.raw_type, " ".join(seen.names)) == (raw_type, names)
        assert set(seen.names) <= set(NAMES)


def test_a_failure_is_an_error_in_the_pane() -> None:
    dialect = ClaudeDialect(Telling(agent="claude"))
    seen = dialect.feed(json.dumps(over(subtype="error_max_turns", is_error=True)).encode(), 0)
    assert seen.names == ("error", "agent_end")


def test_any_cut_of_a_recorded_stream_keeps_the_rules() -> None:
    folders = sorted(folder.name for folder in FOLDER.glob("claude-code-*"))
    for transcript in transcripts(*folders):
        raw = transcript.raw
        for at in range(0, len(raw), max(1, len(raw) // 5)):
            assert breaches_of("claude", [raw[:at]]) == []


# What is not known.


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"type": "system", "subtype": "brand_new"}, "no subtype of system is called 'brand_new'"),
        (event("brand_new"), "no stream event is called 'brand_new'"),
        (event("content_block_delta", delta={"type": "brand_new"}), "no delta is called 'brand_new'"),
        (said("a", {"type": "brand_new"}), "no block is called 'brand_new'"),
        (said("a", {"type": "brand_new"}, parent_tool_use_id="t0"), "no block is called 'brand_new'"),
        ({"type": "user", "message": {"content": [{"type": "brand_new"}]}}, "no block is called 'brand_new'"),
        (
            {"type": "control_request", "request_id": "r", "request": {"subtype": "brand_new"}},
            "no request to the host is called 'brand_new'",
        ),
        (
            {"type": "control_response", "response": {"subtype": "brand_new", "request_id": "r"}},
            "no response is called 'brand_new'",
        ),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(line: Line, why: str) -> None:
    items, outcome = read(INIT, line, over())
    assert kept(items) == [why]
    assert outcome == Finished("Done.")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "system", "subtype": "status"},
        {"type": "system", "subtype": "compact_boundary"},
        event("ping"),
        event("content_block_delta", delta={"type": "signature_delta"}),
        said("a", {"type": "redacted_thinking"}),
        {"type": "rate_limit_event"},
    ],
)
def test_what_tells_nothing_is_passed_over(line: Line) -> None:
    items, _ = read(INIT, line, over())
    assert kept(items) == []


def test_a_block_that_nobody_knows_ends_no_message() -> None:
    raw = "".join(json.dumps(line) + "\n" for line in (INIT, said("a", {"type": "brand_new"}))).encode()
    assert watched("claude", raw)[-1] == ("turn_start+message_start+message_update", "working")


def test_what_was_interrupted_is_no_error_in_the_pane() -> None:
    stopped = over(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming")
    raw = "".join(json.dumps(line) + "\n" for line in (INIT, said("a", text("One.")), stopped)).encode()
    assert watched("claude", raw)[-1] == ("turn_end+agent_end", "done")


def test_a_model_that_had_nothing_to_say_was_called_all_the_same() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 10, "output_tokens": 2}
    items, outcome = read(INIT, over(result="", usage=usage))
    turns = of(items, TurnCompleted)
    assert [(turn.input_tokens, turn.cached_input_tokens, turn.output_tokens) for turn in turns] == [(15, 10, 2)]
    assert of(items, CostTick)[-1].cumulative_input_tokens == 15
    assert outcome == Finished("")
