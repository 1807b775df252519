"""gemini-cli: what its stream-json says, and what it leaves out."""

import json
import random
from collections.abc import Iterable
from typing import TypeVar

import pytest

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Item, Outcome, StreamEnd, Telling
from runwire.agents.gemini.dialect import GeminiDialect
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Normaliser
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from tests.agents.transcripts import FOLDER, Transcript, breaches_of, items_of, kept, transcripts, watched

Line = dict[str, object]
Kind = TypeVar("Kind")
CAPTURES = "gemini-cli-0.61.0"

INIT: Line = {"type": "init", "session_id": "s", "model": "gemini-2.5-flash"}
USER: Line = {"type": "message", "role": "user", "content": "hi"}
STATS = {"total_tokens": 20, "input_tokens": 15, "output_tokens": 5, "cached": 10, "input": 5}


def raw(lines: Iterable[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def told(*lines: Line, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    return items_of("gemini", [raw(lines)], end)


def of(items: Iterable[Item], kind: type[Kind]) -> list[Kind]:
    return [item for item in items if isinstance(item, kind)]


def says(text: str) -> Line:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def uses(name: str, number: int = 1, **parameters: object) -> Line:
    return {"type": "tool_use", "tool_name": name, "tool_id": f"{name}__{number}", "parameters": parameters}


def returns(name: str, number: int = 1, output: str = "", status: str = "success", **more: object) -> Line:
    return {"type": "tool_result", "tool_id": f"{name}__{number}", "status": status, "output": output, **more}


def result(status: str = "success", **more: object) -> Line:
    return {"type": "result", "status": status, "stats": STATS, **more}


def test_pieces_without_an_end_become_a_whole_text() -> None:
    items, outcome = told(INIT, USER, says("Hel"), says("lo"), result())
    assert [one.text for one in of(items, AssistantTextComplete)] == ["Hello"]
    assert outcome == Finished("Hello")


def test_a_turn_ends_with_the_last_of_its_tools() -> None:
    items, _ = told(
        INIT,
        USER,
        says("two"),
        uses("glob", 1),
        uses("glob", 2),
        returns("glob", 1),
        returns("glob", 2),
        uses("read_file", 3),
        returns("read_file", 3),
        says("done"),
        result(),
    )
    assert [(one.tool_calls, one.stop_reason) for one in of(items, TurnCompleted)] == [
        (2, "tool_use"),
        (1, "tool_use"),
        (0, "end_turn"),
    ]


def test_the_use_of_the_session_stands_with_its_last_turn() -> None:
    items, _ = told(INIT, USER, uses("glob"), returns("glob"), says("x"), result())
    assert [one.input_tokens for one in of(items, TurnCompleted)] == [0, 15]
    (tick,) = of(items, CostTick)
    assert (tick.cumulative_input_tokens, tick.cumulative_output_tokens, tick.cumulative_cached_input_tokens) == (
        15,
        5,
        10,
    )


def test_the_exit_status_of_a_command_is_not_known() -> None:
    items, _ = told(
        INIT, USER, uses("run_shell_command", command="false"), returns("run_shell_command", output="out"), result()
    )
    assert [one.data for one in of(items, ShellOutputChunk)] == ["out"]
    assert not of(items, ShellExited)
    assert len(of(items, ToolCompleted)) == 1


def test_a_tool_that_failed_says_why() -> None:
    fault = {"type": "file_not_found", "message": "File not found: /x"}
    items, _ = told(
        INIT, USER, uses("read_file"), returns("read_file", status="error", output="no", error=fault), result()
    )
    assert [(one.code, one.message) for one in of(items, ToolFailed)] == [("file_not_found", "File not found: /x")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run_shell_command", "shell"),
        ("read_file", "file"),
        ("write_file", "edit"),
        ("replace", "edit"),
        ("grep_search", "search"),
        ("web_fetch", "web"),
        ("write_todos", "todo"),
        ("mcp_github_search_issues", "mcp"),
        ("save_memory", "tool"),
    ],
)
def test_tools_are_of_a_kind(name: str, kind: str) -> None:
    items, _ = told(INIT, USER, uses(name), returns(name), result())
    assert [one.kind for one in of(items, ToolInvoked)] == [kind]


def test_a_tool_of_a_server_names_both() -> None:
    items, _ = told(INIT, USER, uses("mcp_github_search_issues"), result())
    (invoked,) = of(items, ToolInvoked)
    assert (invoked.mcp_server, invoked.mcp_tool) == ("github", "search_issues")


def test_the_list_of_what_is_to_be_done_is_told() -> None:
    todos = [{"description": "a", "status": "completed"}, {"description": "b", "status": "pending"}, "junk"]
    items, _ = told(INIT, USER, uses("write_todos", todos=todos), returns("write_todos"), result())
    (updated,) = of(items, TodoWriteUpdated)
    assert [(one.content, one.status) for one in updated.todos] == [("a", "completed"), ("b", "pending")]


def test_an_error_need_not_be_the_end() -> None:
    warning: Line = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}
    items, outcome = told(INIT, USER, says("x"), warning, says("y"), result())
    assert len(of(items, ErrorUpstream)) == 1
    assert isinstance(outcome, Finished)


def test_an_exit_status_of_nothing_does_not_make_it_a_success() -> None:
    error: Line = {"type": "error", "severity": "error", "message": "Model stream ended without a finish reason."}
    items, outcome = told(INIT, USER, says("x"), error, result("error"), end=StreamEnd(exit_code=0))
    assert isinstance(outcome, Failed)
    assert outcome.message == "Model stream ended without a finish reason."
    assert len(of(items, ErrorUpstream)) == len(of(items, TurnFailed)) == 1


@pytest.mark.parametrize(
    ("message", "code", "status", "retriable"),
    [
        ('[API Error: {"error":{"code":401,"message":"no"}}]', "model_error", 401, False),
        ('[API Error: {"error":{"code":500,"message":"no"}}]', "model_error", 500, True),
        ("[API Error: Incomplete JSON segment at the end]", "model_error", None, True),
    ],
)
def test_a_provider_that_failed_is_told_with_its_status(
    message: str, code: str, status: int | None, retriable: bool
) -> None:
    items, outcome = told(INIT, USER, result("error", error={"type": "unknown", "message": message}))
    assert outcome == Failed(code, message, retriable=retriable)
    assert [one.status for one in of(items, ErrorUpstream)] == [status]


def test_too_many_turns_are_no_fault_of_the_provider() -> None:
    fault = {"type": "FatalTurnLimitedError", "message": "Reached max session turns for this session."}
    items, outcome = told(INIT, USER, says("x"), result("error", error=fault), end=StreamEnd(exit_code=53))
    assert isinstance(outcome, Failed)
    assert outcome.code == "max_steps"
    assert not of(items, ErrorUpstream)


def test_a_stream_without_a_result_was_cut_off() -> None:
    cut = (
        raw([INIT, USER, uses("run_shell_command", command="seq 1 30000")])
        + b'{"type":"tool_result","tool_id":"run_shell_command__1","output":"1\\n2'
    )
    items, outcome = items_of("gemini", [cut], StreamEnd(exit_code=0))
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"
    assert [one.code for one in of(items, ToolFailed)] == ["interrupted"]
    assert len(of(items, AgentUnparsed)) == 1


def test_what_comes_after_the_result_changes_nothing() -> None:
    items, outcome = told(INIT, USER, says("x"), result(), says("late"), result("error"))
    assert outcome == Finished("x")
    assert len(of(items, AgentUnparsed)) == 2


def test_nobody_can_be_spoken_to() -> None:
    assert not hasattr(GeminiDialect(Telling(agent="gemini")), "prompt")


def test_the_other_protocol_that_it_speaks_is_told_apart_by_the_first_line() -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "over acp"}}
    items, _ = told(
        {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": chunk}},
    )
    assert [one.text for one in of(items, AssistantTextComplete)] == ["over acp"]


# The glass pane.


def names(*lines: Line) -> list[str]:
    normaliser = Normaliser(make_dialect("gemini", Telling(agent="gemini")))
    return [line.split("\t")[1] for line in normaliser.watch(raw(lines), 0, Pane())]


def test_the_pane_shows_a_whole_run() -> None:
    assert names(
        INIT, USER, says("a"), says("b"), uses("glob", 1), uses("glob", 2), returns("glob", 1), returns("glob", 2)
    ) == [
        "-",
        "message_update",
        "turn_start+message_start+message_update",
        "message_update",
        "message_end+tool_execution_start",
        "tool_execution_start",
        "tool_execution_end",
        "tool_execution_end+turn_end",
    ]
    assert names(INIT, USER, uses("glob"), returns("glob"), says("x"), result())[2:] == [
        "turn_start+tool_execution_start",
        "tool_execution_end+turn_end",
        "turn_start+message_start+message_update",
        "message_end+turn_end+agent_end",
    ]


def test_the_pane_shows_what_went_wrong() -> None:
    error: Line = {"type": "error", "severity": "error", "message": "no"}
    warning: Line = {"type": "error", "severity": "warning", "message": "hm"}
    assert names(INIT, USER, says("x"), warning, error, result("error"))[3:] == [
        "-",
        "error",
        "message_end+turn_end+error+agent_end",
    ]


# Whatever comes.


@pytest.mark.parametrize("transcript", transcripts(CAPTURES)[::4], ids=lambda one: one.name)
def test_a_stream_that_is_cut_anywhere_keeps_the_rules(transcript: Transcript) -> None:
    stream = transcript.raw
    chance = random.Random(1)
    for _ in range(12):
        assert breaches_of("gemini", [stream[: chance.randrange(len(stream) + 1)]]) == []


def test_lines_of_streams_that_are_mixed_keep_the_rules() -> None:
    chance = random.Random(2)
    streams = [one.raw.split(b"\n") for one in transcripts(CAPTURES)]
    for _ in range(30):
        lines = [*chance.choice(streams), *chance.choice(streams)]
        chance.shuffle(lines)
        assert breaches_of("gemini", [b"\n".join(lines)]) == []


def test_the_big_output_is_told_whole() -> None:
    items, _ = items_of("gemini", [(FOLDER / CAPTURES / "tool_big_output.jsonl").read_bytes()])
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == "\n".join(
        str(number) for number in range(1, 30001)
    )


# What is not known.


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"type": "message", "role": "system", "content": "x"}, "no role is called 'system'"),
        ({"type": "error", "severity": "brand_new", "message": "x"}, "no severity is called 'brand_new'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(line: Line, why: str) -> None:
    items, outcome = told(INIT, USER, line, says("Hi."), result())
    assert kept(items) == [why]
    assert outcome == Finished("Hi.")


def test_what_ended_nobody_knows_how_has_not_succeeded() -> None:
    items, outcome = told(INIT, USER, uses("glob"), returns("glob", status="brand_new"), result("brand_new"))
    assert kept(items) == ["no status of a result is called 'brand_new'", "no status of a run is called 'brand_new'"]
    assert len(of(items, ToolFailed)) == 1
    assert isinstance(outcome, Failed)


def test_a_role_that_nobody_knows_has_no_name_in_the_pane() -> None:
    assert watched("gemini", raw([INIT, {"type": "message", "role": "system"}]))[-1] == ("-", "idle")
