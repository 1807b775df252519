"""Agno: runs, their turns, text, ends and tokens, whether streamed or whole."""

import json

import pytest

from runwire.agents.dialect import Cancelled
from runwire.host import Failed, Finished
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.tool import ToolCompleted
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from runwire.protocol.events.user import UserMessage
from tests.agents.agno_streams import (
    CONTINUED,
    DONE,
    STARTED,
    event,
    lines,
    new,
    of,
    sse,
    told,
    tool,
    types,
)
from tests.agents.transcripts import breaches_of, items_of

# Runs, turns and text.


def test_before_2_4_a_leg_is_one_turn() -> None:
    items, outcome = told(STARTED, event("RunContent", content="do"), event("RunContent", content="ne"), DONE)
    assert types(items) == [
        "turn.started",
        "assistant.text_delta",
        "assistant.text_complete",
        "assistant.final_answer",
        "turn.completed",
        "cost.tick",
        "agent.state_changed",
    ]
    assert outcome == Finished("done")


def test_from_2_4_on_a_call_of_the_model_is_a_turn() -> None:
    asked = new("ModelRequestStarted", model="m", model_provider="p")
    items, _ = told(
        new("RunStarted"),
        asked,
        new("ModelRequestCompleted", input_tokens=3, output_tokens=1),
        new("ToolCallStarted", tool=tool()),
        new("ToolCallCompleted", tool=tool(result="ok", tool_call_error=False)),
        asked,
        new("RunContent", content="hi"),
        new("ModelRequestCompleted", input_tokens=5, output_tokens=2),
        new("RunContentCompleted"),
        new("RunCompleted", content="hi", metrics={"input_tokens": 8, "output_tokens": 3}),
    )
    turns = [(one.input_tokens, one.stop_reason, one.tool_calls) for one in items if isinstance(one, TurnCompleted)]
    assert turns == [(3, "tool_use", 1), (5, "end_turn", 0)]


def test_a_release_that_tells_of_its_model_late_does_not_get_an_empty_turn() -> None:
    items, _ = told(STARTED, event("ModelRequestStarted", model="m"), event("RunContent", content="x"), DONE)
    assert types(items).count("turn.started") == 1


