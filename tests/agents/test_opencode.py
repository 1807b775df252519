"""opencode: what its streams are taken for, and what is said to its server."""

import json
from collections.abc import Sequence

import pytest

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Body, Cancelled, Image, Item, Outcome, Question, Seen, StreamEnd, Telling
from runwire.agents.opencode import requests
from runwire.agents.opencode.parts import Bill, Cache, Part, Tokens
from runwire.agents.opencode.requests import Request
from runwire.agents.opencode.run import RunDialect
from runwire.agents.opencode.serve import ServeDialect
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete, AssistantToolCallProposed
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolInvoked, ToolTimedOut
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserMessage
from tests.agents.transcripts import breaches_of, items_of, kept, watched

Frame = dict[str, object]
_OK = StreamEnd(exit_code=0)
_KILLED = StreamEnd(exit_code=-15)


def _told(*frames: Frame, end: StreamEnd = _OK) -> tuple[list[Item], Outcome]:
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    assert breaches_of("opencode", [raw]) == []
    return items_of("opencode", [raw], end)


# The command.

_START: Frame = {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}


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
    items, outcome = _told(_START, _bash("out\n", 3), _finish("tool-calls"))
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
    items, _ = _told(_START, _bash(output, None), _finish("tool-calls"))
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == printed
    assert len([item for item in items if isinstance(item, kind)]) == 1


def test_a_call_that_does_not_exist_has_failed() -> None:
    items, _ = _told(_START, _use("invalid", {"status": "completed", "input": {"tool": "bash"}, "output": "no"}))
    assert [item.code for item in items if isinstance(item, ToolFailed)] == ["invalid_call"]


def test_a_call_that_nobody_allowed_never_began() -> None:
    error = "The user rejected permission to use this specific tool call."
    refused = _use("bash", {"status": "error", "input": {"command": "x"}, "error": error})
    items, _ = _told(_START, refused, _bash("", 0))
    assert [(item.tool_call_id, item.reason) for item in items if isinstance(item, PolicyToolBlocked)] == [("c", error)]
    assert [item.tool_call_id for item in items if isinstance(item, ToolInvoked)] == ["c~2"]


def test_files_and_lists_are_told_with_the_call_that_made_them() -> None:
    todos = [{"content": "look", "status": "pending"}]
    items, _ = _told(
        _START,
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
    items, outcome = _told(_START, _START, _text("Here."), _finish())
    assert [item.will_retry for item in items if isinstance(item, TurnFailed)] == [True]
    assert len([item for item in items if isinstance(item, TurnCompleted)]) == 1
    assert outcome == Finished("Here.")


def test_steps_without_end_use_nothing_and_do_not_finish() -> None:
    items, outcome = _told(*[_START, _finish("unknown")] * 50, end=_KILLED)
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
        ("tool-calls", _OK, True),
        ("stop", StreamEnd(exit_code=1), False),
        ("stop", StreamEnd(signal="SIGINT"), False),
        ("stop", StreamEnd(lost="gone"), False),
    ],
)
def test_the_end_of_the_process_says_how_it_went(reason: str, end: StreamEnd, *, is_finished: bool) -> None:
    _, outcome = _told(_START, _text("x"), _finish(reason), end=end)
    assert isinstance(outcome, Finished) is is_finished


