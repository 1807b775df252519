"""The legs of a run, one after the other, are one story; and no stream, however broken, becomes a log that breaks the rules."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwire.agents.dialect import Cancelled, Item
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.tool import ToolCompleted, ToolInvoked
from tests.agents.transcripts import Transcript, breaches_of, items_of, transcripts

EVERY = transcripts("agno")


def _situations() -> dict[str, list[Transcript]]:
    found: dict[str, list[Transcript]] = defaultdict(list)
    for one in EVERY:
        folder, _, name = one.name.rpartition("/")
        situation, _, leg = name.partition(".")
        if leg and not folder.endswith("fuzz"):
            found[f"{folder}/{situation}"].append(one)
    return found


LEGS = _situations()


def story(situation: str) -> list[bytes]:
    """The legs of a situation, in order."""
    return [one.raw for one in LEGS[f"agno/{situation}"]]


def decided(items: list[Item]) -> list[tuple[str, str]]:
    asked = {one.approval_id: one.tool_call_id or "" for one in items if isinstance(one, ApprovalRequested)}
    return [(asked[one.approval_id], one.decision) for one in items if isinstance(one, ApprovalResolved)]


@pytest.mark.parametrize("situation", sorted(LEGS))
def test_the_legs_of_a_run_are_one_story_that_keeps_the_rules(situation: str) -> None:
    raw = [one.raw for one in LEGS[situation]]
    assert breaches_of("agno", raw) == []
    items, outcome = items_of("agno", raw)
    _, last = items_of("agno", raw[-1:])
    if not isinstance(last, Failed):
        assert type(outcome) is type(last)
    calls = [one.tool_call_id for one in items if isinstance(one, ToolInvoked)]
    assert all(decision in {"approved", "denied"} for _, decision in decided(items))
    assert len(calls) == len(set(calls)) or situation.endswith(("2.3.18/confirm_approved",))


@pytest.mark.parametrize("transcript", EVERY, ids=lambda one: one.name)
def test_only_what_came_too_late_is_not_understood(transcript: Transcript) -> None:
    items, _ = items_of("agno", [transcript.raw])
    assert {one.error for one in items if isinstance(one, AgentUnparsed)} <= {"late: the agent had ended already"}


@pytest.mark.parametrize("version", ["2.3.18", "3.1.10"])
@pytest.mark.parametrize(
    ("situation", "decisions", "made"),
    [
        ("confirm_approved", ["approved"], 1),
        ("confirm_rejected", ["denied"], 0),
        ("confirm_two_approved_rejected", ["approved", "denied"], 1),
        ("confirm_chain", ["approved", "approved"], 2),
        ("external_execution", ["approved"], 1),
        ("claude_confirm_rejected", ["denied"], 0),
    ],
)
def test_what_follows_tells_what_was_decided(version: str, situation: str, decisions: list[str], made: int) -> None:
    legs = story(f"{version}/{situation}")
    if situation == "confirm_approved":
        legs = legs[:2]
    items, outcome = items_of("agno", legs)
    assert [decision for _, decision in decided(items)] == decisions
    assert len([one for one in items if isinstance(one, ToolCompleted)]) == made
    assert isinstance(outcome, Finished)


def test_a_second_continue_runs_the_tool_again_and_the_log_says_so() -> None:
    items, _ = items_of("agno", story("2.3.18/confirm_approved"))
    assert [one.tool_call_id for one in items if isinstance(one, ToolInvoked)] == ["toolu_fake_0043"] * 2


def test_a_run_that_is_watched_again_is_told_once() -> None:
    once, _ = items_of("agno", [story("3.1.10/background_confirm")[at] for at in (0, 2)])
    again, _ = items_of("agno", story("3.1.10/background_confirm"))
    assert again == once


def test_tokens_of_all_legs_are_the_sum_that_the_last_leg_tells() -> None:
    items, _ = items_of("agno", story("3.1.10/queue_confirm"))
    assert [one for one in items if isinstance(one, CostTick)][-1].cumulative_input_tokens == 3016
    older, _ = items_of("agno", story("2.3.18/confirm_approved"))
    assert [one for one in older if isinstance(one, CostTick)][-1].cumulative_input_tokens == 81


def test_a_cancelled_run_that_says_it_is_complete_was_cancelled() -> None:
    for situation in ("cancel_mid_tool", "background_cancel", "team_cancel", "workflow_cancel"):
        _, outcome = items_of("agno", story(f"3.1.10/{situation}"))
        assert isinstance(outcome, Cancelled)


_SMALL = [one.raw for one in EVERY if len(one.raw) < 9000]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_SMALL), st.data())
def test_a_stream_cut_at_any_byte_keeps_the_rules(raw: bytes, data: st.DataObject) -> None:
    assert breaches_of("agno", [raw[: data.draw(st.integers(0, len(raw)))]]) == []


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_SMALL), st.sampled_from(_SMALL), st.randoms(use_true_random=False))
def test_streams_in_any_mixture_keep_the_rules(one: bytes, other: bytes, shuffled: object) -> None:
    frames = [frame + b"\n\n" for frame in (one + other).split(b"\n\n") if frame]
    shuffled.shuffle(frames)  # type: ignore[attr-defined] # a Random
    assert breaches_of("agno", frames) == []
    bare = [line[6:] + b"\n" for frame in frames for line in frame.split(b"\n") if line.startswith(b"data: ")]
    assert breaches_of("agno", bare) == []


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"data: ", b"event: RunContent\ndata: ", b"event: RunPaused\ndata: {"]),
)
def test_any_bytes_keep_the_rules(raw: bytes, before: bytes) -> None:
    assert breaches_of("agno", [before + raw]) == []
