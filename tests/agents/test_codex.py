"""Codex: what its two streams are taken for, and what is said to its server."""

import json
import shlex
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.agents.catalogue import make_dialect
from runwire.agents.codex.app_server import AppServerDialect
from runwire.agents.codex.driving import PROFILE
from runwire.agents.codex.exec import ExecDialect
from runwire.agents.codex.items import missing, words_of
from runwire.agents.codex.speaking import CodexSpeaker
from runwire.agents.dialect import Cancelled, Image, Item, Outcome, Question, Reply, Seen, StreamEnd, Telling
from runwire.agents.profile import Wish
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from tests.agents.transcripts import breaches_of, items_of, kept, transcripts, watched

Frame = dict[str, object]


def _raw(frames: Sequence[Frame]) -> bytes:
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)


def _told(*frames: Frame, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    raw = _raw(frames)
    assert breaches_of("codex", [raw]) == []
    return items_of("codex", [raw], end)


def _turn(**usage: int) -> list[Frame]:
    return [{"type": "turn.started"}, {"type": "turn.completed", "usage": usage}]


def _note(method: str, **params: object) -> Frame:
    return {"method": method, "params": {"threadId": "t", **params}}


def _item(stage: str, **item: object) -> Frame:
    return _note(f"item/{stage}", item={"id": "c1", **item})


def _command(stage: str, **more: object) -> Frame:
    return _item(stage, type="commandExecution", command="/bin/bash -lc 'make'", cwd="/w", **more)


_STARTED = _note("turn/started", turn={"id": "u1", "status": "inProgress"})
_COMPLETED = _note("turn/completed", turn={"id": "u1", "status": "completed"})


# The command.


def test_tokens_are_counted_for_a_thread_and_told_for_a_turn() -> None:
    items, _ = _told(
        {"type": "thread.started", "thread_id": "t"},
        *_turn(input_tokens=1000, cached_input_tokens=896, output_tokens=5),
        *_turn(input_tokens=2100, cached_input_tokens=1792, output_tokens=12),
    )
    turns = [item for item in items if isinstance(item, TurnCompleted)]
    assert [(one.input_tokens, one.cached_input_tokens, one.output_tokens) for one in turns] == [
        (1000, 896, 5),
        (1100, 896, 7),
    ]


def test_a_thread_of_another_name_counts_anew() -> None:
    items, _ = _told(
        {"type": "thread.started", "thread_id": "t"},
        *_turn(input_tokens=1000, output_tokens=5),
        {"type": "thread.started", "thread_id": "other"},
        *_turn(input_tokens=1500, output_tokens=9),
    )
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [1000, 1500]


def test_reconnecting_is_no_failure() -> None:
    items, outcome = _told(
        {"type": "turn.started"},
        {"type": "error", "message": "Reconnecting... 2/5 (unexpected status 503 Service Unavailable: later)"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Here."}},
        {"type": "turn.completed"},
    )
    upstream = [item for item in items if isinstance(item, ErrorUpstream)]
    assert [(one.retriable, one.attempt, one.max_attempts, one.status) for one in upstream] == [(True, 2, 5, 503)]
    assert outcome == Finished("Here.")


@pytest.mark.parametrize(
    ("message", "code", "shown"),
    [
        ("Incomplete response returned, reason: max_output_tokens", "max_tokens", None),
        ('{"error": {"message": "Too long.", "code": "context_length_exceeded"}}', "context_overflow", "Too long."),
        ("unexpected status 401 Unauthorized: no", "model_error", None),
        ("", "model_error", "the turn failed"),
    ],
)
def test_a_failed_turn_says_why(message: str, code: str, shown: str | None) -> None:
    items, outcome = _told({"type": "turn.started"}, {"type": "turn.failed", "error": {"message": message}})
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.message) == (code, shown or message)
    assert [one.code for one in items if isinstance(one, TurnFailed)] == [code]


def test_an_error_that_nothing_follows_is_the_end() -> None:
    _, outcome = _told({"type": "error", "message": "no model"}, end=StreamEnd(exit_code=1))
    assert outcome == Failed("model_error", "no model")


def test_what_is_told_again_and_again_is_printed_once() -> None:
    def told(stage: str, output: str, **more: object) -> Frame:
        item = {"id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": output, **more}
        return {"type": f"item.{stage}", "item": item}

    items, _ = _told(
        told("started", ""),
        told("updated", "a\n"),
        told("updated", "a\nb\n"),
        told("completed", "a\nb\nc\n", exit_code=3, status="failed"),
    )
    assert "".join(item.data for item in items if isinstance(item, ShellOutputChunk)) == "a\nb\nc\n"
    assert [item.exit_code for item in items if isinstance(item, ShellExited)] == [3]
    assert [item.code for item in items if isinstance(item, ToolFailed)] == ["nonzero_exit"]


def test_other_tools_are_known_for_what_they_are() -> None:
    items, _ = _told(
        {
            "type": "item.completed",
            "item": {
                "id": "item_0",
                "type": "mcp_tool_call",
                "server": "docs",
                "tool": "find",
                "arguments": {"q": "x"},
                "result": {"content": [{"type": "text", "text": "found"}]},
                "status": "completed",
            },
        },
        {"type": "item.completed", "item": {"id": "item_1", "type": "web_search", "query": "weather"}},
        {
            "type": "item.started",
            "item": {"id": "item_2", "type": "todo_list", "items": [{"text": "look", "completed": True}]},
        },
        {"type": "turn.completed"},
    )
    invoked = [(one.kind, one.mcp_server, one.mcp_tool) for one in items if isinstance(one, ToolInvoked)]
    assert [kind for kind, *_ in invoked] == ["mcp", "web", "todo"]
    assert invoked[0] == ("mcp", "docs", "find")
    assert next(one.output for one in items if isinstance(one, ToolCompleted)) == "found"
    assert [[todo.status for todo in one.todos] for one in items if isinstance(one, TodoWriteUpdated)] == [
        ["completed"]
    ]


_EXEC_NAMES = [
    ({"type": "thread.started", "thread_id": "t"}, "thread.started", ()),
    ({"type": "turn.started"}, "turn.started", ("turn_start",)),
    (
        {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
        "item.started/command_execution",
        ("tool_execution_start",),
    ),
    (
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "command": "ls"}},
        "item.completed/command_execution",
        ("tool_execution_end",),
    ),
    (
        {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "x"}},
        "item.completed/agent_message",
        ("message_start", "message_end"),
    ),
    (
        {"type": "item.completed", "item": {"id": "r", "type": "reasoning", "text": "x"}},
        "item.completed/reasoning",
        ("message_update",),
    ),
    ({"type": "item.completed", "item": {"id": "e", "type": "error", "message": "x"}}, "item.completed/error", ()),
    ({"type": "error", "message": "Reconnecting... 1/1 (x)"}, "error", ()),
    ({"type": "error", "message": "x"}, "error", ("error",)),
    ({"type": "turn.failed", "error": {"message": "x"}}, "turn.failed", ("turn_end", "error", "agent_end")),
]


