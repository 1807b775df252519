"""opencode: what the stream of `opencode run` is taken for."""

import json

import pytest

from runwire.agents.dialect import Body, Seen, StreamEnd, Telling
from runwire.agents.opencode.parts import Bill, Cache, Part, Tokens
from runwire.agents.opencode.run import RunDialect
from runwire.host import Failed, Finished
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantToolCallProposed
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolInvoked, ToolTimedOut
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from tests.agents.opencode_streams import KILLED, OK, START, Frame, told_of
from tests.agents.transcripts import kept


def _finish(reason: str = "stop", **more: object) -> Frame:
    return {"type": "step_finish", "sessionID": "s", "part": {"type": "step-finish", "reason": reason, **more}}


def _text(text: str) -> Frame:
    return {"type": "text", "sessionID": "s", "part": {"type": "text", "text": text}}


def _use(tool: str, state: Frame) -> Frame:
    return {"type": "tool_use", "sessionID": "s", "part": {"type": "tool", "tool": tool, "callID": "c", "state": state}}


def _bash(output: str, exit_code: int | None) -> Frame:
    metadata = {"output": output, "exit": exit_code, "truncated": False}
    return _use("bash", {"status": "completed", "input": {"command": "x"}, "output": output, "metadata": metadata})


def test_a_command_that_fails_is_a_failed_call() -> None:
    items, outcome = told_of(START, _bash("out\n", 3), _finish("tool-calls"))
    assert [item.exit_code for item in items if isinstance(item, ShellExited)] == [3]
    assert [item.code for item in items if isinstance(item, ToolFailed)] == ["nonzero_exit"]
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == "out\n"
    assert isinstance(outcome, Finished)


@pytest.mark.parametrize(
    ("output", "kind", "printed"),
    [
        ("(no output)", ToolCompleted, ""),
        ("a\n\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>", ToolCancelled, "a\n"),
        (
            "a\n\n\n<bash_metadata>\nbash tool terminated command after exceeding timeout 2000 ms\n</bash_metadata>",
            ToolTimedOut,
            "a\n",
        ),
    ],
)
def test_what_is_added_to_an_output_was_not_printed(output: str, kind: type, printed: str) -> None:
    items, _ = told_of(START, _bash(output, None), _finish("tool-calls"))
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == printed
    assert len([item for item in items if isinstance(item, kind)]) == 1


def test_a_call_that_does_not_exist_has_failed() -> None:
    items, _ = told_of(START, _use("invalid", {"status": "completed", "input": {"tool": "bash"}, "output": "no"}))
    assert [item.code for item in items if isinstance(item, ToolFailed)] == ["invalid_call"]


def test_a_call_that_nobody_allowed_never_began() -> None:
    error = "The user rejected permission to use this specific tool call."
    refused = _use("bash", {"status": "error", "input": {"command": "x"}, "error": error})
    items, _ = told_of(START, refused, _bash("", 0))
    assert [(item.tool_call_id, item.reason) for item in items if isinstance(item, PolicyToolBlocked)] == [("c", error)]
    assert [item.tool_call_id for item in items if isinstance(item, ToolInvoked)] == ["c~2"]


def test_files_and_lists_are_told_with_the_call_that_made_them() -> None:
    todos = [{"content": "look", "status": "pending"}]
    items, _ = told_of(
        START,
        _use(
            "read",
            {
                "status": "completed",
                "output": "Image read",
                "attachments": [
                    {"mime": "image/png", "url": "data:image/png;base64,AAAA"},
                    {"mime": "image/png", "url": "https://elsewhere/x.png"},
                ],
            },
        ),
        _use("todowrite", {"status": "completed", "input": {"todos": todos}, "output": "[]"}),
        _use("todowrite", {"status": "completed", "input": {"todos": "none"}, "output": "[]"}),
    )
    assert [(item.mime, item.base64) for item in items if isinstance(item, Body)] == [("image/png", "AAAA")]
    assert [[todo.content for todo in item.todos] for item in items if isinstance(item, TodoWriteUpdated)] == [["look"]]
    assert [item.kind for item in items if isinstance(item, ToolInvoked)] == ["file", "todo", "todo"]


