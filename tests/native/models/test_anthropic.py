"""What is peculiar to Messages."""

import pytest

from runwire.ids import Ids
from runwire.native.loop.state import Assistant, Call, Message, Text, Thinking, Told, Usage, User
from runwire.native.models.anthropic_request import REDACTED_SEAL, messages_of, system_of, thinking_of, tools_of
from runwire.native.models.catalogue import Catalogue
from runwire.testing.model_server import ModelServer, Plan
from runwire.testing.model_wires import SEAL, Answer, anthropic_frames
from tests.native.models.calls import HELLO, TOOLS, ask, fail, hear


def test_the_stable_part_of_a_call_ends_in_marks_for_the_cache() -> None:
    call = ask(messages=(*HELLO, User((Text("More."),))))
    mark = {"type": "ephemeral"}
    assert system_of(call)[-1].get("cache_control") == mark
    assert [tool.get("cache_control") for tool in tools_of(TOOLS)] == [None, mark]
    (turn,) = messages_of(call, images=True, thinking=False)
    assert [block.get("cache_control") for block in turn["content"] if isinstance(block, dict)] == [None, mark]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("claude-3-7-sonnet-latest", "enabled"),
        ("claude-sonnet-4-20250514", "enabled"),
        ("claude-opus-4-1", "enabled"),
        ("claude-sonnet-4-5-20250929", "enabled"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-5", "adaptive"),
        ("claude-fable-5-1", "adaptive"),
    ],
)
def test_a_model_is_asked_to_think_in_the_way_of_its_age(model: str, kind: str) -> None:
    asked = thinking_of(ask(thinking=True), model=model)
    assert asked is not None
    assert asked["type"] == kind
    assert thinking_of(ask(), model=model) is None


async def test_the_seal_of_reasoning_is_kept(catalogue: Catalogue) -> None:
    heard = await hear(catalogue.model("anthropic:thinking"), ask(thinking=True))
    assert heard.signature == SEAL


async def test_reasoning_that_is_shown_to_nobody_goes_back_as_it_came(ids: Ids) -> None:
    begun = b'{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}'
    hidden = b"event: content_block_start\ndata: " + begun + b"\n\n"
    over = b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    start, ping, *rest = anthropic_frames(Answer(text="42."), model="m")
    async with ModelServer(plans={"m": Plan(frames=[start, ping, hidden, over, *rest])}) as server:
        catalogue = Catalogue(providers={}, environ=server.environ(), ids=ids)
        model = catalogue.model("anthropic:m")
        heard = await hear(model, ask(thinking=True))
        assert heard.signature == REDACTED_SEAL + "c2VjcmV0"
        said = Assistant((Thinking("", heard.signature), Call("call_a", "x", {})))
        messages: tuple[Message, ...] = (*HELLO, said, Told("call_a", (Text("ok"),)))
        await hear(model, ask(messages=messages, thinking=True))
        await catalogue.close()
    sent = server.requests[1].body["messages"]
    assert isinstance(sent, list)
    assert sent[1]["content"][0] == {"type": "redacted_thinking", "data": "c2VjcmV0"}


async def test_what_a_broken_answer_had_used_is_told(catalogue: Catalogue) -> None:
    fault, _ = await fail(catalogue.model("anthropic:mid"), ask())
    assert fault.usage == Usage(input_tokens=100, output_tokens=1)
