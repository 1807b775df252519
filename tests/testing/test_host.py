"""The host in memory answers as it was told to, and its log is one that a run could have."""

import asyncio

import pytest

from runwire.host import Answer
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.lifecycle import check
from runwire.testing.host import FakeHost, answers
from tests.runs.house import ask

ASKED = ["approval.requested", "approval.resolved"]


async def test_whatever_is_asked_is_approved_unless_told_otherwise() -> None:
    host = FakeHost()
    answer = await host.ask(ask())
    assert (answer.allowed, answer.by) == (True, "operator")
    assert host.types[-2:] == ASKED
    assert list(check(map(decode_envelope, host.envelopes()), live=True)) == []


async def test_answers_are_given_in_order() -> None:
    host = FakeHost(
        respond=answers(
            Answer(allowed=True, input={}, by="policy"),
            Answer(allowed=False, input={}, told="no", stop=True, by="ann"),
        )
    )
    assert (await host.ask(ask("call_1"))).allowed
    assert "approval.requested" not in host.types
    assert (await host.ask(ask("call_2"), parks=True)).stop
    assert host.types[-2:] == ASKED
    assert [one.tool_call_id for one in host.asked] == ["call_1", "call_2"]
    with pytest.raises(AssertionError, match="nobody expected"):
        await host.ask(ask("call_3"))


async def test_a_question_is_seen_while_it_waits() -> None:
    decided = asyncio.Event()

    async def later(asked: object) -> Answer:
        del asked
        await decided.wait()
        return Answer(allowed=True, input={}, by="ann")

    host = FakeHost(respond=later)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(host.ask(ask()))
        while "approval.requested" not in host.types:
            await asyncio.sleep(0)
        decided.set()
        assert (await waiting).by == "ann"
