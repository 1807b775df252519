"""pi: what it says becomes one story, whichever version says it, and what we say to it is what it understands."""

import json
import random
from collections.abc import Iterable
from typing import TypeVar

import pytest

from runwire.agents.dialect import Body, Cancelled, Image, Item, Outcome, Question, Reply, StreamEnd, Telling
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Normaliser
from runwire.agents.pi.dialect import PiDialect
from runwire.agents.pi.tooling import Printing
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from tests.agents.transcripts import FOLDER, Transcript, breaches_of, items_of, kept, transcripts, watched

Line = dict[str, object]
Kind = TypeVar("Kind")

START: list[Line] = [{"type": "agent_start"}, {"type": "turn_start"}]


def told(*lines: Line, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    return items_of("pi", [raw(lines)], end)


def raw(lines: Iterable[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def of(items: Iterable[Item], kind: type[Kind]) -> list[Kind]:
    return [item for item in items if isinstance(item, kind)]


def answer(stop: str = "stop", error: str = "", content: list[Line] | None = None) -> list[Line]:
    message: Line = {"role": "assistant", "content": content or [], "stopReason": stop, "model": "m", "provider": "p"}
    if error:
        message["errorMessage"] = error
    return [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "message_end", "message": message},
    ]


def turn_end(stop: str = "stop", error: str = "") -> Line:
    message: Line = {"role": "assistant", "stopReason": stop}
    return {"type": "turn_end", "message": {**message, "errorMessage": error} if error else message, "toolResults": []}


def bash(command: str = "true", call_id: str = "c1") -> list[Line]:
    return [
        *START,
        *answer(
            "toolUse", content=[{"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": command}}]
        ),
        {"type": "tool_execution_start", "toolCallId": call_id, "toolName": "bash", "args": {"command": command}},
    ]


def shows(text: str, *, total: int | None = None, call_id: str = "c1") -> Line:
    details = {} if total is None else {"truncation": {"truncated": True, "totalBytes": total}}
    result = {"content": [{"type": "text", "text": text}], "details": details}
    return {"type": "tool_execution_update", "toolCallId": call_id, "toolName": "bash", "partialResult": result}


def ended(text: str, *, is_error: bool = False, call_id: str = "c1", **more: object) -> Line:
    result = {"content": [{"type": "text", "text": text}], **more}
    return {
        "type": "tool_execution_end",
        "toolCallId": call_id,
        "toolName": "bash",
        "result": result,
        "isError": is_error,
    }


# What happened.


def test_both_ways_of_streaming_tell_the_same_text() -> None:
    old, new = (
        items_of("pi", [(FOLDER / version / "json_long_unicode.jsonl").read_bytes()])[0]
        for version in ("pi-0.73.1", "pi-0.87.1")
    )
    assert [one.text for one in of(old, AssistantTextComplete)] == [one.text for one in of(new, AssistantTextComplete)]


def test_a_transcript_that_repeats_itself_is_not_kept_so() -> None:
    stream = (FOLDER / "pi-0.73.1" / "json_long_unicode.jsonl").read_bytes()
    items, _ = items_of("pi", [stream])
    kept = sum(len(one.delta) for one in of(items, AssistantTextDelta))
    assert kept * 100 < len(stream)
    # Also when every piece of it comes too late.
    items, _ = items_of("pi", [raw([*START, *answer(), turn_end(), {"type": "agent_end"}]), *pieces_only(stream)])
    assert sum(len(one.raw) for one in of(items, AgentUnparsed)) * 10 < len(stream)


def pieces_only(stream: bytes) -> list[bytes]:
    return [line + b"\n" for line in stream.split(b"\n") if line.startswith(b'{"type":"message_update"')]


def test_an_error_has_no_event_of_its_own() -> None:
    items, outcome = told(
        *START, *answer("error", "401 wrong key"), turn_end("error", "401 wrong key"), {"type": "agent_end"}
    )
    assert [(one.status, one.retriable) for one in of(items, ErrorUpstream)] == [(401, False)]
    assert [one.will_retry for one in of(items, TurnFailed)] == [False]
    assert outcome == Failed("model_error", "401 wrong key", retriable=False)


@pytest.mark.parametrize("says", [True, False], ids=["says so", "does so"])
def test_an_agent_that_tries_again_has_not_ended(says: bool) -> None:
    end: Line = {"type": "agent_end", "willRetry": True} if says else {"type": "agent_end"}
    over: list[Line] = (
        [{"type": "agent_end", "willRetry": False}, {"type": "agent_settled"}] if says else [{"type": "agent_end"}]
    )
    items, outcome = told(
        *START,
        *answer("error", "529 Overloaded"),
        turn_end("error", "529 Overloaded"),
        end,
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 2, "delayMs": 1, "errorMessage": "529 Overloaded"},
        *START,
        *answer("stop", content=[{"type": "text", "text": "hi"}]),
        turn_end(),
        {"type": "auto_retry_end", "success": True, "attempt": 1},
        *over,
    )
    assert [one.will_retry for one in of(items, TurnFailed)] == [True]
    assert [(one.attempt, one.max_attempts) for one in of(items, ErrorUpstream)] == [(1, 3)]
    assert outcome == Finished("hi")