def test_the_lines_of_the_command_have_their_canonical_names() -> None:
    dialect = ExecDialect(Telling(agent="codex"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _, _ in _EXEC_NAMES]
    assert seen == [Seen(raw_type, names) for _, raw_type, names in _EXEC_NAMES]


# The server.


def test_what_the_pieces_of_an_output_leave_out_is_told_once() -> None:
    items, _ = _told(
        _STARTED,
        _command("started", processId="7"),
        _note("item/commandExecution/outputDelta", itemId="c1", delta="line 2\n"),
        _note("item/commandExecution/outputDelta", itemId="c1", delta="line 3\n"),
        _command("completed", status="completed", aggregatedOutput="line 1\nline 2\nline 3\n", exitCode=0),
        _note("item/commandExecution/outputDelta", itemId="c1", delta="line 3\n"),
        _COMPLETED,
    )
    printed = "".join(item.data for item in items if isinstance(item, ShellOutputChunk))
    assert sorted(printed.splitlines()) == ["line 1", "line 2", "line 3"]
    assert [item.stdout_bytes for item in items if isinstance(item, ShellExited)] == [21]


@pytest.mark.parametrize(
    ("told", "whole", "rest"),
    [
        ([], "abc", "abc"),
        (["bc"], "abc", "a"),
        (["a", "c"], "abc", "b"),
        (["abc"], "abc", ""),
        (["a"], "abc", "bc"),
        (["x"], "abc", ""),
    ],
)
def test_what_is_missing_of_an_output(told: list[str], whole: str, rest: str) -> None:
    assert missing(told, whole) == rest


def test_an_interrupted_turn_leaves_nothing_open() -> None:
    items, outcome = _told(
        _STARTED,
        _command("started", processId="7"),
        _note("turn/completed", turn={"id": "u1", "status": "interrupted"}),
    )
    assert outcome == Cancelled()
    assert len([item for item in items if isinstance(item, ToolCancelled)]) == 1


def test_the_end_of_a_helpers_thread_is_not_ours() -> None:
    other = {"threadId": "helper"}
    items, outcome = _told(
        {"method": "thread/started", "params": {"thread": {"id": "t"}}},
        _STARTED,
        {"method": "thread/started", "params": {"thread": {"id": "helper", "parentThreadId": "t"}}},
        {"method": "turn/started", "params": {**other, "turn": {"id": "u2"}}},
        {"method": "item/agentMessage/delta", "params": {**other, "itemId": "m", "delta": "not ours"}},
        {"method": "turn/completed", "params": {**other, "turn": {"id": "u2", "status": "failed"}}},
        _item("completed", type="agentMessage", text="ours"),
        _COMPLETED,
    )
    assert outcome == Finished("ours")
    assert len([item for item in items if isinstance(item, TurnCompleted)]) == 1


def _asked(request_id: int = 0) -> Frame:
    return {
        "id": request_id,
        "method": "item/commandExecution/requestApproval",
        "params": {"threadId": "t", "itemId": "c1", "command": "make", "reason": "it writes"},
    }


def test_a_call_begins_when_it_was_allowed() -> None:
    items, _ = _told(
        _STARTED,
        _command("started"),
        _asked(),
        _note("serverRequest/resolved", requestId=0),
        _note("thread/status/changed", status={"type": "active", "activeFlags": []}),
        _command("completed", status="completed", aggregatedOutput="", exitCode=0),
        _COMPLETED,
    )
    order = [type(item) for item in items if isinstance(item, (ApprovalRequested, ApprovalResolved, ShellCommand))]
    assert order == [ApprovalRequested, ApprovalResolved, ShellCommand]
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["approved"]


def test_a_call_that_was_declined_never_began() -> None:
    items, outcome = _told(
        _STARTED,
        _command("started"),
        _asked(),
        _note("serverRequest/resolved", requestId=0),
        _command("completed", status="declined"),
        _COMPLETED,
    )
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["denied"]
    assert [item.tool_call_id for item in items if isinstance(item, PolicyToolBlocked)] == ["c1"]
    assert not [item for item in items if isinstance(item, ToolInvoked)]
    assert isinstance(outcome, Finished)


def test_the_name_of_a_declined_call_may_come_again() -> None:
    items, _ = _told(
        _STARTED,
        _command("started"),
        _asked(),
        _command("completed", status="declined"),
        _command("started", processId="7"),
        _command("completed", status="completed", exitCode=0),
        _COMPLETED,
    )
    assert [item.tool_call_id for item in items if isinstance(item, ToolInvoked)] == ["c1~2"]


def test_a_thread_that_goes_on_from_an_earlier_time_pays_for_what_is_new() -> None:
    total = {"inputTokens": 5000, "cachedInputTokens": 4000, "outputTokens": 50}
    last = {"inputTokens": 1000, "cachedInputTokens": 896, "outputTokens": 10}
    usage = _note("thread/tokenUsage/updated", tokenUsage={"total": total, "last": last})
    items, _ = _told(_STARTED, usage, usage, _COMPLETED)
    turn = next(item for item in items if isinstance(item, TurnCompleted))
    assert (turn.input_tokens, turn.cached_input_tokens, turn.output_tokens) == (1000, 896, 10)


_APP_NAMES = [
    ({"id": 1, "result": {}}, "response", ()),
    (_STARTED, "turn/started", ("turn_start",)),
    (_item("started", type="agentMessage", text=""), "item/started", ("message_start",)),
    (_note("item/agentMessage/delta", itemId="c1", delta="x"), "item/agentMessage/delta", ("message_update",)),
    (_item("completed", type="agentMessage", text="x"), "item/completed", ("message_end",)),
    (_command("started"), "item/started", ("tool_execution_start",)),
    (_asked(), "item/commandExecution/requestApproval", ()),
    (_note("serverRequest/resolved", requestId=0), "serverRequest/resolved", ()),
    (
        _note("item/commandExecution/outputDelta", itemId="c1", delta="x"),
        "item/commandExecution/outputDelta",
        ("tool_execution_update",),
    ),
    (_command("completed", status="completed"), "item/completed", ("tool_execution_end",)),
    (_note("error", error={"message": "Reconnecting... 1/1"}, willRetry=True), "error", ()),
    (_note("error", error={"message": "x"}, willRetry=False), "error", ("error",)),
    (_note("turn/diff/updated", diff="x"), "turn/diff/updated", ()),
    (_note("turn/completed", turn={"status": "interrupted"}), "turn/completed", ("turn_end", "agent_end")),
]


def test_the_frames_of_the_server_have_their_canonical_names() -> None:
    dialect = AppServerDialect(Telling(agent="codex"))
    seen = [dialect.feed(json.dumps(frame).encode(), 0) for frame, _, _ in _APP_NAMES]
    assert seen == [Seen(raw_type, names) for _, raw_type, names in _APP_NAMES]


@pytest.mark.parametrize("first", [b"null\n", b"[]\n", b"\xff\xfe\n", b'{"type":7}\n', b'{"method":[]}\n'])
def test_junk_at_the_beginning_is_kept_and_survived(first: bytes) -> None:
    raw = first + _raw([{"type": "turn.started"}, {"type": "turn.completed"}])
    assert breaches_of("codex", [raw]) == []


def test_a_long_line_takes_no_long_time() -> None:
    text = "x" * (16 * 1024 * 1024)
    items, outcome = _told(
        {"type": "item.started", "item": {"id": "i", "type": "command_execution", "command": text}},
        {"type": "item.completed", "item": {"id": "i", "type": "command_execution", "command": text}},
        {"type": "turn.completed"},
    )
    assert isinstance(outcome, Finished)
    assert [len(item.argv) for item in items if isinstance(item, ShellCommand)] == [1]


def test_a_command_is_taken_apart_where_it_can_be() -> None:
    assert words_of("/bin/bash -lc 'echo \"a b\"'") == ["/bin/bash", "-lc", 'echo "a b"']
    assert words_of("echo 'open") == ["echo 'open"]


@given(st.text(st.sampled_from(" '\"\\\n\tab$#\u00e9\u00a0\x0b"), max_size=16))
def test_a_command_has_the_words_that_a_shell_finds_in_it(command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError:
        words = [command]
    assert words_of(command) == words


# Speaking.


def _speaker(**session: str) -> CodexSpeaker:
    return CodexSpeaker(Telling(agent="codex", driven=True, cwd="/workspace", session=session))


def _is_ready(speaker: CodexSpeaker) -> bool:
    return speaker.ready


def _sent(speaker: CodexSpeaker) -> list[Frame]:
    return [json.loads(item.data) for item in speaker.teller.take() if isinstance(item, Reply)]


def _hear(speaker: CodexSpeaker, *frames: Frame) -> None:
    for frame in frames:
        speaker.feed(json.dumps(frame).encode(), 0)


def _ready(speaker: CodexSpeaker) -> None:
    speaker.hello()
    _hear(speaker, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "t"}, "approvalPolicy": "untrusted"}})
    speaker.teller.take()


