"""pi: what it says becomes one story, whichever version says it."""

import json

import pytest

from runwire.agents.dialect import Cancelled, StreamEnd
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.tool import ToolCancelled, ToolFailed
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from tests.agents.pi_streams import (
    START,
    Line,
    answer,
    bash,
    ended,
    of,
    raw,
    told,
    turn_end,
)
from tests.agents.transcripts import FOLDER, Transcript, items_of, transcripts

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


def test_what_a_failed_turn_has_read_from_a_cache_is_counted() -> None:
    lines = [*START, *answer("error", "refused"), turn_end("error", "refused")]
    usage = {"input": 10, "output": 2, "cacheRead": 90, "cost": {"total": 0.001}}
    lines[3] = {**lines[3], "message": {**lines[3]["message"], "usage": usage}}  # type: ignore[dict-item] # a message
    items, _ = told(*lines, {"type": "agent_end", "willRetry": False}, {"type": "agent_settled"})
    assert [one.input_tokens for one in of(items, TurnFailed)] == [100]
    ticks = of(items, CostTick)
    assert [(one.cumulative_input_tokens, one.cumulative_cached_input_tokens) for one in ticks] == [(100, 90)]
