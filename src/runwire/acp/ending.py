"""How a run ended, as the answer to the prompt that it was for. Pure."""

from runwire.acp.refusals import INTERNAL_ERROR, Refusal
from runwire.acp.telling import Telling
from runwire.acp.updates import Answered, RunMeta, StopReason
from runwire.client.answers import Run

# Failures that the protocol has a word for. A person who denies a call and ends the run with it has cancelled.
_WORDS: dict[str, StopReason] = {"max_turns": "max_turn_requests", "approval_denied": "cancelled"}


def answer_of(run: Run, telling: Telling) -> Answered:
    """The answer; a Refusal that says what went wrong and what to do where the protocol has no word for it."""
    state = telling.drawing.run
    match state.status:
        case "completed":
            return answered(run, telling.stop_reason, state.cost_micros_usd)
        case "cancelled":
            return answered(run, "cancelled", state.cost_micros_usd)
        case _ if state.error_code in _WORDS:
            return answered(run, _WORDS[state.error_code], state.cost_micros_usd)
        case _:
            raise Refusal(
                INTERNAL_ERROR,
                f"the run failed: {state.error_code}: {state.error_message}",
                f"`runwire show {run.run_id}` tells more; another prompt goes on from here",
                {"code": state.error_code, "run_id": run.run_id, "retriable": state.retriable},
            )


def answered(run: Run, reason: StopReason, cost_micros_usd: int = 0) -> Answered:
    """An answer, and where to look up what was done."""
    return Answered(reason, {"runwire": RunMeta(run.run_id, run.task_id, cost_micros_usd)})