def test_an_old_agent_that_gives_up_has_failed() -> None:
    stream = (FOLDER / "pi-0.73.1" / "rpc_error_529_retries.jsonl").read_bytes()
    items, outcome = items_of("pi", [stream])
    assert [one.will_retry for one in of(items, TurnFailed)] == [True, True, False]
    assert isinstance(outcome, Failed)


def test_a_retry_that_was_called_off_is_a_cancel() -> None:
    items, outcome = told(
        *START,
        *answer("error", "529 Overloaded"),
        turn_end("error", "529 Overloaded"),
        {"type": "agent_end"},
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 2, "delayMs": 1, "errorMessage": "529 Overloaded"},
        {"type": "auto_retry_end", "success": False, "attempt": 1, "finalError": "Retry cancelled"},
    )
    assert of(items, TurnFailed)
    assert outcome == Cancelled()


@pytest.mark.parametrize(
    ("stop", "error"),
    [("aborted", "Request was aborted."), ("error", "This operation was aborted"), ("error", "Request was aborted")],
)
def test_an_abort_is_no_error_whatever_it_calls_itself(stop: str, error: str) -> None:
    items, outcome = told(
        *bash("sleep 9"),
        ended("begin\n\n\nCommand aborted", is_error=True),
        turn_end("toolUse"),
        {"type": "turn_start"},
        *answer(stop, error),
        turn_end(stop, error),
        {"type": "agent_end", "willRetry": False},
        {"type": "agent_settled"},
        {"type": "response", "command": "abort", "success": True},
    )
    assert outcome == Cancelled()
    assert len(of(items, ToolCancelled)) == 1
    assert not of(items, ErrorUpstream)
    assert [one.code for one in of(items, TurnFailed)] == ["cancelled"]


def test_the_newest_says_itself_that_it_was_aborted() -> None:
    _, outcome = told(
        *START,
        *answer(),
        turn_end(),
        {"type": "agent_end", "willRetry": False},
        {"type": "agent_settled", "aborted": True},
    )
    assert outcome == Cancelled()