def test_a_conversation_begins_with_a_greeting_and_a_thread() -> None:
    speaker = _speaker()
    speaker.hello()
    assert _is_ready(speaker) is False
    [greeting] = _sent(speaker)
    assert (greeting["id"], greeting["method"]) == (1, "initialize")
    _hear(speaker, {"id": 1, "result": {"userAgent": "x"}})
    assert _sent(speaker) == [
        {"method": "initialized"},
        {
            "id": 2,
            "method": "thread/start",
            "params": {"approvalPolicy": "untrusted", "sandbox": "danger-full-access", "cwd": "/workspace"},
        },
    ]
    _hear(speaker, {"id": 2, "result": {"thread": {"id": "t"}}})
    assert _is_ready(speaker) is True
    speaker.prompt("do it", [Image("image/png", "AAAA")])
    assert _is_ready(speaker) is False
    asked = {
        "threadId": "t",
        "input": [{"type": "text", "text": "do it"}, {"type": "image", "url": "data:image/png;base64,AAAA"}],
    }
    assert _sent(speaker) == [{"id": 3, "method": "turn/start", "params": asked}]
    _hear(speaker, {"id": 3, "result": {"turn": {"id": "u1"}}}, _STARTED, _COMPLETED)
    assert _is_ready(speaker) is True
    assert speaker.teller.outcome == Finished()


