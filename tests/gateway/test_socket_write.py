"""Writing to a socket that may be full, broken, or closed by somebody else meanwhile."""

import os
import socket
from collections.abc import Iterator

import pytest
from starlette.types import Message

from runwire.gateway.socket_write import SocketOutlet, write_now
from runwire.gateway.sse import StreamWriter
from runwire.gateway.tally import Tally
from runwire.journal.frames import frame

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two ends of a connection; the first never blocks."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.settimeout(5)
        yield ours, theirs


def fill(link: socket.socket) -> int:
    """Send until there is no room for another byte."""
    size = 0
    while taken := write_now(link.fileno(), b"x"):
        size += taken
    return size


def test_an_outlet_takes_what_there_is_room_for(pair: Pair) -> None:
    ours, theirs = pair
    outlet = SocketOutlet(ours.fileno())
    assert outlet.take(b"hello") == 5
    assert theirs.recv(5) == b"hello"
    taken = outlet.take(b"x" * 10_000_000)
    assert 0 < taken < 10_000_000
    fill(ours)
    assert outlet.take(b"more") == 0
    outlet.close()
    outlet.close()


def test_a_closed_outlet_takes_nothing_though_another_connection_has_its_number(pair: Pair) -> None:
    ours, theirs = pair
    outlet = SocketOutlet(ours.fileno())
    number = os.dup(ours.fileno())
    os.close(number)
    outlet.close()
    other, listener = socket.socketpair()
    with other, listener:
        with pytest.raises(OSError, match="closed"):
            outlet.take(b"not for you")
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.recv(1)
    theirs.setblocking(False)
    with pytest.raises(BlockingIOError):
        theirs.recv(1)


def test_an_outlet_goes_on_when_the_connection_lets_go_of_its_own_number(pair: Pair) -> None:
    ours, theirs = pair
    outlet = SocketOutlet(ours.fileno())
    number = ours.fileno()
    ours.close()
    with socket.socket() as other:
        assert other.fileno() == number, "the number is expected to be given out anew"
        assert outlet.take(b"for the first") == 13
    assert theirs.recv(100) == b"for the first"
    outlet.close()
    assert theirs.recv(1) == b""


def test_an_outlet_whose_reader_has_left_is_an_error(pair: Pair) -> None:
    ours, theirs = pair
    outlet = SocketOutlet(ours.fileno())
    theirs.close()
    with pytest.raises(OSError, match="pipe"):
        outlet.take(b"hello")
    outlet.close()


class Way:
    """A way straight to a real socket, that shows what was kept for later."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.kept = b""

    def push(self, frames: bytes) -> int | None:
        return None if self.kept else write_now(self.link.fileno(), frames)

    def write(self, rest: bytes) -> None:
        self.kept += rest

    def outlet(self) -> SocketOutlet:
        return SocketOutlet(self.link.fileno())


async def nowhere(_: Message) -> None:
    raise AssertionError("frames are pushed past the layers")


async def test_a_socket_without_any_room_keeps_one_frame_so_that_somebody_waits_for_room(pair: Pair) -> None:
    """Were nothing kept, nothing would tell when there is room, and a stream would ask for ever."""
    ours, _ = pair
    fill(ours)
    way = Way(ours)
    frames = frame(0, b"{}") + frame(1, b"{}")
    writer = StreamWriter(nowhere, Tally(), way)
    assert writer.push_frames(frames) == len(frame(0, b"{}"))
    assert way.kept == frame(0, b"{}")
    # Nothing more is kept before that has left.
    assert writer.push_frames(frames[len(way.kept) :]) == 0
    assert way.kept == frame(0, b"{}")


async def test_of_frames_that_are_too_many_only_the_rest_of_one_is_kept(pair: Pair) -> None:
    ours, theirs = pair
    way = Way(ours)
    frames = b"".join(frame(sequence, b'"%b"' % (b"x" * 1_000)) for sequence in range(5_000))
    end = StreamWriter(nowhere, Tally(), way).push_frames(frames)
    assert 0 < end < len(frames)
    assert len(way.kept) < 1_100
    theirs.setblocking(False)
    seen = b""
    while len(seen) < end - len(way.kept):
        seen += theirs.recv(1 << 20)
    assert seen + way.kept == frames[:end]