def test_text_that_comes_only_with_the_end_is_the_text() -> None:
    items, _ = told(STARTED, DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["done"]
    assert of(AssistantFinalAnswer, items)


def test_the_answer_is_the_last_text_and_not_all_of_them_run_together() -> None:
    items, _ = told(
        STARTED,
        event("RunContent", content="First. "),
        event("ToolCallStarted", tool=tool()),
        event("ToolCallCompleted", tool=tool(result="1")),
        event("RunContent", content="Last."),
        event("RunCompleted", content="First. Last."),
    )
    assert [one.summary for one in items if isinstance(one, AssistantFinalAnswer)] == ["Last."]


def test_empty_content_and_what_repeats_it_elsewhere_say_nothing() -> None:
    items, _ = told(STARTED, event("RunContent", content="", model_provider_data={"content": "done"}), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["done"]


def test_a_structured_answer_is_told_as_json() -> None:
    items, _ = told(STARTED, event("RunContent", content={"a": [1]}, content_type="Answer"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ['{"a":[1]}']


def test_the_ends_of_lines_that_other_readers_see_are_text() -> None:
    items, _ = told(STARTED, event("RunContent", content="a\u2028b\u2029c\u0085d"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["a\u2028b\u2029c\u0085d"]


def test_lines_without_the_framing_of_events_are_read_alike() -> None:
    events = (STARTED, event("RunContent", content="x"), event("ToolCallStarted", tool=tool()), DONE)
    assert items_of("agno", [lines(*events)]) == items_of("agno", [sse(*events)])


def test_data_without_a_name_in_the_framing_is_read_alike() -> None:
    events = (STARTED, event("RunContent", content="x"), DONE)
    bare = b"".join(b"data: " + line + b"\n\n" for line in lines(*events).splitlines())
    assert items_of("agno", [bare]) == items_of("agno", [sse(*events)])


def test_what_one_model_says_for_another_is_told_and_is_no_part_of_the_answer() -> None:
    draft = [event("RunIntermediateContent", content=piece) for piece in ("Rough ", "words.")]
    items, outcome = told(STARTED, *draft, event("RunContent", content="done"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["Rough words.", "done"]
    assert outcome == Finished("done")


# Ends.


def test_the_first_end_of_a_leg_wins_and_the_second_is_kept() -> None:
    items, outcome = told(
        STARTED, event("RunContent", content="a"), event("RunCancelled", reason="stop", content="ab"), DONE
    )
    assert outcome == Cancelled(reason="stop")
    assert types(items)[-1] == "agent.unparsed"
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["ab"]
    assert not of(AssistantFinalAnswer, items)


def test_a_finished_run_that_goes_on_begins_another_leg() -> None:
    items, outcome = told(STARTED, DONE, CONTINUED, event("RunContent", content="more"), event("RunError", content="x"))
    assert types(items).count("agent.state_changed") == 2
    assert outcome == Failed("agno_error", "x")


def test_an_error_without_a_run_is_the_run_s() -> None:
    _, outcome = told(event("RunError", None, content="No runs found for run ID nope"))
    assert outcome == Failed("agno_error", "No runs found for run ID nope")


def test_the_failure_of_a_provider_is_one() -> None:
    text = "Error code: 529 - {'type': 'error'}"
    items, outcome = told(STARTED, event("RunError", content=text, error_type="model_provider_error"))
    assert "error.upstream" in types(items)
    assert outcome == Failed("model_provider_error", text)


def test_a_stream_that_breaks_off_has_not_ended_well() -> None:
    items, outcome = told(STARTED, event("RunContent", content="hal"))
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"
    assert of(TurnFailed, items)


# Whole runs.


def test_the_output_of_a_whole_run_is_told_like_a_stream() -> None:
    output = {
        "run_id": "r",
        "status": "COMPLETED",
        "content": "All done.",
        "model": "m",
        "input": {"input_content": "list"},
        "tools": [tool(result="{'a': 1}", tool_call_error=False)],
        "metrics": {"input_tokens": 5, "output_tokens": 1},
    }
    raw = json.dumps(output).encode()
    items, outcome = items_of("agno", [raw])
    assert breaches_of("agno", [raw]) == []
    assert [one.text for one in items if isinstance(one, UserMessage)] == ["list"]
    assert [one.output for one in items if isinstance(one, ToolCompleted)] == ['{"a":1}']
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [5]
    assert outcome == Finished("All done.")


@pytest.mark.parametrize(
    ("status", "code"), [("ERROR", "agno_error"), ("PAUSED", "unanswered"), ("RUNNING", "agent_exited")]
)
def test_a_whole_run_that_is_not_done_is_told_as_it_is(status: str, code: str) -> None:
    output = {"run_id": "r", "status": status, "content": "x", "tools": [tool(requires_confirmation=True)]}
    raw = json.dumps(output).encode()
    assert breaches_of("agno", [raw]) == []
    _, outcome = items_of("agno", [raw])
    assert isinstance(outcome, Failed)
    assert outcome.code == code


def test_a_request_that_the_server_does_not_take_has_failed() -> None:
    assert items_of("agno", [b'{"detail":"Not Found"}'])[1] == Failed("agno_refused", "Not Found")
    listed = b'{"detail":[{"loc":["body","message"],"msg":"Field required"}]}'
    _, outcome = items_of("agno", [listed])
    assert isinstance(outcome, Failed)
    assert "Field required" in outcome.message


# Tokens.


def test_sums_over_all_legs_are_counted_leg_by_leg() -> None:
    first = event("RunCompleted", content="a", metrics={"input_tokens": 26, "output_tokens": 3})
    second = event("RunCompleted", content="b", metrics={"input_tokens": 81, "output_tokens": 9})
    items, _ = told(STARTED, first, CONTINUED, second)
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [26, 55]
    assert [one.cumulative_input_tokens for one in items if isinstance(one, CostTick)] == [26, 81]


def test_calls_that_only_the_sum_tells_of_are_counted() -> None:
    used = new("ModelRequestCompleted", input_tokens=10, output_tokens=1)
    done = new("RunCompleted", content="x", metrics={"input_tokens": 15, "output_tokens": 2, "cost": 0.002})
    items, _ = told(new("RunStarted"), new("ModelRequestStarted"), used, done)
    ticks = [one for one in items if isinstance(one, CostTick)]
    assert [(one.cumulative_input_tokens, one.cumulative_cost_micros_usd) for one in ticks] == [(15, 2000)]


def test_the_sum_of_legs_that_were_not_seen_is_not_counted() -> None:
    used = new("ModelRequestCompleted", input_tokens=10, output_tokens=1)
    done = new("RunCompleted", content="x", metrics={"input_tokens": 90})
    items, _ = told(new("RunContinued"), new("ModelRequestStarted"), used, done)
    assert [one.cumulative_input_tokens for one in items if isinstance(one, CostTick)] == [10]


@pytest.mark.parametrize(
    ("model", "provider", "given", "expected"),
    [("claude-sonnet-4-5", "Anthropic", 100, 1010), ("gpt-x", "OpenAI", 1000, 1000), ("x", "y", 5, 915)],
)
def test_the_input_includes_what_a_cache_held(model: str, provider: str, given: int, expected: int) -> None:
    used = new(
        "ModelRequestCompleted",
        model=model,
        model_provider=provider,
        input_tokens=given,
        cache_read_tokens=896,
        cache_write_tokens=14,
    )
    items, _ = told(new("RunStarted"), new("ModelRequestStarted"), used, new("RunCompleted", content="x"))
    counted = [(one.input_tokens, one.cached_input_tokens) for one in items if isinstance(one, TurnCompleted)]
    assert counted == [(expected, 896)]