def test_an_error_that_is_printed_twice_is_told_once() -> None:
    error: Frame = {"type": "error", "error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}
    items, outcome = _told(error, error, end=StreamEnd(exit_code=1))
    assert len([item for item in items if isinstance(item, ErrorUpstream)]) == 1
    assert outcome == Failed("context_overflow", "too long")


def test_tokens_of_the_cache_are_counted_and_prices_add_up() -> None:
    def step(cost: float) -> Frame:
        tokens = {"total": 920, "input": 9, "output": 15, "reasoning": 0, "cache": {"read": 896, "write": 0}}
        return _finish("tool-calls", tokens=tokens, cost=cost)

    items, _ = _told(_START, step(0.0000004), _START, step(0.0000004), _START, step(0.0000004))
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
    items, outcome = _told(_START, _finish())
    assert not [item for item in items if isinstance(item, AssistantFinalAnswer)]
    assert outcome == Finished()


_RUN_NAMES: list[tuple[Frame, tuple[str, ...]]] = [
    (_START, ("turn_start",)),
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


# The server.


def _event(kind: str, **properties: object) -> Frame:
    return {"id": "evt", "type": kind, "properties": {"sessionID": "s", **properties}}


def _part(part_id: str, kind: str, **more: object) -> Frame:
    return _event("message.part.updated", part={"id": part_id, "messageID": "m", "type": kind, **more})


def _asks(text: str = "do it", message: str = "u") -> list[Frame]:
    part = {"id": f"p-{message}", "messageID": message, "type": "text", "text": text}
    return [
        _event("message.updated", info={"id": message, "role": "user"}),
        _event("message.part.updated", part=part),
    ]


def _tool(status: str, **state: object) -> Frame:
    given = {"status": status, "input": {"command": "make"}, **state}
    return _part("p-tool", "tool", tool="bash", callID="c", state=given)


def _says(text: str, part_id: str = "p-text") -> list[Frame]:
    return [
        _part(part_id, "text", text="", time={"start": 1}),
        _event("message.part.delta", partID=part_id, messageID="m", field="text", delta=text),
        _part(part_id, "text", text=text, time={"start": 1, "end": 2}),
    ]


_IDLE = _event("session.idle")
_PERMISSION = _event(
    "permission.asked",
    id="per",
    permission="bash",
    patterns=["make"],
    metadata={"command": "make"},
    tool={"callID": "c"},
)


def test_an_output_that_is_shown_again_and_again_is_printed_once() -> None:
    items, _ = _told(
        *_asks(),
        _part("p-start", "step-start"),
        _tool("pending", input={}),
        _tool("running"),
        _tool("running", metadata={"output": ""}),
        _tool("running", metadata={"output": "1\n"}),
        _tool("running", metadata={"output": "1\n2\n"}),
        _tool("completed", output="1\n2\n3\n", metadata={"output": "1\n2\n3\n", "exit": 0}),
        _tool("completed", output="1\n2\n3\n", metadata={"output": "1\n2\n3\n", "exit": 0}),
        _IDLE,
    )
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == "1\n2\n3\n"
    assert len([item for item in items if isinstance(item, ToolInvoked)]) == 1


def test_what_comes_after_the_end_is_kept_and_changes_nothing() -> None:
    items, outcome = _told(
        *_asks(),
        _part("p-start", "step-start"),
        _event("message.part.delta", partID="p", messageID="m", field="text", delta="half"),
        _event("session.error", error={"name": "MessageAbortedError", "data": {"message": "Aborted"}}),
        _event("session.status", status={"type": "idle"}),
        _IDLE,
        _part("p", "text", text="half", time={"start": 1, "end": 2}),
        _event("message.updated", info={"id": "m", "role": "assistant"}),
        _IDLE,
        end=_KILLED,
    )
    assert outcome == Cancelled()
    assert [item.text for item in items if isinstance(item, AssistantTextComplete)] == ["half"]
    assert len([item for item in items if isinstance(item, AgentUnparsed)]) == 1


def test_a_helpers_session_neither_speaks_for_ours_nor_ends_it() -> None:
    def helper(kind: str, **properties: object) -> Frame:
        return {"type": kind, "properties": {"sessionID": "h", **properties}}

    items, outcome = _told(
        _event("session.created", info={"id": "s"}),
        *_asks(),
        _part("p-start", "step-start"),
        helper("session.created", info={"id": "h", "parentID": "s"}),
        helper("message.updated", info={"id": "hu", "role": "user"}),
        helper("message.part.delta", partID="hp", messageID="hm", field="text", delta="not ours"),
        helper("session.error", error={"name": "APIError", "data": {"message": "not ours"}}),
        helper("session.idle"),
        *_says("ours"),
        _part("p-end", "step-finish", reason="stop"),
        _IDLE,
    )
    assert outcome == Finished("ours")
    assert [item.text for item in items if isinstance(item, AssistantTextComplete)] == ["ours"]
    assert not [item for item in items if isinstance(item, ErrorUpstream)]


def test_a_helper_that_was_heard_first_is_not_taken_for_ours() -> None:
    items, outcome = _told(
        {"type": "session.created", "properties": {"sessionID": "h", "info": {"id": "h", "parentID": "s"}}},
        {"type": "session.idle", "properties": {"sessionID": "h"}},
        *_asks(),
        *_says("ours"),
        _IDLE,
    )
    assert outcome == Finished("ours")
    assert [item.text for item in items if isinstance(item, UserMessage)] == ["do it"]


def test_a_named_session_is_ours_whatever_comes_first() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True, session={"session": "s"}))
    other = {"type": "message.updated", "properties": {"sessionID": "other", "info": {"id": "x", "role": "user"}}}
    for frame in (other, {"type": "session.idle", "properties": {"sessionID": "other"}}, *_asks(), *_says("x"), _IDLE):
        dialect.feed(json.dumps(frame).encode(), 0)
    assert dialect.teller.outcome == Finished("x")


def test_an_idle_session_that_was_asked_for_nothing_has_not_ended() -> None:
    items, outcome = _told(_event("session.created", info={"id": "s"}), _IDLE, *_asks(), *_says("x"), _IDLE)
    assert outcome == Finished("x")
    assert not [item for item in items if isinstance(item, AgentUnparsed)]


