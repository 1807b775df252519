"""Cutting a conversation: what goes, what stays, and that what stays is whole."""

from hypothesis import given
from hypothesis import strategies as st

from runwire.native.loop import compact
from runwire.native.loop.state import Assistant, Call, Image, Message, State, Text, Told, User

FIRST = User((Text("do it"),))


def exchange(at: int, size: int = 10, calls: int = 1) -> tuple[Message, ...]:
    ids = [f"c{at}_{number}" for number in range(calls)]
    asking = Assistant(tuple(Call(call_id, "t", {}) for call_id in ids))
    return asking, *(Told(call_id, (Text("x" * size),)) for call_id in ids)


def conversation(length: int, size: int = 10, calls: int = 1) -> tuple[Message, ...]:
    return (FIRST, *(message for at in range(length) for message in exchange(at, size, calls)))


@given(st.integers(0, 9))
def test_no_result_is_left_without_its_call(length: int) -> None:
    cut = compact.compacted(conversation(length), "the story")

    asked = {part.call_id for one in cut if isinstance(one, Assistant) for part in one.parts if isinstance(part, Call)}
    assert {one.call_id for one in cut if isinstance(one, Told)} == asked
    assert isinstance(cut[0], User)
    assert cut[0].parts[0] == Text("do it")
    assert len(cut) <= 5


def test_the_last_two_exchanges_stay() -> None:
    cut = compact.compacted(conversation(5), "the story")

    assert cut[1:] == (*exchange(3), *exchange(4))


def test_there_must_be_something_to_cut() -> None:
    assert not compact.possible(State(messages=(FIRST,)))
    assert compact.possible(State(messages=conversation(1)))
    assert not compact.possible(State(messages=conversation(9), compacted=True))


@given(st.integers(1, 40), st.integers(100, 3_000), st.integers(1, 3))
def test_the_question_for_a_summary_fits_or_is_as_short_as_it_gets(length: int, window: int, at_once: int) -> None:
    asked = compact.request(conversation(length, size=9_000, calls=at_once), window)

    assert asked[0] == FIRST
    calls = {
        part.call_id for one in asked if isinstance(one, Assistant) for part in one.parts if isinstance(part, Call)
    }
    assert {one.call_id for one in asked if isinstance(one, Told)} == calls
    assert compact.estimate(asked[:-1]) <= 0.8 * window or len(calls) <= at_once


def test_pictures_and_arguments_take_room_too() -> None:
    words = compact.estimate((User((Text("x" * 400),)),))
    picture = compact.estimate((User((Image("art_1", "image/png"),)),))
    call = compact.estimate((Assistant((Call("c", "t", {"word": "x" * 400}),)),))

    assert words == 100
    assert picture > 1_000
    assert call > 100