def test_a_thread_of_an_earlier_time_is_taken_up() -> None:
    speaker = _speaker(thread="old", model="gpt")
    speaker.hello()
    _hear(speaker, {"id": 1, "result": {}})
    asked = _sent(speaker)[-1]
    assert asked["method"] == "thread/resume"
    params = asked["params"]
    assert isinstance(params, dict)
    assert (params["threadId"], params["model"]) == ("old", "gpt")


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (Answer(allowed=True, input={}), "accept"),
        (Answer(allowed=True, input={}, scope="always"), "accept"),
        (Answer(allowed=False, input={}), "decline"),
        (Answer(allowed=False, input={}, stop=True), "cancel"),
    ],
)
def test_a_question_is_answered_in_its_own_words(answer: Answer, decision: str) -> None:
    speaker = _speaker()
    _ready(speaker)
    speaker.prompt("do it")
    _hear(speaker, _STARTED, _command("started"), _asked(request_id=0))
    questions = [item for item in speaker.teller.take() if isinstance(item, Question)]
    assert [(one.question_id, one.tool_call_id, one.argv_text, one.reason) for one in questions] == [
        ("0", "c1", "make", "it writes")
    ]
    assert questions[0].effects == {"executes"}
    speaker.answer("0", answer)
    told = speaker.teller.take()
    assert [json.loads(item.data) for item in told if isinstance(item, Reply)] == [
        {"id": 0, "result": {"decision": decision}}
    ]
    assert bool([item for item in told if isinstance(item, ToolInvoked)]) is answer.allowed
    assert not speaker.teller.questions
    speaker.answer("0", answer)
    speaker.answer("9", answer)
    assert len(_sent(speaker)) == 0


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("/bin/bash -lc 'git push && rm -rf x'", "git push && rm -rf x"),
        ('/usr/bin/zsh -lc "echo \'it\\"s\'"', "echo 'it\"s'"),
        ("bash -c 'ls' extra", "bash -c 'ls' extra"),
        ("/opt/tool -c 'ls'", "/opt/tool -c 'ls'"),
        ("bash -lc 'open", "bash -lc 'open"),
    ],
)
def test_rules_and_grants_see_the_script_that_a_shell_is_given(command: str, script: str) -> None:
    speaker = _speaker()
    _ready(speaker)
    speaker.prompt("do it")
    params = {"threadId": "t", "itemId": "c1", "command": command}
    _hear(speaker, _STARTED, {"id": 0, "method": "item/commandExecution/requestApproval", "params": params})
    (question,) = [item for item in speaker.teller.take() if isinstance(item, Question)]
    assert (question.argv_text, question.summary) == (script, command)