def test_another_prompt_is_another_leg() -> None:
    items, outcome = _told(
        *_asks("one", "u1"), *_says("first", "a"), _IDLE, *_asks("two", "u2"), *_says("second", "b"), _IDLE
    )
    assert [item.text for item in items if isinstance(item, UserMessage)] == ["one", "two"]
    assert outcome == Finished("second")


def test_a_retry_is_told_and_is_no_failure() -> None:
    items, outcome = _told(
        *_asks(),
        _event("session.status", status={"type": "retry", "attempt": 3, "message": "later"}),
        *_says("x"),
        _IDLE,
    )
    assert [(item.retriable, item.attempt) for item in items if isinstance(item, ErrorUpstream)] == [(True, 3)]
    assert isinstance(outcome, Finished)


def test_a_call_begins_when_it_was_allowed() -> None:
    items, _ = _told(
        *_asks(),
        _tool("running"),
        _PERMISSION,
        _event("permission.replied", requestID="per", reply="once"),
        _tool("completed", output="", metadata={"exit": 0}),
        _IDLE,
    )
    order = [type(item) for item in items if isinstance(item, (ApprovalRequested, ApprovalResolved, ShellCommand))]
    assert order == [ApprovalRequested, ApprovalResolved, ShellCommand]
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["approved"]


def test_a_call_that_was_rejected_never_began() -> None:
    items, outcome = _told(
        *_asks(),
        _tool("running"),
        _PERMISSION,
        _event("permission.replied", requestID="per", reply="reject"),
        _tool("error", error="The user rejected permission to use this specific tool call."),
        _IDLE,
    )
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["denied"]
    assert [item.tool_call_id for item in items if isinstance(item, PolicyToolBlocked)] == ["c"]
    assert not [item for item in items if isinstance(item, ToolInvoked)]
    assert isinstance(outcome, Finished)


def test_a_permission_becomes_a_question_that_can_be_decided() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True))
    for frame in (*_asks(), _tool("running"), _PERMISSION):
        dialect.feed(json.dumps(frame).encode(), 0)
    [question] = [item for item in dialect.teller.take() if isinstance(item, Question)]
    assert (question.question_id, question.tool_call_id, question.tool_kind) == ("per", "c", "shell")
    assert question.argv_text == "make"
    assert question.effects == {"executes"}


def test_a_question_to_a_person_has_its_choices() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True))
    options = [{"label": "red"}, {"label": "blue"}]
    asked = _event("question.asked", id="q", questions=[{"question": "Which?", "options": options}])
    for frame in (*_asks(), asked):
        dialect.feed(json.dumps(frame).encode(), 0)
    [question] = [item for item in dialect.teller.take() if isinstance(item, Question)]
    assert (question.kind, question.summary, question.choices) == ("choice", "Which?", ["red", "blue"])
    dialect.feed(json.dumps(_event("question.rejected", requestID="q")).encode(), 0)
    assert not dialect.teller.questions


_SERVE_NAMES: list[tuple[Frame, tuple[str, ...]]] = [
    ({"type": "server.connected", "properties": {}}, ()),
    ({"type": "plugin.added", "properties": {"id": "x"}}, ()),
    (_asks()[0], ()),
    (_asks()[1], ()),
    (_part("p1", "step-start"), ("turn_start",)),
    (_tool("pending"), ()),
    (_tool("running"), ("tool_execution_start",)),
    (_tool("running", metadata={"output": "x"}), ("tool_execution_update",)),
    (_tool("completed", metadata={"output": "x"}), ("tool_execution_end",)),
    (_says("x")[0], ("message_start",)),
    (_says("x")[1], ("message_update",)),
    (_says("x")[2], ("message_end",)),
    (_part("p2", "step-finish", reason="stop"), ("turn_end",)),
    (_PERMISSION, ()),
    (_event("permission.replied", requestID="per", reply="once"), ()),
    (_event("session.status", status={"type": "retry"}), ()),
    (_event("session.error", error={"name": "APIError"}), ("error",)),
    (_IDLE, ("agent_end",)),
]


def test_the_events_of_the_server_have_their_canonical_names() -> None:
    dialect = ServeDialect(Telling(agent="opencode"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _ in _SERVE_NAMES]
    assert seen == [Seen(str(frame["type"]), names) for frame, names in _SERVE_NAMES]


def test_an_event_that_nobody_knows_is_kept() -> None:
    items, _ = _told(_event("server.connected"), _event("weather.changed"))
    assert len([item for item in items if isinstance(item, AgentUnparsed)]) == 1


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        (_START, ("turn_start",)),
        (_event("session.error", error={"name": "APIError"}), ("error",)),
    ],
)
def test_a_stream_is_known_by_its_first_frame(frame: Frame, names: Sequence[str]) -> None:
    dialect = make_dialect("opencode", Telling(agent="opencode"))
    assert dialect.feed(json.dumps(frame).encode(), 0).names == names


