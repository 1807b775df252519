"""Work is in proportion to what comes in. It is counted and not timed: lines of Python run, and bytes that come out."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from tests.agents.transcripts import envelopes_of, transcripts

if TYPE_CHECKING:
    from _typeshed import TraceFunction

_PIECE = 64 * 1024

_FOLDERS = [
    "zot",
    "pi-0.73.1",
    "pi-0.87.1",
    "claude-code-2.1.325",
    "codex-0.166.0",
    "codex-app-server-0.166.0",
    "opencode-1.18.33",
    "opencode-serve-1.18.33",
    "opencode-acp-1.18.33",
    "gemini-cli-0.61.0",
    "agno/2.3.18",
    "agno/3.1.10",
]


def _counted(agent: str, raw: bytes) -> tuple[int, int]:
    """How many lines of Python it takes to make a log of a stream, loops counted by their rounds; and the log's bytes."""
    lines = 0

    def count(_: FrameType, event: str, __: object) -> "TraceFunction":
        nonlocal lines
        lines += event == "line"
        return count

    pieces = [raw[at : at + _PIECE] for at in range(0, len(raw), _PIECE)]
    before = sys.gettrace()
    sys.settrace(count)
    try:
        log = envelopes_of(agent, pieces)
    finally:
        sys.settrace(before)
    return lines, sum(map(len, log))


@pytest.mark.parametrize("folder", _FOLDERS)
def test_twice_as_many_frames_are_twice_the_work(folder: str) -> None:
    recorded = [one for one in transcripts(folder) if one.path.stat().st_size < 20_000][:12]
    agent, raw = recorded[0].agent, b"".join(one.raw.rstrip(b"\n") + b"\n\n" for one in recorded)
    envelopes_of(agent, [raw])
    counts = [_counted(agent, raw * times) for times in (1, 2, 4)]
    for once, twice, more in zip(*counts, strict=True):
        assert more - twice <= 2.05 * (twice - once)


def _lines(*frames: dict[str, object]) -> bytes:
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)


def _zot(text: str) -> bytes:
    content = [{"type": "text", "text": f"$ ls\n\n{text}\n\n[exit 0]  Took 0.1s"}]
    return _lines(
        {"type": "turn_start"},
        {"type": "tool_call", "id": "c", "name": "bash", "args": {"command": "ls"}},
        {"type": "turn_end", "stop": "tool_use"},
        {"type": "tool_result", "id": "c", "content": content},
        {"type": "text_delta", "delta": text},
        {"type": "done"},
    )


def _codex(text: str) -> bytes:
    item = {"id": "i", "type": "command_execution", "command": f"bash -lc '{text}'", "aggregated_output": text}
    return _lines(
        {"type": "turn.started"},
        {"type": "item.started", "item": item},
        {"type": "item.completed", "item": {**item, "exit_code": 0}},
        {"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": text}},
        {"type": "turn.failed", "error": {"message": text}},
    )


def _gemini(text: str) -> bytes:
    return _lines(
        {"type": "init"},
        {"type": "tool_use", "tool_name": "read_file", "tool_id": "t", "parameters": {"path": text}},
        {"type": "tool_result", "tool_id": "t", "status": "error", "output": text, "error": {"message": text}},
        {"type": "message", "role": "assistant", "content": text},
        {"type": "result", "status": "error", "error": {"type": "x", "message": text}},
    )


def _opencode(text: str) -> bytes:
    state = {"status": "completed", "input": {"command": text}, "output": text, "metadata": {"output": text, "exit": 1}}
    return _lines(
        {"type": "step_start"},
        {"type": "tool_use", "part": {"type": "tool", "tool": "bash", "callID": "c", "state": state}},
        {"type": "text", "part": {"type": "text", "text": text}},
        {"type": "error", "error": {"name": "UnknownError", "data": {"message": text}}},
    )


def _agno(text: str) -> bytes:
    tool = {"tool_call_id": "c", "tool_name": "find", "tool_args": {"text": text}}
    return _lines(
        {"event": "RunStarted", "run_id": "r"},
        {"event": "ToolCallStarted", "run_id": "r", "tool": tool},
        {"event": "ToolCallCompleted", "run_id": "r", "tool": {**tool, "result": text}},
        {"event": "RunContent", "run_id": "r", "content": text},
        {"event": "RunError", "run_id": "r", "content": text},
    )


@pytest.mark.parametrize(
    ("agent", "stream"),
    [("zot", _zot), ("codex", _codex), ("gemini", _gemini), ("opencode", _opencode), ("agno", _agno)],
)
@pytest.mark.parametrize("text", ["word ", "line\n", "{[('", "[exit 0] (full output: ", '"code": ', "é\u2028"])
def test_a_long_text_is_not_walked_letter_by_letter(agent: str, stream: Callable[[str], bytes], text: str) -> None:
    streams = [stream(text * (size // len(text))) for size in (2 * _PIECE, 16 * _PIECE)]
    envelopes_of(agent, streams[:1])
    short, long = (_counted(agent, raw) for raw in streams)
    # Pieces of the input and of the output are the only thing that there is more of.
    assert long[0] - short[0] <= 60 * (len(streams[1]) - len(streams[0])) / _PIECE
    assert long[1] <= 8.1 * short[1]


def test_an_output_that_is_told_again_and_again_is_kept_once() -> None:
    item = {"id": "i", "type": "command_execution", "command": "make"}
    outputs = ["line of output\n" * times for times in range(1, 401)]
    frames: list[dict[str, object]] = [
        {"type": "item.updated", "item": {**item, "aggregated_output": output}} for output in outputs
    ]
    _, size = _counted("codex", _lines({"type": "turn.started"}, *frames))
    assert size < 2 * len(outputs[-1]) + 10_000