def test_calls_of_an_answer_that_was_cut_off_are_not_proposed() -> None:
    half: list[Line] = [{"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "a"}}]
    items, _ = told(
        *START, *answer("aborted", "Request was aborted", content=half), turn_end("aborted"), {"type": "agent_end"}
    )
    assert not of(items, AssistantToolCallProposed)


def test_a_stream_that_ends_in_the_middle_did_not_finish() -> None:
    items, outcome = told(*bash("sleep 9"), end=StreamEnd(exit_code=0))
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"
    assert [one.code for one in of(items, ToolFailed)] == ["interrupted"]


def test_a_turn_that_was_announced_is_told_even_if_nothing_came_of_it() -> None:
    items, _ = told(*START, {"type": "message_end", "message": {"role": "user", "content": "hi"}})
    assert len(of(items, TurnStarted)) == len(of(items, TurnFailed)) == 1


def test_a_second_prompt_that_is_refused_does_not_end_the_first() -> None:
    _, outcome = told(
        {"type": "response", "id": "1", "command": "prompt", "success": True},
        *START,
        {"type": "response", "id": "2", "command": "prompt", "success": False, "error": "Agent is already processing."},
        *answer("stop", content=[{"type": "text", "text": "done"}]),
        turn_end(),
        {"type": "agent_end"},
    )
    assert outcome == Finished("done")


def test_the_only_prompt_refused_is_a_failure() -> None:
    _, outcome = told(
        {"type": "response", "command": "prompt", "success": False, "error": "text.startsWith is not a function"}
    )
    assert outcome == Failed("rejected", "text.startsWith is not a function")


def test_text_that_was_not_streamed_is_told_whole() -> None:
    items, _ = told(
        *START, *answer("stop", content=[{"type": "text", "text": "all at once"}]), turn_end(), {"type": "agent_end"}
    )
    assert [one.text for one in of(items, AssistantTextComplete)] == ["all at once"]


# Tokens and money.


@pytest.mark.parametrize("transcript", transcripts("pi-0.73.1", "pi-0.87.1"), ids=lambda one: one.name)
def test_what_was_used_is_what_the_messages_say(transcript: Transcript) -> None:
    path = transcript.path
    messages = [
        line["message"]
        for line in map(json.loads, filter(None, path.read_bytes().split(b"\n")))
        if line["type"] == "message_end" and line["message"]["role"] == "assistant"
    ]
    used = [message["usage"] for message in messages]
    items, _ = items_of("pi", [path.read_bytes()])
    ticks = of(items, CostTick)
    got = (ticks[-1].cumulative_input_tokens, ticks[-1].cumulative_output_tokens) if ticks else (0, 0)
    assert got == (
        sum(one["input"] + one["cacheRead"] + one["cacheWrite"] for one in used),
        sum(one["output"] for one in used),
    )


def test_cached_tokens_are_part_of_the_input() -> None:
    items, _ = items_of("pi", [(FOLDER / "pi-0.87.1" / "json_simple_text.jsonl").read_bytes()])
    (turn,) = of(items, TurnCompleted)
    assert (turn.input_tokens, turn.cached_input_tokens, turn.output_tokens, turn.cost_micros_usd) == (
        902,
        896,
        12,
        240,
    )


# Commands.


@pytest.mark.parametrize(
    ("text", "is_error", "code", "output"),
    [
        ("Linux\n", False, 0, "Linux\n"),
        ("(no output)", False, 0, ""),
        ("oops\n\n\nCommand exited with code 3", True, 3, "oops\n"),
        ("(no output)\n\nCommand exited with code 127", True, 127, ""),
        ("Command exited with code 1", True, 1, ""),
    ],
)
def test_the_exit_status_of_a_command_is_what_pi_writes_below_its_output(
    text: str, is_error: bool, code: int, output: str
) -> None:
    items, _ = told(*bash(), ended(text, is_error=is_error), turn_end("toolUse"))
    assert [one.exit_code for one in of(items, ShellExited)] == [code]
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == output
    assert len(of(items, ToolFailed if is_error else ToolCompleted)) == 1


@pytest.mark.parametrize("why", ["Blocked by user", 'Validation failed for tool "bash":\n  - root: must be object'])
def test_why_a_command_was_not_run_is_not_its_output(why: str) -> None:
    items, _ = told(*bash(), ended(why, is_error=True), turn_end("toolUse"))
    assert not of(items, ShellOutputChunk)
    assert not of(items, ShellExited)
    assert [one.message for one in of(items, ToolFailed)] == [why]


def test_newer_ones_say_the_exit_status_itself() -> None:
    items, _ = told(
        *bash(),
        ended(
            "x",
            is_error=True,
            structuredContent={"output": "x", "truncated": False, "exit_code": 5, "wall_time_seconds": 1},
        ),
    )
    assert [one.exit_code for one in of(items, ShellExited)] == [5]


def test_newer_ones_give_the_whole_output_at_last() -> None:
    whole = {"output": "a\nb\nc\n", "truncated": False, "exit_code": 0, "wall_time_seconds": 1}
    cut = {"truncation": {"truncated": True, "totalBytes": 6}}
    items, _ = told(
        *bash(), ended("c\n\n[Showing lines 3-3 of 3. Full output: /x]", details=cut, structuredContent=whole)
    )
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == "a\nb\nc\n"
    assert [one.truncated for one in of(items, ShellExited)] == [False]


def test_a_command_that_took_too_long_has_no_exit_status() -> None:
    items, _ = told(*bash(), ended("a\n\n\nCommand timed out after 5 seconds", is_error=True))
    assert not of(items, ShellExited)
    assert len(of(items, ToolTimedOut)) == 1


def test_output_that_is_shown_again_and_again_is_told_once() -> None:
    items, _ = told(*bash(), shows(""), shows("one\n"), shows("one\ntwo\n"), ended("one\ntwo\nthree\n"))
    assert [(one.byte_offset, one.data) for one in of(items, ShellOutputChunk)] == [(0, "one\ntwo\nthree\n")]


def test_what_is_left_out_of_a_long_output_is_counted() -> None:
    notice = "\n\n[Showing lines 3-4 of 4. Full output: /scratch/x.log]"
    items, _ = told(
        *bash(),
        shows("aaaa\n"),
        shows("cccc\ndddd", total=20),
        ended(f"cccc\ndddd{notice}", details={"truncation": {"truncated": True, "totalBytes": 20}}),
    )
    chunks = of(items, ShellOutputChunk)
    assert [one.data for one in chunks] == ["aaaa\n", "cccc\ndddd"]
    assert chunks[1].byte_offset == 11
    assert [(one.stdout_bytes, one.truncated) for one in of(items, ShellExited)] == [(20, True)]


def test_windows_over_an_output_join_without_loss() -> None:
    whole = "".join(f"{number} ünï\n" for number in range(4000))
    chance = random.Random(7)
    printing, got, at = Printing(), "", 0
    while at < len(whole):
        at = min(len(whole), at + chance.randrange(1, 900))
        window = whole[max(0, at - 1000) : at]
        total = len(whole[:at].encode())
        # The end of a last line is left out of what is shown, but counted.
        skipped, new = printing.fresh(window.removesuffix("\n") if at > 1000 else window, None if at <= 1000 else total)
        assert skipped <= 1
        got += new
    assert got.rstrip("\n") == whole.rstrip("\n")


def test_a_picture_that_was_read_is_a_body() -> None:
    items, _ = items_of("pi", [(FOLDER / "pi-0.87.1" / "rpc_tool_read_image.jsonl").read_bytes()])
    (body,) = of(items, Body)
    assert body.mime == "image/png"
    assert body.tool_call_id == "call_fake_0001"
    assert items[items.index(body) + 1 :][0] in of(items, ToolCompleted)


# Questions, watched.


def confirm(**more: object) -> Line:
    return {
        "type": "extension_ui_request",
        "id": "q1",
        "method": "confirm",
        "title": "Allow command?",
        "message": "rm -rf x",
        **more,
    }


def test_a_question_that_is_watched_is_answered_by_what_becomes_of_the_call() -> None:
    items, _ = told(*bash("rm -rf x"), confirm(), shows(""), ended("(no output)"))
    (asked,) = of(items, ApprovalRequested)
    assert (asked.tool_call_id, asked.kind, asked.summary, asked.policy_reason) == (
        "c1",
        "bash",
        "rm -rf x",
        "Allow command?",
    )
    assert [one.decision for one in of(items, ApprovalResolved)] == ["approved"]
    items, _ = told(*bash("rm -rf x"), confirm(), ended("Blocked by user", is_error=True))
    assert [(one.decision, one.comment) for one in of(items, ApprovalResolved)] == [("denied", "Blocked by user")]


@pytest.mark.parametrize("method", ["notify", "setStatus", "setTitle", "setWidget", "set_editor_text"])
def test_what_an_extension_only_shows_is_no_question(method: str) -> None:
    items, _ = told(*START, confirm(method=method))
    assert not of(items, ApprovalRequested)


def test_a_question_about_no_call_is_answered_when_the_agent_goes_on() -> None:
    items, _ = told(*START, confirm(), *answer(), turn_end(), {"type": "agent_end"})
    assert [one.by for one in of(items, ApprovalResolved)] == ["operator"]


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


# Speaking.


def spoken(dialect: PiDialect) -> list[Line]:
    return [json.loads(item.data) for item in dialect.teller.take() if isinstance(item, Reply)]


def driven() -> PiDialect:
    return PiDialect(Telling(agent="pi", driven=True))


def hear(dialect: PiDialect, *lines: Line) -> list[Item]:
    for line in lines:
        dialect.feed(json.dumps(line).encode(), 0)
    return dialect.teller.take()


def test_a_prompt_is_said_as_it_was_recorded() -> None:
    dialect = driven()
    dialect.prompt("say hello")
    assert spoken(dialect) == [{"id": "1", "type": "prompt", "message": "say hello"}]
    assert not dialect.ready
    dialect.prompt("look", [Image("image/png", "aGk=")])
    assert spoken(dialect)[0]["images"] == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]


def test_what_is_greeted_says_who_will_answer() -> None:
    dialect = driven()
    dialect.hello()
    assert spoken(dialect) == [{"id": "hello", "type": "get_state"}]
    hear(
        dialect,
        {
            "type": "response",
            "id": "hello",
            "command": "get_state",
            "success": True,
            "data": {"model": {"id": "m", "provider": "p"}},
        },
    )
    assert dialect.ready
    dialect.prompt("hi")
    items = hear(
        dialect,
        {"type": "response", "id": "1", "command": "prompt", "success": True},
        *START,
        {"type": "message_end", "message": {"role": "user"}},
    )
    assert [(one.model, one.provider) for one in of(items, TurnStarted)] == [("m", "p")]


def test_a_recorded_conversation_is_answered_with_what_was_recorded() -> None:
    dialect = driven()
    dialect.prompt("remove the scratch dir [tool:danger]")
    spoken(dialect)
    items: list[Item] = []
    for line in (FOLDER / "pi-0.87.1" / "rpc_approval_allow.jsonl").read_bytes().split(b"\n"):
        if not line:
            continue
        dialect.feed(line, 0)
        items += dialect.teller.take()
        if dialect.teller.questions:
            (question,) = of(items, Question)
            dialect.answer(question.question_id, Answer(allowed=True, input=question.input))
            assert spoken(dialect) == [
                {"type": "extension_ui_response", "id": "16b4799a-0fea-42dd-a67b-bfc06e9193d5", "confirmed": True}
            ]
    (question,) = of(items, Question)
    assert (question.kind, question.tool_name, question.argv_text) == ("permission", "bash", "rm -rf ./scratch")
    assert "executes" in question.effects
    assert dialect.ready
    assert dialect.teller.outcome == Finished("The danger step is done.")
    assert not of(items, ApprovalRequested), "the run tells of approvals itself"


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("confirm", Answer(allowed=True, input={}), {"confirmed": True}),
        ("confirm", Answer(allowed=False, input={}), {"confirmed": False}),
        ("select", Answer(allowed=True, input={"value": "b"}, edited=True), {"value": "b"}),
        ("select", Answer(allowed=True, input={}), {"cancelled": True}),
        ("select", Answer(allowed=False, input={}), {"cancelled": True}),
        ("input", Answer(allowed=True, input={"value": "text"}, edited=True), {"value": "text"}),
        ("editor", Answer(allowed=True, input={"title": "t", "value": "as it was"}), {"value": "as it was"}),
        ("editor", Answer(allowed=False, input={"value": "x"}), {"cancelled": True}),
    ],
)
def test_every_question_of_an_extension_has_an_answer(method: str, given: Answer, said: Line) -> None:
    dialect = driven()
    dialect.prompt("x")
    items = hear(dialect, *START, confirm(method=method, options=["a", "b"], prefill="as it was"))
    (question,) = of(items, Question)
    assert question.kind == {"confirm": "permission", "select": "choice"}.get(method, "input")
    dialect.answer("q1", given)
    assert spoken(dialect) == [{"type": "extension_ui_response", "id": "q1", **said}]
    dialect.answer("q1", given)
    assert spoken(dialect) == [], "an answer is given once"