def test_what_we_declined_does_not_begin_whatever_comes_next() -> None:
    speaker = _speaker()
    _ready(speaker)
    speaker.prompt("do it")
    _hear(speaker, _STARTED, _command("started"), _asked())
    speaker.answer("0", Answer(allowed=False, input={}, told="not here", policy_id="approval:1"))
    active = _note("thread/status/changed", status={"type": "active", "activeFlags": []})
    _hear(speaker, _note("serverRequest/resolved", requestId=0), active, _command("completed", status="declined"))
    told = speaker.teller.take()
    assert not [item for item in told if isinstance(item, ToolInvoked)]
    blocked = [item for item in told if isinstance(item, PolicyToolBlocked)]
    assert [(item.reason, item.policy_id) for item in blocked] == [("not here", "approval:1")]


def test_a_turn_is_interrupted_as_soon_as_it_has_a_name() -> None:
    speaker = _speaker()
    _ready(speaker)
    speaker.prompt("do it")
    assert speaker.cancel("alice", "enough") is True
    assert [one["method"] for one in _sent(speaker)] == ["turn/start"]
    _hear(speaker, {"id": 3, "result": {"turn": {"id": "u1"}}})
    interrupt = {"id": 4, "method": "turn/interrupt", "params": {"threadId": "t", "turnId": "u1"}}
    assert _sent(speaker) == [interrupt]
    _hear(speaker, _STARTED, {"id": 4, "result": {}}, _note("turn/completed", turn={"status": "interrupted"}))
    assert speaker.teller.outcome == Cancelled("alice", "enough")


