"""What a model that cannot be given tools is asked: words alone, in which the tools are described."""

from collections.abc import AsyncGenerator

import pytest

from runwire.host import Finished
from runwire.native.loop.state import Assistant, Call, Text, Told
from runwire.native.models.model import Chunk, ModelCall
from runwire.native.models.scripted import ScriptedModel
from tests.native.playing import Player, Script


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[ModelCall]:
    """Every question that a script is asked from now on."""
    heard: list[ModelCall] = []
    answer = ScriptedModel.stream

    def overhear(model: ScriptedModel, call: ModelCall) -> AsyncGenerator[Chunk]:
        heard.append(call)
        return answer(model, call)

    monkeypatch.setattr(ScriptedModel, "stream", overhear)
    return heard


async def test_a_model_without_tools_is_sent_neither_tools_nor_calls_nor_results(
    player: Player, questions: list[ModelCall]
) -> None:
    script = Script(
        {"text": '{"tool": "echo", "input": {"word": "ho"}}'},
        {"text": "It said ho."},
        capabilities={"tool_use": False},
    )

    played = await player.play(script)

    assert played.ended == Finished("It said ho.")
    assert [call.tools for call in questions] == [(), ()]
    assert all("- echo: Say a word." in call.system for call in questions)
    shown = [message for call in questions for message in call.messages]
    assert not any(isinstance(message, Told) for message in shown)
    assert not any(isinstance(part, Call) for message in shown for part in message.parts)
    asked, told = questions[-1].messages[-2:]
    assert asked == Assistant((Text('{"tool": "echo", "input": {"word": "ho"}}'),))
    assert told.parts == (Text("[result of echo]\n"), Text("ho"))


async def test_a_model_with_tools_is_sent_them_as_such(player: Player, questions: list[ModelCall]) -> None:
    await player.play(Script({"tools": [{"name": "echo", "input": {"word": "ho"}}]}, {"text": "done"}))

    assert [[tool.name for tool in call.tools] for call in questions] == [["echo"], ["echo"]]
    assert not any("Say a word." in call.system for call in questions)
    assert isinstance(questions[-1].messages[-1], Told)