def test_an_abort_also_ends_the_waiting_of_an_extension() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, *bash("rm -rf x"), confirm())
    assert dialect.cancel("ada", "enough")
    assert spoken(dialect) == [
        {"id": "abort", "type": "abort"},
        {"type": "extension_ui_response", "id": "q1", "cancelled": True},
    ]
    hear(
        dialect,
        ended("Blocked", is_error=True),
        turn_end("toolUse"),
        {"type": "agent_end", "willRetry": False},
        {"type": "agent_settled"},
    )
    assert dialect.teller.outcome == Cancelled("ada", "enough")


def test_a_question_that_comes_too_late_is_closed() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, *START, *answer(), turn_end(), {"type": "agent_end"})
    items = hear(dialect, confirm())
    assert not of(items, Question)
    assert [json.loads(one.data) for one in of(items, Reply)] == [
        {"type": "extension_ui_response", "id": "q1", "cancelled": True}
    ]


def test_an_old_one_that_failed_is_asked_whether_that_was_all() -> None:
    dialect = driven()
    dialect.prompt("x")
    spoken(dialect)
    hear(dialect, *START, *answer("error", "401 no"), turn_end("error", "401 no"))
    items = hear(dialect, {"type": "agent_end"})
    assert [json.loads(one.data) for one in of(items, Reply)] == [{"id": "over", "type": "get_state"}]
    assert dialect.teller.outcome is None
    idle: Line = {
        "type": "response",
        "id": "over",
        "command": "get_state",
        "success": True,
        "data": {"isStreaming": False},
    }
    hear(dialect, idle)
    assert isinstance(dialect.teller.outcome, Failed)