def test_a_refused_turn_is_a_failure_and_another_may_follow() -> None:
    speaker = _speaker()
    _ready(speaker)
    speaker.teller.leg_begins()
    speaker.prompt("do it")
    _hear(speaker, {"id": 3, "error": {"code": -32600, "message": "invalid thread id"}})
    assert speaker.teller.outcome == Failed("rejected", "invalid thread id")
    assert _is_ready(speaker) is True


def test_a_refused_greeting_is_told_by_the_first_prompt() -> None:
    speaker = _speaker()
    speaker.hello()
    _hear(speaker, {"id": 1, "error": {"code": -32600, "message": "too old"}})
    assert _is_ready(speaker) is True
    speaker.teller.leg_begins()
    speaker.prompt("do it")
    assert speaker.teller.outcome == Failed("rejected", "too old")


def test_a_request_that_nobody_knows_is_refused() -> None:
    speaker = _speaker()
    _ready(speaker)
    _hear(speaker, {"id": 5, "method": "item/tool/call", "params": {}})
    [answer] = _sent(speaker)
    assert answer["id"] == 5
    assert "error" in answer


def test_who_watches_says_nothing() -> None:
    speaker = CodexSpeaker(Telling(agent="codex"))
    speaker.hello()
    assert _sent(speaker) == []


@pytest.mark.parametrize("name", ["approval_command_cancel", "interrupt_during_tool", "tool_bash", "compact"])
def test_a_recorded_server_is_answered_as_it_was(name: str) -> None:
    """The lines that are sent are those that a client sent when the stream was recorded, in their order."""
    [transcript] = [one for one in transcripts("codex-app-server-0.166.0") if one.path.stem == name]
    speaker = _speaker()
    speaker.hello()
    methods: list[object] = [one.get("method", "answer") for one in _sent(speaker)]
    prompted = False
    for line in transcript.raw.splitlines():
        speaker.feed(line, 0)
        told = speaker.teller.take()
        for item in told:
            if isinstance(item, Question):
                speaker.answer(item.question_id, Answer(allowed=False, input={}, stop=True))
        if speaker.ready and not prompted:
            prompted = True
            speaker.prompt("x")
        if name == "interrupt_during_tool" and speaker.teller.tools.open and speaker.teller.cancelling is None:
            speaker.cancel("alice", "")
        told += speaker.teller.take()
        methods += [json.loads(item.data).get("method", "answer") for item in told if isinstance(item, Reply)]
    expected = ["initialize", "initialized", "thread/start", "turn/start"]
    more = {"approval_command_cancel": ["answer"], "interrupt_during_tool": ["turn/interrupt"]}.get(name, [])
    assert methods == [*expected, *more]
    assert speaker.teller.outcome is not None


