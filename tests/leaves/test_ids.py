import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.clock import SystemClock
from runwire.ids import ALPHABET, Ids, is_foreign_id, is_id
from runwire.testing.clock import ManualClock


def source(clock: ManualClock, *, random: bytes = bytes(10)) -> Ids:
    return Ids(now_ns=clock.now_ns, random_bytes=lambda count: random[:count])


def value(identifier: str) -> int:
    number = 0
    for digit in identifier.partition("_")[2]:
        number = number * 32 + ALPHABET.index(digit)
    return number


def test_an_id_is_its_prefix_and_a_ulid_of_the_present_millisecond() -> None:
    clock = ManualClock(now_ns=1_469_918_176_385_999_999)  # the example of the ULID specification
    made = source(clock).new("run")
    assert made == "run_01ARYZ6S410000000000000000"
    assert is_id("run", made)


def test_ids_increase_by_one_while_the_clock_stands_still() -> None:
    ids = source(ManualClock())
    made = [ids.new("evt") for _ in range(5000)]
    assert made == sorted(made)
    assert [value(identifier) - value(made[0]) for identifier in made] == list(range(5000))


def test_ids_increase_when_the_clock_goes_back() -> None:
    clock = ManualClock()
    ids = source(clock, random=b"\xff" * 10)
    first = ids.new("evt")
    clock.advance(-10)
    assert ids.new("evt") > first


def test_ids_increase_with_time_whatever_the_randomness() -> None:
    clock = ManualClock()
    draws = iter([b"\xff" * 10, bytes(10)])
    ids = Ids(now_ns=clock.now_ns, random_bytes=lambda _: next(draws))
    first = ids.new("evt")
    clock.advance(0.001)
    assert ids.new("evt") > first


def test_counting_from_the_highest_random_start_stays_within_the_millisecond() -> None:
    clock = ManualClock()
    ids = source(clock, random=b"\xff" * 10)
    made = [ids.new("evt") for _ in range(3000)]
    assert made == sorted(set(made))
    assert {value(identifier) >> 80 for identifier in made} == {clock.now_ns() // 1_000_000}


def test_threads_that_share_a_source_never_get_the_same_id() -> None:
    ids = Ids(now_ns=SystemClock().now_ns, random_bytes=os.urandom)
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            batches = list(threads.map(lambda _: [ids.new("evt") for _ in range(4000)], range(8)))
    finally:
        sys.setswitchinterval(patience)
    assert len({identifier for batch in batches for identifier in batch}) == 8 * 4000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run_",
        "run_01ARYZ6S41000000000000000",
        "run_01ARYZ6S4100000000000000000",
        "task_01ARYZ6S410000000000000000",
        "run_01aryz6s410000000000000000",
        "run_01ARYZ6S41000000000000000U",
        "run_81ARYZ6S410000000000000000",
        "run-01ARYZ6S410000000000000000",
        "run_01ARYZ6S41000000000000000\n",
    ],
)
def test_what_we_would_not_make_is_not_our_id(text: str) -> None:
    assert not is_id("run", text)


@given(st.text(st.sampled_from("ABCxyz019_.:-"), min_size=1, max_size=128).filter(lambda text: text.strip(".") != ""))
def test_ids_of_other_makers_are_kept_when_they_are_plain(text: str) -> None:
    assert is_foreign_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "a b", "a%2Fb", "a\n", "é", "a" * 129, "a?b", "a\x00"])
def test_ids_that_a_path_or_a_header_would_mangle_are_not_kept(text: str) -> None:
    assert not is_foreign_id(text)