def test_an_old_one_that_tries_again_says_so_before_it_answers() -> None:
    dialect = driven()
    dialect.prompt("x")
    idle: Line = {"type": "response", "id": "over", "command": "get_state", "success": True, "data": {}}
    busy: Line = {
        "type": "response",
        "id": "over",
        "command": "get_state",
        "success": True,
        "data": {"isStreaming": True},
    }
    hear(
        dialect,
        *START,
        *answer("error", "529 Overloaded"),
        turn_end("error", "529 Overloaded"),
        {"type": "agent_end"},
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 2},
        idle,
        {"type": "agent_start"},
        busy,
    )
    assert dialect.teller.outcome is None


def test_a_prompt_that_an_extension_took_is_over() -> None:
    dialect = driven()
    dialect.prompt("/mine")
    taken = {"disposition": "handled"}
    hear(dialect, {"type": "response", "id": "1", "command": "prompt", "success": True, "data": taken})
    assert dialect.teller.outcome == Finished()


def test_a_prompt_that_is_refused_ends_at_once() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, {"type": "response", "id": "1", "command": "prompt", "success": False, "error": "no model"})
    assert dialect.teller.outcome == Failed("rejected", "no model")
    assert dialect.ready


# Whatever comes.


@pytest.mark.parametrize("transcript", transcripts("pi-0.87.1")[::6], ids=lambda one: one.name)
def test_a_stream_that_is_cut_anywhere_keeps_the_rules(transcript: Transcript) -> None:
    stream = transcript.raw
    chance = random.Random(1)
    for _ in range(12):
        assert breaches_of("pi", [stream[: chance.randrange(len(stream) + 1)]]) == []