def test_a_model_is_named_on_the_command_line() -> None:
    assert PROFILE.arguments(Wish(model=None, workspace="/w")) == ()
    assert PROFILE.arguments(Wish(model="gpt", workspace="/w")) == ("-c", 'model="gpt"')
    assert PROFILE.arguments(Wish(model="fake:gpt", workspace="/w")) == (
        "-c",
        'model_provider="fake"',
        "-c",
        'model="gpt"',
    )


def test_either_stream_is_known_by_its_first_frame() -> None:
    for frame in (_STARTED, {"type": "turn.started"}):
        dialect = make_dialect("codex", Telling(agent="codex"))
        assert dialect.feed(json.dumps(frame).encode(), 0).names == ("turn_start",)


# What is not known.


@pytest.mark.parametrize("stage", ["item.started", "item.updated", "item.completed"])
def test_an_item_of_a_kind_that_nobody_knows_is_kept(stage: str) -> None:
    items, _ = _told({"type": "turn.started"}, {"type": stage, "item": {"id": "i", "type": "brand_new"}})
    assert kept(items) == ["no item is called 'brand_new'"]


def test_an_item_that_only_warns_is_passed_over() -> None:
    items, _ = _told({"type": "item.completed", "item": {"id": "i", "type": "error", "message": "x"}}, *_turn())
    assert kept(items) == []


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (_item("started", type="brandNew"), "no item is called 'brandNew'"),
        (_item("completed", type="brandNew"), "no item is called 'brandNew'"),
        (_note("thread/brandNew"), "no notification is called 'thread/brandNew'"),
        (_note("brand/new"), "no notification is called 'brand/new'"),
        ({**_note("brand/new"), "id": 7}, "no request is called 'brand/new'"),
    ],
)
def test_what_the_server_says_and_nobody_knows_is_kept(frame: Frame, why: str) -> None:
    items, _ = _told(_STARTED, frame, _COMPLETED)
    assert kept(items) == [why]


@pytest.mark.parametrize("method", ["thread/readState/changed", "account/rateLimits/updated", "turn/diff/updated"])
def test_what_the_server_says_and_what_tells_nothing_is_passed_over(method: str) -> None:
    items, _ = _told(_STARTED, _note(method), _item("completed", type="contextCompaction"), _COMPLETED)
    assert kept(items) == []


def test_a_turn_that_ends_nobody_knows_how_has_not_succeeded() -> None:
    items, outcome = _told(_STARTED, _note("turn/completed", turn={"id": "u1", "status": "evaporated"}))
    assert kept(items) == ["no end of a turn is called 'evaporated'"]
    assert outcome == Failed("agent_error", "the turn ended as 'evaporated'")


def test_the_pane_waits_no_longer_once_a_request_is_resolved() -> None:
    asked: Frame = {**_note("item/commandExecution/requestApproval", itemId="c1", command="make"), "id": 0}
    resolved = _note("serverRequest/resolved", requestId=0)
    frames = [_STARTED, _command("started"), asked, resolved]
    assert [state for _, state in watched("codex", _raw(frames))] == ["working", "working", "blocked", "working"]


def test_a_turn_that_was_interrupted_is_no_error_in_the_pane() -> None:
    interrupted = _note("turn/completed", turn={"id": "u1", "status": "interrupted"})
    failed = _note("error", error={"message": "stream broke"}, willRetry=False)
    assert watched("codex", _raw([_STARTED, failed, interrupted]))[-1] == ("turn_end+agent_end", "done")


def test_an_end_comes_from_the_state_before_it() -> None:
    asked: Frame = {**_note("item/commandExecution/requestApproval", itemId="c1", command="make"), "id": 0}
    interrupted = _note("turn/completed", turn={"id": "u1", "status": "interrupted"})
    waiting, _ = _told(_STARTED, _command("started"), asked, interrupted)
    working, _ = _told(_STARTED, interrupted)
    never, _ = _told(_note("thread/started", thread={"id": "t"}))
    broken, _ = _told(_STARTED)
    changes = [
        [(one.from_, one.to) for one in items if isinstance(one, AgentStateChanged)]
        for items in (waiting, working, never, broken)
    ]
    assert changes == [[("blocked", "done")], [("working", "done")], [("idle", "done")], [("working", "error")]]