def test_a_step_that_begins_again_was_given_up() -> None:
    items, outcome = told_of(START, START, _text("Here."), _finish())
    assert [item.will_retry for item in items if isinstance(item, TurnFailed)] == [True]
    assert len([item for item in items if isinstance(item, TurnCompleted)]) == 1
    assert outcome == Finished("Here.")


def test_steps_without_end_use_nothing_and_do_not_finish() -> None:
    items, outcome = told_of(*[START, _finish("unknown")] * 50, end=KILLED)
    assert len([item for item in items if isinstance(item, TurnStarted)]) == 50
    assert not [item for item in items if isinstance(item, CostTick)]
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"


@pytest.mark.parametrize(
    ("reason", "end", "is_finished"),
    [
        ("stop", StreamEnd(), True),
        ("length", StreamEnd(), True),
        ("tool-calls", StreamEnd(), False),
        ("tool-calls", OK, True),
        ("stop", StreamEnd(exit_code=1), False),
        ("stop", StreamEnd(signal="SIGINT"), False),
        ("stop", StreamEnd(lost="gone"), False),
    ],
)
def test_the_end_of_the_process_says_how_it_went(reason: str, end: StreamEnd, *, is_finished: bool) -> None:
    _, outcome = told_of(START, _text("x"), _finish(reason), end=end)
    assert isinstance(outcome, Finished) is is_finished


def test_an_error_that_is_printed_twice_is_told_once() -> None:
    error: Frame = {"type": "error", "error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}
    items, outcome = told_of(error, error, end=StreamEnd(exit_code=1))
    assert len([item for item in items if isinstance(item, ErrorUpstream)]) == 1
    assert outcome == Failed("context_overflow", "too long")


def test_tokens_of_the_cache_are_counted_and_prices_add_up() -> None:
    def step(cost: float) -> Frame:
        tokens = {"total": 920, "input": 9, "output": 15, "reasoning": 0, "cache": {"read": 896, "write": 0}}
        return _finish("tool-calls", tokens=tokens, cost=cost)

    items, _ = told_of(START, step(0.0000004), START, step(0.0000004), START, step(0.0000004))
    turns = [item for item in items if isinstance(item, TurnCompleted)]
    assert {(item.input_tokens, item.cached_input_tokens, item.output_tokens) for item in turns} == {(905, 896, 15)}
    assert sum(item.cost_micros_usd for item in turns) == 1


@pytest.mark.parametrize(("total", "written"), [(None, 15), (920, 15), (915, 10)])
def test_reasoning_is_output_once(total: int | None, written: int) -> None:
    tokens = Tokens(total=total, input=9, output=10, reasoning=5, cache=Cache(read=896))
    used = Bill().usage(Part(tokens=tokens))
    assert used is not None
    assert used.output_tokens == written


def test_an_empty_answer_is_no_final_answer() -> None:
    items, outcome = told_of(START, _finish())
    assert not [item for item in items if isinstance(item, AssistantFinalAnswer)]
    assert outcome == Finished()


_RUN_NAMES: list[tuple[Frame, tuple[str, ...]]] = [
    (START, ("turn_start",)),
    (_text("x"), ("message_start", "message_end")),
    ({"type": "reasoning", "part": {"text": "x"}}, ("message_update",)),
    (_bash("x", 0), ("tool_execution_start", "tool_execution_end")),
    (_finish(), ("turn_end",)),
    ({"type": "error", "error": {"name": "x"}}, ("error",)),
]


def test_the_lines_of_the_command_have_their_canonical_names() -> None:
    dialect = RunDialect(Telling(agent="opencode"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _ in _RUN_NAMES]
    assert seen == [Seen(str(frame["type"]), names) for frame, names in _RUN_NAMES]


@pytest.mark.parametrize("status", ["brand_new", "running", ""])
def test_a_call_that_ended_nobody_knows_how_is_not_told_as_completed(status: str) -> None:
    items, _ = told_of(START, _use("bash", {"status": status, "input": {"command": "x"}, "output": "y"}), _finish())
    assert kept(items) == [f"no status of a call is called {status!r}"]
    assert [item.tool_call_id for item in items if isinstance(item, AssistantToolCallProposed)] == ["c"]
    assert not [item for item in items if isinstance(item, (ToolInvoked, ToolCompleted, ToolFailed))]