def test_lines_of_streams_that_are_mixed_keep_the_rules() -> None:
    chance = random.Random(2)
    streams = [one.raw.split(b"\n") for one in transcripts("pi-0.73.1", "pi-0.87.1") if len(one.raw) < 60_000]
    for _ in range(25):
        lines = [*chance.choice(streams), *chance.choice(streams)]
        chance.shuffle(lines)
        assert breaches_of("pi", [b"\n".join(lines)]) == []


@pytest.mark.parametrize(
    "junk",
    [
        b"null",
        b"[]",
        b"{}",
        b'"x"',
        b"\xff\xfe",
        b'{"type":"message_update"}',
        b'{"type":"message_update","assistantMessageEvent":null}',
        b'{"type":"message_end","message":{"role":"assistant","content":7}}',
        b'{"type":"tool_execution_end","toolCallId":"x","result":{"content":[],"details":"text","structuredContent":[1]}}',
        b'{"type":"tool_execution_update","toolCallId":"x","toolName":"bash","partialResult":{"content":[{"type":"text","text":"a"}],"details":{"truncation":{"truncated":true,"totalBytes":-5}}}}',
        b'{"type":"extension_ui_request","id":"q","method":"select","options":[1]}',
        b'{"type":"turn_end"}',
        b'{"type":"response","command":"get_state","success":true,"data":[]}',
    ],
)
def test_junk_harms_nothing(junk: bytes) -> None:
    assert (
        breaches_of("pi", [raw(START), junk + b"\n", raw([*answer(), turn_end(), {"type": "agent_end"}]), junk]) == []
    )


