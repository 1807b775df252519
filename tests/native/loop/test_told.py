"""What a model is told of its calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.host import ToolAsk, ToolEnd
from runwire.native.loop.state import Assistant, Call, Text, Told, User
from runwire.native.loop.told import Outcome, ToolOver, blocked, fit, of_end, of_event, text_of, wants_body, with_told
from runwire.runs.settling import terminal


def unchanged(_: object) -> ToolAsk:
    return ASK


ASK = ToolAsk(
    tool_call_id="c",
    tool_name="t",
    kind="k",
    turn_index=0,
    input={},
    effects=frozenset(),
    summary="s",
    recheck=unchanged,
)


@pytest.mark.parametrize(
    ("outcome", "body", "text"),
    [
        (Outcome(outcome="completed", summary="ok", output="all"), None, "all"),
        (Outcome(outcome="completed", summary="ok", artifact_id="art_1"), b"body", "ok\nbody"),
        (Outcome(outcome="completed", summary="ok", artifact_id="art_1"), None, "ok"),
        (Outcome(outcome="failed", code="nonzero_exit", message="exit 1"), None, "error (nonzero_exit): exit 1"),
        (Outcome(outcome="failed", code="x", message="m", output="m"), None, "error (x): m"),
        (Outcome(outcome="failed", code="x", message="m", output="more"), None, "error (x): m\nmore"),
        (Outcome(outcome="timed_out", message="too long", output="some"), None, "error (timed_out): too long\nsome"),
        (Outcome(outcome="cancelled", by="ann"), None, "error (cancelled): stopped by ann"),
    ],
)
def test_each_end_has_its_words(outcome: Outcome, body: bytes | None, text: str) -> None:
    assert text_of(outcome, body) == text


@pytest.mark.parametrize(
    "end",
    [
        ToolEnd(outcome="completed", duration_ms=1, summary="s", output="o", result_artifact_id="art_1"),
        ToolEnd(outcome="completed", duration_ms=1, summary="s", output=None, result_artifact_id="art_1"),
        ToolEnd(outcome="failed", duration_ms=1, summary="s", output=None, code="c", message="m"),
        ToolEnd(
            outcome="failed", duration_ms=1, summary="s", output=None, code="c", message="m", result_artifact_id="a"
        ),
        ToolEnd(outcome="timed_out", duration_ms=1, summary="s", output="o", message="m", limit="wall_clock"),
        ToolEnd(outcome="cancelled", duration_ms=1, summary="s", output=None, message="why", by="ann"),
    ],
)
def test_seen_and_read_are_the_same(end: ToolEnd) -> None:
    event = terminal(ASK, end)
    assert isinstance(event, ToolOver)

    assert text_of(of_end(end), b"body") == text_of(of_event(event), b"body")
    assert wants_body(of_end(end)) == wants_body(of_event(event))


def test_a_refusal_is_told_as_an_error_once() -> None:
    assert blocked("no") == "error (blocked): no"
    assert blocked("error (hook_denied): no") == "error (hook_denied): no"


@given(st.text(), st.integers(12, 200))
def test_a_long_text_keeps_its_ends_and_says_what_is_missing(text: str, limit: int) -> None:
    text = text.encode(errors="ignore").decode()
    fitted = fit(text, limit, "art_1")
    if len(text.encode()) <= limit:
        assert fitted == text
    else:
        head, _, rest = fitted.partition("\n[… ")
        left, _, tail = rest.partition(" bytes left out; artifact_read art_1 shows them …]\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head.encode()) + int(left) + len(tail.encode()) == len(text.encode())


def test_results_stand_behind_the_answer_that_asked_and_before_what_came_later() -> None:
    asking = Assistant((Call("a", "t", {}), Call("b", "t", {})))
    messages = (User((Text("x"),)), asking, Told("b", (Text("2"),)), User((Text("y"),)))

    assert with_told(messages, [Told("a", (Text("1"),))]) == (
        *messages[:2],
        Told("a", (Text("1"),)),
        Told("b", (Text("2"),)),
        messages[3],
    )
