"""What a log tells of a run and its model."""

from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.artifact import ArtifactCreated
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete, AssistantToolCallProposed
from runwire.protocol.events.error import ErrorModelCapabilityMissing, ErrorUpstream
from runwire.protocol.events.file import FileReadCompleted
from runwire.protocol.events.policy import PolicyModelRewrote
from runwire.protocol.events.run import RunFailed, RunFinished, RunQueued
from runwire.protocol.events.search import GlobCompleted, GrepCompleted
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCompleted, ToolFailed
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserAttachment, UserMessage
from tests.scenarios.playing import Repertoire
from tests.scenarios.stories.turns import PIXEL

ENDING = ["turn.completed", "cost.tick", "run.checkpoint_saved"]


def test_a_plain_answer_is_told_from_the_queue_to_the_end(played: Repertoire) -> None:
    log = played("plain_answer").log
    assert log.types == [
        "run.queued",
        "user.message",
        "run.started",
        "turn.started",
        "assistant.text_delta",
        "assistant.text_complete",
        "assistant.final_answer",
        *ENDING,
        "run.finished",
    ]
    assert log.one(UserMessage).text == "Is anything wrong?"
    assert log.one(AssistantTextComplete).text == "Nothing is wrong here, as far as one can see."
    assert log.one(RunQueued).kind == "agent_loop"
    assert (log.one(RunFinished).final_status, log.one(RunFinished).turns) == ("completed", 1)


def test_a_call_is_proposed_then_durable_then_done_before_the_next_turn(played: Repertoire) -> None:
    log = played("tool_and_answer").log
    assert log.without("assistant.text*") == [
        "run.queued",
        "user.message",
        "run.started",
        "turn.started",
        "assistant.tool_call_proposed",
        *ENDING,
        "tool.invoked",
        "tool.started",
        "tool.shell.command",
        "tool.shell.output_chunk",
        "tool.shell.exited",
        "artifact.created",
        "tool.completed",
        "turn.started",
        "assistant.final_answer",
        *ENDING,
        "run.finished",
    ]
    assert log.one(ShellCommand).argv[-1] == "seq 1 3"
    assert log.one(ShellCommand).sandbox_layer in {"bwrap", "unshare", "seatbelt"}
    assert "".join(chunk.data for chunk in log.all(ShellOutputChunk)) == "1\n2\n3\n"
    assert (log.one(ShellExited).exit_code, log.one(ShellExited).stdout_bytes) == (0, 6)
    assert [turn.tool_calls for turn in log.all(TurnCompleted)] == [1, 0]
    proposed = log.one(AssistantToolCallProposed)
    assert {log.one(ToolCompleted).tool_call_id, log.one(ShellCommand).tool_call_id} == {proposed.tool_call_id}


def test_tools_that_look_tell_what_they_saw(played: Repertoire) -> None:
    log = played("looking_around").log
    assert log.one(GlobCompleted).match_count == 1
    assert log.one(GrepCompleted).match_count == 2
    assert log.one(FileReadCompleted).path == "src/a.py"
    assert "tool.todo_write.updated" in log.types
    assert len(log.all(ToolCompleted)) == 4


def test_calls_of_one_answer_each_have_their_own_end(played: Repertoire) -> None:
    log = played("at_once").log
    proposed = {one.tool_call_id for one in log.all(AssistantToolCallProposed)}
    ended = [one.tool_call_id for one in (*log.all(ToolCompleted), *log.all(ToolFailed))]
    assert len(ended) == 3
    assert set(ended) == proposed
    assert log.all(TurnCompleted)[0].tool_calls == 3


def test_a_provider_that_fails_is_tried_again_under_the_same_turn(played: Repertoire) -> None:
    log = played("upstream_recovers").log
    assert [(one.status, one.attempt, one.retriable) for one in log.all(ErrorUpstream)] == [
        (529, 1, True),
        (529, 2, True),
    ]
    assert [one.turn_index for one in log.all(TurnStarted)] == [0, 0, 0]
    assert [one.will_retry for one in log.all(TurnFailed)] == [True, True]
    assert log.types[-1] == "run.finished"


