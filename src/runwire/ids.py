"""Names for things: a prefix that says what it is and a ULID that sorts by creation. It says nothing about secrecy."""

from collections.abc import Callable, Iterator
from itertools import islice, product
from threading import Lock

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ULID_LENGTH = 26
FOREIGN_LENGTH_MAX = 128

_DIGITS = frozenset(ALPHABET)
_PAIRS = tuple(map("".join, product(ALPHABET, repeat=2)))
_FOREIGN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-")
_NS_PER_MS = 1_000_000


class Ids:
    """Makes ids that are unique and strictly increasing, also within a millisecond and when the clock stands still.

    Threads may share one source: each id goes to one of them, though what two threads get at once has no order.
    """

    __slots__ = ("_block", "_middle", "_ms", "_now_ns", "_random_bytes", "_turning")

    def __init__(self, *, now_ns: Callable[[], int], random_bytes: Callable[[int], bytes]) -> None:
        self._now_ns = now_ns
        self._random_bytes = random_bytes
        self._turning = Lock()
        self._ms = -1
        self._middle = 0
        # The first 24 digits, and the last two as an iterator: taking from it is one step that no thread can split.
        self._block: tuple[str, Iterator[str]] = ("", iter(()))

    def new(self, prefix: str) -> str:
        """Make the next id, such as `run_01JC…` for the prefix `run`."""
        ms = self._now_ns() // _NS_PER_MS
        if ms > self._ms:
            self._start(ms)
        block = self._block
        while (end := next(block[1], None)) is None:
            block = self._carry(block)
        return f"{prefix}_{block[0]}{end}"

    def many(self, prefix: str, count: int) -> list[str]:
        """Make the next `count` ids at once, which is cheaper than one by one."""
        made = [self.new(prefix)] if count else []
        while len(made) < count:
            block = self._block
            stem = f"{prefix}_{block[0]}"
            taken = [stem + end for end in islice(block[1], count - len(made))]
            if not taken:
                self._carry(block)
            made += taken
        return made

    def _start(self, ms: int) -> None:
        """Begin a millisecond at a random place."""
        # The highest of the 80 random bits stays 0, so that counting up from here cannot run over.
        start = int.from_bytes(self._random_bytes(10), "big") & (1 << 79) - 1
        with self._turning:
            if ms > self._ms:
                self._middle = start >> 10
                self._block = (_digits(ms << 70 | self._middle), iter(_PAIRS[start & 1023 :]))
                self._ms = ms

    def _carry(self, spent: tuple[str, Iterator[str]]) -> tuple[str, Iterator[str]]:
        """Go on past the last two digits."""
        with self._turning:
            if self._block is spent:
                self._middle += 1
                self._block = (_digits(self._ms << 70 | self._middle), iter(_PAIRS))
            return self._block


def is_id(prefix: str, text: str) -> bool:
    """Whether `text` is an id that this package could have made with that prefix."""
    start = len(prefix) + 1
    return (
        len(text) == start + ULID_LENGTH
        and text.startswith(f"{prefix}_")
        and text[start] < "8"  # 26 digits hold 130 bits and a ULID has 128
        and _DIGITS.issuperset(text[start:])
    )


def is_foreign_id(text: str) -> bool:
    """Whether an id made elsewhere is safe to keep as it is: 1 to 128 of `A-Z a-z 0-9 _ . : -`."""
    # A lone dot or two would be eaten by whatever normalises a URL or a path.
    return 0 < len(text) <= FOREIGN_LENGTH_MAX and _FOREIGN.issuperset(text) and text not in {".", ".."}


def _digits(number: int) -> str:
    """The first 24 digits of a ULID, from its upper 118 bits."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(110, -1, -10)])
