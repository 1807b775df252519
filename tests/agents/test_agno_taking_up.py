"""What a run's own log says to who takes it up."""

from runwire.agents.agno.taking_up import begun, said_later, told_to_go_on
from runwire.agents.dialect import Question
from runwire.host import Past
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolInvoked
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload


def past(*payloads: Payload | Opaque, run_id: str = "run_1") -> list[Past]:
    return [Past(run_id, number, f"evt_{number}", number, payload) for number, payload in enumerate(payloads)]


def asked(call_id: str | None) -> Payload:
    return ApprovalRequested(
        approval_id="appr_1", tool_call_id=call_id, kind="create", summary="create()", policy_reason="asked"
    )


def invoked(call_id: str) -> Payload:
    return ToolInvoked(tool_call_id=call_id, tool_name="create", kind="tool", turn_index=0)


def test_a_call_that_was_begun_is_begun_however_it_ended() -> None:
    cancelled = ToolCancelled(tool_call_id="a", tool_name="create", kind="tool", by="system", duration_ms=1)
    completed = ToolCompleted(tool_call_id="b", tool_name="create", kind="tool", duration_ms=1)
    told = past(asked("a"), asked("b"), invoked("a"), cancelled, invoked("b"), completed, asked("c"), asked(None))
    assert begun(told, "run_1") == {"a", "b"}


def test_what_the_server_was_told_counts_also_where_no_call_tells_of_it() -> None:
    step = Question(
        question_id="s", kind="permission", tool_name="publish", tool_kind="step", summary="", reason="", input={}
    )
    call = Question(
        question_id="q",
        kind="permission",
        tool_call_id="a",
        tool_name="x",
        tool_kind="tool",
        summary="",
        reason="",
        input={},
    )
    told = told_to_go_on([step, call])
    assert begun(past(asked("s"), asked("a"), told), "run_1") == {"s", "a"}
    assert begun(past(asked("s"), told, asked("s")), "run_1") == {"a"}


def test_an_event_of_that_name_that_somebody_else_appended_is_none() -> None:
    assert begun(past(Opaque.of("external.agno.continued", b'{"decided":7}')), "run_1") == frozenset()


def test_a_call_that_is_asked_about_again_is_another() -> None:
    assert begun(past(asked("a"), invoked("a"), asked("a")), "run_1") == frozenset()


def test_what_other_runs_did_is_theirs() -> None:
    told = past(UserMessage(turn_index=0, text="x"), invoked("a"), run_id="run_0")
    assert begun(told, "run_1") == frozenset()
    assert said_later(told, "run_1") == 0


def test_what_was_said_after_the_prompt_is_counted() -> None:
    said = [UserMessage(turn_index=number, text="x") for number in range(3)]
    assert [said_later(past(*said[:count]), "run_1") for count in range(4)] == [0, 0, 1, 2]
