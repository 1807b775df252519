"""The doorbell between processes: a datagram socket each, in a folder beside the store.

A datagram names a topic and carries nothing else. One that is lost costs a second at most: then the store itself is asked.
"""

import asyncio
import os
import secrets
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

# What a socket's address holds is 108 bytes on Linux and 104 on macOS.
_ADDRESS_MAX = 100
_NAME_BYTES = 8
_DATAGRAM_BYTES = 4096
_READ_AT_ONCE = 256
# It asks whoever hears it to look into the folder: somebody new is there.
_HELLO = "hello"


class ProcessBell:
    """Rings in every other process that has the same store open, and hears when they ring here."""

    def __init__(self, *, folder: Path, heard: Callable[[str], None]) -> None:
        """Meet the others in `folder`; `heard` is called with each topic that they ring."""
        self._folder = meeting_place(folder)
        self._heard = heard
        self._own = self._folder / f"{os.getpid()}-{secrets.token_hex(_NAME_BYTES)}"
        self._socket: socket.socket | None = None
        self._peers: list[str] = []
        self._due: dict[str, None] = {}
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Be heard and hear. Where the system gives no socket, everybody relies on looking at the store."""
        mine = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0))
        mine.setblocking(False)
        try:
            _make_private(self._folder)
            mine.bind(str(self._own))
            self._own.chmod(0o600)
        except OSError:
            mine.close()
            return
        self._socket = mine
        self._loop.add_reader(mine.fileno(), self._read)
        self.look()
        self.ring(_HELLO)

    def close(self) -> None:
        """Be gone."""
        if self._socket is None:
            return
        self._send()
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        self._socket = None
        self._own.unlink(missing_ok=True)
        # The last one to go takes the folder along.
        with suppress(OSError):
            self._folder.rmdir()

    def ring(self, topic: str) -> None:
        """Ring for a topic in every other process: once for each pass of the loop, however often it is asked for."""
        if not self._peers:
            return
        if not self._due:
            self._loop.call_soon(self._send)
        self._due[topic] = None

    def look(self) -> None:
        """See who is there."""
        try:
            self._peers = [str(self._folder / name) for name in os.listdir(self._folder) if name != self._own.name]
        except OSError:
            self._peers = []

    def _send(self) -> None:
        topics, self._due = list(self._due), {}
        if self._socket is None:
            return
        for datagram in _datagrams(topics):
            for peer in self._peers[:]:
                try:
                    self._socket.sendto(datagram, peer)
                except (ConnectionRefusedError, FileNotFoundError):
                    # Its process is gone, perhaps without having been asked.
                    self._peers.remove(peer)
                    with suppress(OSError):
                        os.unlink(peer)
                except OSError:
                    # It has more waiting than it can hold, so it will look anyway.
                    continue

    def _read(self) -> None:
        topics: dict[str, None] = {}
        for _ in range(_READ_AT_ONCE):
            try:
                datagram = self._socket.recv(_DATAGRAM_BYTES) if self._socket else b""
            except OSError:
                break
            if not datagram:
                break
            topics.update(dict.fromkeys(datagram.decode("utf-8", "replace").split("\n")))
        for topic in topics:
            if topic == _HELLO:
                self.look()
            else:
                self._heard(topic)


def meeting_place(folder: Path) -> Path:
    """The folder, or one that stands for it where its name is too long for a socket's address."""
    longest = len(os.fsencode(folder)) + 1 + len("4194304-") + 2 * _NAME_BYTES
    if longest <= _ADDRESS_MAX:
        return folder
    digest = sha256(os.fsencode(folder.resolve())).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and len(os.fsencode(runtime)) < _ADDRESS_MAX // 2:
        return Path(runtime) / "runwire" / digest
    return Path("/tmp") / f"runwire-{os.getuid()}" / digest


def _make_private(folder: Path) -> None:
    """Make the folder, or refuse one that somebody else could have laid there."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is open to others")


def _datagrams(topics: list[str]) -> list[bytes]:
    """Topics, packed into as few datagrams as hold them."""
    packed: list[bytes] = []
    for topic in topics:
        encoded = topic.encode()
        if packed and len(packed[-1]) + len(encoded) < _DATAGRAM_BYTES:
            packed[-1] += b"\n" + encoded
        else:
            packed.append(encoded)
    return packed