def test_a_stream_of_acp_is_read_as_that() -> None:
    dialect = make_dialect("opencode", Telling(agent="opencode"))
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    frame = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
    assert dialect.feed(json.dumps(frame).encode(), 0).names == ("message_update",)


# What is said to it.


def test_a_prompt_is_a_request_that_does_not_wait() -> None:
    assert requests.prompt("s/1", "do it", [Image("image/png", "AAAA")], model="fake/fake-1") == Request(
        "POST",
        "/session/s%2F1/prompt_async",
        {
            "parts": [
                {"type": "text", "text": "do it"},
                {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
            ],
            "model": {"providerID": "fake", "modelID": "fake-1"},
        },
    )
    assert requests.prompt("s", "x", model="fake:a").body == {
        "parts": [{"type": "text", "text": "x"}],
        "model": {"providerID": "fake", "modelID": "a"},
    }


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (Answer(allowed=True, input={}), {"reply": "once"}),
        (Answer(allowed=True, input={}, scope="task"), {"reply": "always"}),
        (Answer(allowed=False, input={}), {"reply": "reject"}),
        (Answer(allowed=False, input={}, told="not that"), {"reply": "reject", "message": "not that"}),
    ],
)
def test_a_permission_is_answered_in_its_own_words(answer: Answer, body: Frame) -> None:
    assert requests.reply("per", answer) == Request("POST", "/permission/per/reply", body)


def test_the_other_requests_are_what_the_server_takes() -> None:
    assert (requests.EVENTS.method, requests.EVENTS.path, requests.EVENTS.body) == ("GET", "/event", None)
    assert requests.new_session("run") == Request("POST", "/session", {"title": "run"})
    assert requests.abort("s") == Request("POST", "/session/s/abort")
    assert requests.summarize("s", provider="p", model="m").body == {"providerID": "p", "modelID": "m"}
    assert requests.answers("q", [["red"]]) == Request("POST", "/question/q/reply", {"answers": [["red"]]})
    assert requests.refusal("q") == Request("POST", "/question/q/reject")


# What is not known.


@pytest.mark.parametrize("status", ["brand_new", "running", ""])
def test_a_call_that_ended_nobody_knows_how_is_not_told_as_completed(status: str) -> None:
    items, _ = _told(_START, _use("bash", {"status": status, "input": {"command": "x"}, "output": "y"}), _finish())
    assert kept(items) == [f"no status of a call is called {status!r}"]
    assert [item.tool_call_id for item in items if isinstance(item, AssistantToolCallProposed)] == ["c"]
    assert not [item for item in items if isinstance(item, (ToolInvoked, ToolCompleted, ToolFailed))]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (_part("p9", "brand-new"), "no part is called 'brand-new'"),
        (_tool("brand_new"), "no status of a call is called 'brand_new'"),
        (_event("session.brand_new"), "no event is called 'session.brand_new'"),
        (_event("message.brand_new"), "no event is called 'message.brand_new'"),
        (_event("session.status", status={"type": "brand_new"}), "no status of a session is called 'brand_new'"),
        (_event("message.updated", info={"id": "m9", "role": "brand_new"}), "no role is called 'brand_new'"),
        (_event("message.part.delta", field="brand_new", delta="x"), "no field of a part is called 'brand_new'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(frame: Frame, why: str) -> None:
    items, _ = _told(*_asks(), frame, _IDLE)
    assert kept(items) == [why]
    assert not [item for item in items if isinstance(item, ToolCompleted)]


@pytest.mark.parametrize(
    "frame",
    [_event("session.diff"), _event("plugin.added"), _event("file.edited"), _part("p9", "patch"), _tool("pending")],
)
def test_what_tells_nothing_is_passed_over(frame: Frame) -> None:
    items, _ = _told(*_asks(), frame, _IDLE)
    assert kept(items) == []


def test_a_session_ends_once_in_the_pane_however_often_it_is_idle() -> None:
    frames = [_IDLE, *_asks(), _part("p1", "step-start"), _IDLE, _IDLE, *_asks("more", "u2"), _IDLE]
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    names = [name for (name, _), frame in zip(watched("opencode", raw), frames, strict=True) if frame is _IDLE]
    assert names == ["-", "agent_end", "-", "agent_end"]


def test_what_was_aborted_is_no_error_in_the_pane() -> None:
    aborted = _event("session.error", error={"name": "MessageAbortedError"})
    frames = [*_asks(), _part("p1", "step-start"), aborted, _IDLE]
    raw = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    assert watched("opencode", raw)[-2:] == [("-", "working"), ("agent_end", "done")]
