"""pi: what the pane shows."""

import pytest

from runwire.agents.dialect import Telling
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Normaliser
from runwire.agents.pi.dialect import PiDialect
from tests.agents.pi_streams import START, Line, answer, bash, confirm, raw, shows, turn_end, update
from tests.agents.transcripts import watched

# The glass pane.


def names(*lines: Line) -> list[tuple[str, str]]:
    pane, normaliser = Pane(), Normaliser(PiDialect(Telling(agent="pi")))
    shown = [line.split("\t") for line in normaliser.watch(raw(lines), 0, pane)]
    return [(columns[1], columns[2]) for columns in shown]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ({"type": "session", "id": "x"}, "-"),
        ({"type": "agent_start"}, "-"),
        ({"type": "turn_start"}, "turn_start"),
        ({"type": "turn_end", "message": {"stopReason": "stop"}}, "turn_end"),
        ({"type": "message_start", "message": {"role": "user", "content": "x"}}, "message_start"),
        ({"type": "message_end", "message": {"role": "user", "content": "x"}}, "message_end"),
        ({"type": "message_start", "message": {"role": "system", "content": ""}}, "-"),
        ({"type": "message_end", "message": {"role": "system", "content": ""}}, "-"),
        ({"type": "message_start", "message": {"role": "toolResult", "content": []}}, "-"),
        ({"type": "message_end", "message": {"role": "toolResult", "content": []}}, "-"),
        ({"type": "message_start", "message": {"role": "assistant", "content": []}}, "message_start"),
        ({"type": "message_end", "message": {"role": "assistant", "content": [], "stopReason": "stop"}}, "message_end"),
        (
            {"type": "message_end", "message": {"role": "assistant", "stopReason": "error", "errorMessage": "401 no"}},
            "message_end+error",
        ),
        ({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "x"}}, "message_update"),
        (
            {"type": "message_update", "assistantMessageEvent": {"type": "thinking_delta", "delta": "x"}},
            "message_update",
        ),
        (
            {"type": "message_update", "assistantMessageEvent": {"type": "toolcall_delta", "delta": "x"}},
            "message_update",
        ),
        ({"type": "tool_execution_start", "toolCallId": "a", "toolName": "read", "args": {}}, "tool_execution_start"),
        ({"type": "tool_execution_update", "toolCallId": "a", "toolName": "read"}, "tool_execution_update"),
        ({"type": "tool_execution_end", "toolCallId": "a", "toolName": "read", "isError": False}, "tool_execution_end"),
        ({"type": "auto_retry_start", "attempt": 1}, "-"),
        ({"type": "auto_retry_end", "success": True}, "-"),
        ({"type": "compaction_start", "reason": "manual"}, "-"),
        ({"type": "compaction_end", "reason": "manual"}, "-"),
        ({"type": "queue_update", "steering": [], "followUp": []}, "-"),
        ({"type": "entry_appended", "entry": {}}, "-"),
        ({"type": "thinking_level_changed", "level": "low"}, "-"),
        ({"type": "bash_execution_update", "id": "1", "delta": "x"}, "-"),
        ({"type": "session_info_changed", "name": "x"}, "-"),
        ({"type": "summarization_retry_scheduled", "attempt": 1}, "-"),
        ({"type": "summarization_retry_attempt_start", "source": "compaction"}, "-"),
        ({"type": "summarization_retry_finished"}, "-"),
        ({"type": "extension_ui_request", "id": "1", "method": "notify", "message": "x"}, "-"),
        ({"type": "extension_error", "extensionPath": "a.js", "event": "x", "error": "boom"}, "error"),
        ({"type": "response", "command": "get_state", "success": True}, "-"),
        ({"type": "agent_end", "willRetry": True}, "-"),
        ({"type": "agent_end", "willRetry": False}, "agent_end"),
        ({"type": "agent_end"}, "agent_end"),
        ({"type": "agent_settled"}, "agent_end"),
        ({"type": "who knows"}, "-"),
    ],
    ids=lambda one: one["type"] if isinstance(one, dict) else "",
)
def test_the_pane_shows_each_line_by_its_canonical_name(line: Line, name: str) -> None:
    assert names(line)[0][0] == name


def test_the_pane_sees_one_end() -> None:
    shown = names(*START, *answer(), turn_end(), {"type": "agent_end", "willRetry": False}, {"type": "agent_settled"})
    assert [name for name, _ in shown].count("agent_end") == 1
    assert shown[-1] == ("-", "done")


def test_the_pane_does_not_take_a_rest_for_the_end() -> None:
    failed: list[Line] = [
        *START,
        *answer("error", "529 Overloaded"),
        turn_end("error", "529 Overloaded"),
        {"type": "agent_end"},
    ]
    assert names(*failed)[-1] == ("-", "error")
    last: Line = {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 1, "errorMessage": "529 Overloaded"}
    assert names(*failed, last, *failed)[-1] == ("agent_end", "error")


def test_the_pane_is_blocked_while_an_extension_waits() -> None:
    shown = names(*bash("rm -rf x"), confirm(), shows(""))
    assert [state for _, state in shown[-2:]] == ["blocked", "working"]


def test_a_piece_that_nobody_knows_has_no_name_in_the_pane() -> None:
    assert watched("pi", raw([*START, update("brand_new")]))[-1] == ("-", "working")


def test_what_was_called_off_is_no_error_in_the_pane() -> None:
    failed = [*answer("error", "503 overloaded"), turn_end("error", "503 overloaded")]
    off: Line = {"type": "auto_retry_end", "success": False, "finalError": "Retry cancelled"}
    rests: Line = {"type": "agent_end", "willRetry": True}
    states = watched("pi", raw([*START, *failed, rests, off, {"type": "agent_settled", "aborted": True}]))
    assert ("message_end+error", "error") in states
    assert states[-1] == ("agent_end", "done")
