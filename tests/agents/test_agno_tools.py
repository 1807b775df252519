"""Agno: what becomes of the calls of tools."""

import json

import pytest

from runwire.host import Failed
from runwire.protocol.events.tool import ToolCompleted, ToolFailed
from runwire.protocol.payload import Opaque
from tests.agents.agno_streams import (
    DONE,
    STARTED,
    event,
    told,
    tool,
    types,
)

# Tools.


@pytest.mark.parametrize("is_told_twice", [False, True])
def test_a_failure_is_counted_once(is_told_twice: bool) -> None:
    failed = tool(result="boom", tool_call_error=True, metrics={"duration": 0.004})
    again = [event("ToolCallError", tool=failed, error="boom")] if is_told_twice else []
    items, _ = told(
        STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallCompleted", tool=failed), *again, DONE
    )
    assert [(one.message, one.duration_ms) for one in items if isinstance(one, ToolFailed)] == [("boom", 4)]


def test_an_error_that_alone_tells_of_a_failure_ends_the_call() -> None:
    items, _ = told(
        STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallError", tool=tool(), error="x"), DONE
    )
    assert [one.message for one in items if isinstance(one, ToolFailed)] == ["x"]


def test_what_a_call_returned_is_told_in_json() -> None:
    done = tool(result="{'success': True, 'id': None}", tool_call_error=False)
    items, _ = told(STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallCompleted", tool=done), DONE)
    assert [one.output for one in items if isinstance(one, ToolCompleted)] == ['{"success":true,"id":null}']


def test_a_shell_call_has_its_command() -> None:
    call = tool(name="run_shell_command", tool_args={"args": ["ls", "-l"]})
    items, _ = told(
        STARTED,
        event("ToolCallStarted", tool=call),
        event("ToolCallCompleted", tool={**call, "result": "total 0"}),
        DONE,
    )
    assert "tool.shell.command" in types(items)
    assert "tool.shell.output_chunk" in types(items)


def test_a_call_that_is_open_when_its_run_fails_has_failed() -> None:
    items, outcome = told(STARTED, event("ToolCallStarted", tool=tool()), event("RunError", content="broke"))
    assert [one.code for one in items if isinstance(one, ToolFailed)] == ["interrupted"]
    assert outcome == Failed("agno_error", "broke")


def test_what_a_tool_tells_in_its_own_words_is_kept() -> None:
    items, _ = told(STARTED, event("CustomEvent", tool_call_id="t1", pct=50, tool="hammer", error=7), DONE)
    custom = [one for one in items if isinstance(one, Opaque)]
    assert [one.type for one in custom] == ["external.agno.custom"]
    assert json.loads(bytes(custom[0].data))["pct"] == 50
