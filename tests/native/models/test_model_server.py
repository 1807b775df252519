"""The test server refuses what the real ones refuse; otherwise a good answer from it would prove nothing."""

import pytest

from runwire.native.models.connection import Endpoint
from runwire.testing.model_manners import complaint_of, count_images

_USER = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
_CALLING = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]}
_RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": []}]}


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([], "required"),
        ([_USER, _USER], "alternate"),
        ([_CALLING, _RESULT], "beginning with user"),
        ([_USER, _CALLING], "tool_use without"),
        ([_USER, _CALLING, _USER], "tool_use ids without"),
        ([_RESULT], "other way round"),
        ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "non-empty"),
        ([{"role": "user", "content": []}], "empty"),
        ([_USER, {"role": "assistant", "content": [{"type": "thinking", "signature": "?"}]}], "Invalid signature"),
    ],
)
def test_anthropic_refuses(messages: list[dict[str, object]], says: str) -> None:
    complaint = complaint_of("anthropic", {"max_tokens": 1, "stream": True, "messages": messages})
    assert complaint is not None
    assert says in complaint


@pytest.mark.parametrize("budget", [100, 4096])
def test_anthropic_refuses_a_budget_for_thinking_that_cannot_be(budget: int) -> None:
    body = {"max_tokens": 4096, "stream": True, "messages": [_USER]}
    thinking = {"type": "enabled", "budget_tokens": budget}
    assert complaint_of("anthropic", {**body, "thinking": thinking}) is not None
    assert complaint_of("anthropic", body) is None


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([{"role": "tool", "tool_call_id": "a", "content": "x"}], "just made"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "without an answer"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}, {"role": "user", "content": "x"}], "without an answer"),
        ([{"role": "assistant", "content": None}], "neither"),
    ],
)
def test_openai_refuses(messages: list[dict[str, object]], says: str) -> None:
    body = {"stream": True, "stream_options": {"include_usage": True}, "messages": messages}
    complaint = complaint_of("openai", body)
    assert complaint is not None
    assert says in complaint


def test_pictures_are_counted_in_results_too() -> None:
    result = {"type": "tool_result", "content": [{"type": "image"}]}
    assert count_images({"messages": [{"role": "user", "content": [{"type": "image_url"}, result]}]}) == 2


def test_where_a_provider_is_can_be_told() -> None:
    endpoint = Endpoint(provider="p", wire="openai", base_url="http://me:hunter22@host:1/v1", api_key="sk-secret")
    assert endpoint.place == "host:1"
    assert "sk-secret" not in repr(endpoint)
