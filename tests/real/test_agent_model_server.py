"""The scripted model says the same on all four wires, and does what the prompt asks with whatever tools are on offer."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import httpx2
import msgspec
import pytest

from runwire.testing.agent_model_server import AgentModelServer
from runwire.testing.model_conversation import Wire, conversation_of
from runwire.testing.model_script import GREETING, next_move

Json = dict[str, object]

SHELL: Json = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@dataclass(frozen=True, slots=True)
class Dialled:
    """How a wire is asked, and how the text and the calls of its answer are read."""

    path: str
    body: Callable[[str], Json]
    text: Callable[[Json], object]
    call: Callable[[Json], object]


def _chat(prompt: str) -> Json:
    tools = [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}], "tools": tools}


def _responses(prompt: str) -> Json:
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
    tools = [{"type": "function", "name": "shell", "parameters": SHELL}]
    return {"model": "m", "stream": True, "input": [said], "tools": tools}


def _messages(prompt: str) -> Json:
    messages = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
    return {"model": "m", "stream": True, "messages": messages, "tools": [{"name": "Bash", "input_schema": SHELL}]}


def _gemini(prompt: str) -> Json:
    tools = [{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": SHELL}]}]
    return {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "tools": tools}


def _in(frame: object, *path: str | int) -> object:
    """What a frame holds at a path; None when there is no such place."""
    for step in path:
        if isinstance(frame, list) and isinstance(step, int):
            frame = frame[step] if step < len(frame) else None
        else:
            frame = frame.get(step) if isinstance(frame, Mapping) else None
    return frame


def _call_of_gemini(frame: Json) -> str | None:
    arguments = _in(frame, "candidates", 0, "content", "parts", 0, "functionCall", "args")
    return msgspec.json.encode(arguments).decode() if arguments is not None else None


WIRES: Mapping[Wire, Dialled] = {
    "openai": Dialled(
        "/v1/chat/completions",
        _chat,
        lambda frame: _in(frame, "choices", 0, "delta", "content"),
        lambda frame: _in(frame, "choices", 0, "delta", "tool_calls", 0, "function", "arguments"),
    ),
    "responses": Dialled(
        "/v1/responses",
        _responses,
        lambda frame: frame.get("delta") if frame["type"] == "response.output_text.delta" else None,
        lambda frame: frame.get("delta") if frame["type"] == "response.function_call_arguments.delta" else None,
    ),
    "anthropic": Dialled(
        "/v1/messages",
        _messages,
        lambda frame: _in(frame, "delta", "text"),
        lambda frame: _in(frame, "delta", "partial_json"),
    ),
    "gemini": Dialled(
        "/v1beta/models/m:streamGenerateContent",
        _gemini,
        lambda frame: _in(frame, "candidates", 0, "content", "parts", 0, "text"),
        _call_of_gemini,
    ),
}
every_wire = pytest.mark.parametrize("wire", [*WIRES])


async def _ask(models: AgentModelServer, wire: Wire, prompt: str) -> Sequence[Json]:
    async with httpx2.AsyncClient(base_url=models.url, timeout=10) as client:
        answer = await client.post(WIRES[wire].path, json=WIRES[wire].body(prompt))
        answer.raise_for_status()
    data = (line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: {"))
    return [msgspec.json.decode(line, type=Json) for line in data]


def _joined(pieces: Callable[[Json], object], frames: Sequence[Json]) -> str:
    return "".join(str(piece) for frame in frames if (piece := pieces(frame)))


@every_wire
async def test_a_plain_prompt_is_greeted(models: AgentModelServer, wire: Wire) -> None:
    assert _joined(WIRES[wire].text, await _ask(models, wire, "Hello.")) == GREETING


@every_wire
async def test_a_command_is_run_with_the_shell_that_is_on_offer(models: AgentModelServer, wire: Wire) -> None:
    frames = await _ask(models, wire, "[[shell: uname -s]]")

    assert msgspec.json.decode(_joined(WIRES[wire].call, frames)) == {"command": "uname -s"}


@every_wire
async def test_a_status_is_given_as_asked_and_passes(models: AgentModelServer, wire: Wire) -> None:
    with pytest.raises(httpx2.HTTPStatusError, match="503"):
        await _ask(models, wire, "[[status: 503 once]]")

    assert _joined(WIRES[wire].text, await _ask(models, wire, "[[status: 503 once]]")) == "It has passed."


@every_wire
@pytest.mark.parametrize("manner", ["slow", "silent", "hang"])
async def test_whoever_waits_may_leave(models: AgentModelServer, wire: Wire, manner: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await _ask(models, wire, f"[[{manner}]]")

    await asyncio.wait_for(models.until(lambda: models.connections == 0), 5)


@every_wire
async def test_a_stream_breaks_in_the_middle(models: AgentModelServer, wire: Wire) -> None:
    with pytest.raises(httpx2.TransportError):
        await _ask(models, wire, "[[drop]]")

    assert "error" in msgspec.json.encode((await _ask(models, wire, "[[mid]]"))[-1]).decode()


async def test_side_matters_are_answered_and_not_counted(models: AgentModelServer) -> None:
    title = {"model": "m", "messages": [{"role": "user", "content": "Give a title to: [[shell: true]]"}]}
    schema = {
        "type": "object",
        "properties": {"next": {"type": "STRING", "enum": ["user", "model"]}},
        "required": ["next"],
    }
    judged = {"contents": [], "generationConfig": {"responseJsonSchema": schema}}
    async with httpx2.AsyncClient(base_url=models.url) as client:
        answers = [
            await client.post("/v1/chat/completions", json=title),
            await client.post("/v1/messages", json=title),
            await client.post("/v1/responses", json={"model": "m", "input": "Give a title."}),
            await client.post("/v1/messages/count_tokens", json={}),
            await client.get("/v1/models"),
            await client.post("/v1beta/models/m:generateContent", json=judged),
            await client.head("/nowhere"),
        ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 200, 200, 404]
    assert all(GREETING in answer.text for answer in answers[:3])
    assert r"{\"next\":\"user\"}" in answers[5].text
    assert models.asked == []


def _turns(*messages: Json) -> Json:
    properties: Json = {"filePath": {}, "oldString": {}, "newString": {}, "content": {}}
    tools = [
        {"name": name, "input_schema": {"properties": properties, "required": ["filePath"]}}
        for name in ("read", "edit", "write")
    ]
    return {"messages": [*messages], "tools": tools}


def _called(call_id: str) -> Sequence[Json]:
    use = {"type": "tool_use", "id": call_id, "name": "read", "input": {}}
    reminder = {"type": "text", "text": "<system-reminder>Mind the [[shell: gap]].</system-reminder>"}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": "[[shell: no]]"}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result, reminder]}]


def test_a_script_goes_on_round_by_round_and_starts_anew_with_the_next_prompt() -> None:
    first: Json = {"role": "user", "content": "[[edit: /w/a | one | two]] [[say: First is done.]]"}
    second: Json = {"role": "user", "content": "And now [[write: /w/b | three]]"}

    def move(*messages: Json) -> tuple[list[str], str]:
        made = next_move(conversation_of("anthropic", _turns(*messages)), serial=1).answer
        return [f"{call.name} {call.arguments}" for call in made.calls], made.text

    assert move(first) == (['read {"filePath":"/w/a"}'], "")
    edit = 'edit {"filePath":"/w/a","oldString":"one","newString":"two"}'
    assert move(first, *_called("1")) == ([edit], "")
    assert move(first, *_called("1"), *_called("2")) == ([], "First is done.")
    spoken: Json = {"role": "assistant", "content": "First is done."}
    write = 'write {"filePath":"/w/b","content":"three\\n"}'
    assert move(first, *_called("1"), *_called("2"), spoken, second) == ([write], "")


def test_without_an_editor_files_are_changed_by_patches() -> None:
    said = {"type": "message", "role": "user", "content": "[[edit: /w/a | one | two]]"}
    body: Json = {"input": [said], "tools": [{"type": "custom", "name": "apply_patch"}]}

    (call,) = next_move(conversation_of("responses", body), serial=1).answer.calls

    assert call.is_freeform
    assert call.arguments == "*** Begin Patch\n*** Update File: /w/a\n@@\n-one\n+two\n*** End Patch\n"


def test_a_tool_that_is_not_on_offer_is_not_called() -> None:
    answer = next_move(conversation_of("openai", _chat("[[write: /w/a | text]]")), serial=1).answer

    assert not answer.calls
    assert answer.text


def test_a_loop_never_ends_and_thoughts_come_first() -> None:
    called: Json = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}
    asked = _chat("[[think: Hm.]] [[loop: true]]")
    begun = next_move(conversation_of("openai", asked), serial=1).answer
    prompt = {"role": "user", "content": "[[think: Hm.]] [[loop: true]]"}
    went_on = next_move(conversation_of("openai", {**asked, "messages": [prompt, *[called] * 7]}), serial=2).answer

    assert (begun.thinking, len(begun.calls)) == ("Hm.", 1)
    assert (went_on.thinking, len(went_on.calls)) == ("", 1)