# What is not known.


def update(kind: str) -> Line:
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": 0, "delta": "x"}}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (update("brand_new"), "no piece of a message is called 'brand_new'"),
        ({"type": "message_start", "message": {"role": "brand_new"}}, "no role is called 'brand_new'"),
        ({"type": "message_end", "message": {"role": "brand_new"}}, "no role is called 'brand_new'"),
        (answer(content=[{"type": "brand_new"}])[1], "no block is called 'brand_new'"),
        (
            {"type": "message_end", "message": {"role": "user", "content": [{"type": "brand_new"}]}},
            "no block is called 'brand_new'",
        ),
        (
            {"type": "tool_execution_end", "toolCallId": "c1", "result": {"content": [{"type": "brand_new"}]}},
            "no block is called 'brand_new'",
        ),
        (
            {"type": "extension_ui_request", "id": "e", "method": "brand_new"},
            "no method of an extension is called 'brand_new'",
        ),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(line: Line, why: str) -> None:
    items, _ = told(*START, line)
    assert kept(items) == [why]


@pytest.mark.parametrize(
    "line",
    [
        *map(update, ("start", "text_start", "text_end", "toolcall_start", "toolcall_delta", "toolcall_end", "done")),
        {"type": "message_start", "message": {"role": "toolResult"}},
        {"type": "message_end", "message": {"role": "system", "content": "x"}},
        {"type": "extension_ui_request", "id": "e", "method": "setStatus"},
    ],
)
def test_what_tells_nothing_is_passed_over(line: Line) -> None:
    items, _ = told(*START, line)
    assert kept(items) == []


def test_a_piece_that_nobody_knows_has_no_name_in_the_pane() -> None:
    assert watched("pi", raw([*START, update("brand_new")]))[-1] == ("-", "working")


def test_what_was_called_off_is_no_error_in_the_pane() -> None:
    failed = [*answer("error", "503 overloaded"), turn_end("error", "503 overloaded")]
    off: Line = {"type": "auto_retry_end", "success": False, "finalError": "Retry cancelled"}
    rests: Line = {"type": "agent_end", "willRetry": True}
    states = watched("pi", raw([*START, *failed, rests, off, {"type": "agent_settled", "aborted": True}]))
    assert ("message_end+error", "error") in states
    assert states[-1] == ("agent_end", "done")


def test_what_a_failed_turn_has_read_from_a_cache_is_counted() -> None:
    lines = [*START, *answer("error", "refused"), turn_end("error", "refused")]
    usage = {"input": 10, "output": 2, "cacheRead": 90, "cost": {"total": 0.001}}
    lines[3] = {**lines[3], "message": {**lines[3]["message"], "usage": usage}}  # type: ignore[dict-item] # a message
    items, _ = told(*lines, {"type": "agent_end", "willRetry": False}, {"type": "agent_settled"})
    assert [one.input_tokens for one in of(items, TurnFailed)] == [100]
    ticks = of(items, CostTick)
    assert [(one.cumulative_input_tokens, one.cumulative_cached_input_tokens) for one in ticks] == [(100, 90)]