def test_a_provider_that_never_answers_ends_the_run(played: Repertoire) -> None:
    log = played("upstream_gives_up").log
    assert [one.attempt for one in log.all(ErrorUpstream)] == [1, 2, 3]
    assert [one.will_retry for one in log.all(TurnFailed)] == [True, True, False]
    failed = log.one(RunFailed)
    assert (failed.code, failed.retriable) == ("model_unreachable", True)


def test_a_text_that_was_cut_is_said_anew(played: Repertoire) -> None:
    log = played("upstream_breaks_off").log
    assert log.one(AssistantTextComplete).text == "A text that is long enough to be cut in the middle of it."
    assert log.one(ErrorUpstream).status is None
    assert log.types[-1] == "run.finished"


def test_a_key_that_is_refused_is_not_tried_twice(played: Repertoire) -> None:
    log = played("refused_key").log
    assert log.one(ErrorUpstream).retriable is False
    assert log.one(RunFailed).code == "auth_failed"


def test_a_script_that_ends_too_soon_fails_the_run_and_invents_no_text(played: Repertoire) -> None:
    log = played("script_ends").log
    assert log.one(TurnFailed).code == "script_exhausted"
    assert log.one(RunFailed).code == "script_exhausted"
    assert len(log.all(AssistantTextComplete)) == 1


def test_an_agent_that_does_not_come_to_an_end_is_ended(played: Repertoire) -> None:
    log = played("turns_used_up").log
    assert log.one(RunFailed).code == "max_turns"
    assert len(log.all(TurnCompleted)) == 2


def test_a_conversation_that_no_longer_fits_is_summarised(played: Repertoire) -> None:
    log = played("window_fills").log
    assert [one.stop_reason for one in log.all(TurnCompleted)] == [
        "tool_use",
        "tool_use",
        "tool_use",
        "compaction",
        "end_turn",
    ]
    assert log.one(AssistantFinalAnswer).summary == "All three."


def test_a_model_without_tools_asks_in_text(played: Repertoire) -> None:
    log = played("without_tools").log
    missing = log.one(ErrorModelCapabilityMissing)
    assert (missing.missing_capability, missing.fallback_strategy) == ("tool_use", "prompt_simulated_json")
    assert "JSON" in log.one(AgentUnparsed).error
    assert log.one(ToolCompleted).tool_name == "shell_exec"
    assert log.one(AssistantFinalAnswer).summary == "It said: by text."


def test_a_policy_may_replace_the_model(played: Repertoire) -> None:
    log = played("other_model").log
    rewrote = log.one(PolicyModelRewrote)
    assert (rewrote.to_model.endswith("cheap.json"), rewrote.reason) == (True, "cheaper")
    assert log.types.index("policy.model_rewrote") < log.types.index("turn.started")
    assert log.one(AssistantTextComplete).text == "The cheap one speaks."


def test_a_word_to_a_live_run_is_heard_before_it_finishes(played: Repertoire) -> None:
    log = played("steered").log
    said = log.all(UserMessage)[-1]
    assert (said.text, said.turn_index) == ("In French, please.", 1)
    assert log.all(AssistantTextComplete)[-1].text == "In French, then: fini."
    assert log.one(RunFinished).turns == 2


def test_a_picture_is_kept_and_named(played: Repertoire) -> None:
    log = played("picture_given").log
    attached, kept = log.one(UserAttachment), log.one(ArtifactCreated)
    assert attached.artifact_id == kept.artifact_id
    assert kept.size_bytes == len(PIXEL)


def test_arguments_that_no_tool_can_take_are_told_and_not_fatal(played: Repertoire) -> None:
    log = played("bad_arguments").log
    assert [one.code for one in log.all(ToolFailed)] == ["invalid_input", "invalid_input", "unknown_tool"]
    assert log.types[-1] == "run.finished"
