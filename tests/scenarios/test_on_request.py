"""Experimental types are there for those who ask, and for nobody else."""

from runwire.protocol.catalogue import EXPERIMENTAL
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantToolCallProposed
from runwire.protocol.events.experimental import (
    AssistantMedia,
    AssistantThinkingComplete,
    AssistantThinkingDelta,
    AssistantToolInputDelta,
    RunChildFinished,
    RunChildStarted,
)
from runwire.protocol.events.run import RunQueued
from tests.scenarios.playing import Repertoire


def test_a_model_thinks_aloud_when_asked_to(played: Repertoire) -> None:
    log = played("thinking").log
    thought = log.one(AssistantThinkingComplete)
    assert thought.text == "There might be two of them; I had better count."
    assert "".join(one.delta for one in log.all(AssistantThinkingDelta)) == thought.text
    assert log.types.index("assistant.thinking_complete") < log.types.index("assistant.text_complete")


def test_arguments_are_streamed_when_asked_for(played: Repertoire) -> None:
    log = played("thinking").log
    call = log.one(AssistantToolCallProposed)
    pieces = log.all(AssistantToolInputDelta)
    assert {one.tool_call_id for one in pieces} == {call.tool_call_id}
    assert "".join(one.delta for one in pieces) == '{"command":"seq 1 2"}'


def test_nobody_gets_what_was_not_asked_for(played: Repertoire) -> None:
    assert EXPERIMENTAL & set(played("not_asked_for").log.types) == set()


def test_what_a_model_draws_is_an_artifact(played: Repertoire) -> None:
    log = played("media").log
    assert log.one(AssistantMedia).mime == "image/png"
    assert log.types.index("artifact.created") < log.types.index("assistant.media")


def test_a_child_is_a_run_of_its_own(played: Repertoire) -> None:
    parent, child = sorted(played("children").logs, key=lambda log: "run.child_started" not in log.types)[:2]
    started, finished = parent.one(RunChildStarted), parent.one(RunChildFinished)
    assert started.child_run_id == finished.child_run_id == child.run_id
    assert child.one(RunQueued).parent_run_id == parent.run_id
    assert finished.final_status == "completed"
    assert parent.one(AssistantFinalAnswer).summary == "Counted."
