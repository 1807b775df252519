"""The limit of replay: the framed log lies in one file and the kernel sends it. `python -m bench.rivals.segment PORT FILE`.

Blocking sockets and `sendfile`: no parsing, no decompression, no copy through Python. Its file is one frame after the
other, uncompressed, so it costs several times the disk of ours.
"""

import os
import socket
import sys
from pathlib import Path

from bench.load.frames import HEAD, SYNCED


def serve(port: int, file: Path) -> None:
    """Answer one connection after the other until the process is ended."""
    with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
        while True:
            link, _ = listener.accept()
            with link:
                _answer(link, file)


def _answer(link: socket.socket, file: Path) -> None:
    request = link.recv(65536)
    if request.startswith(b"GET /healthz"):
        link.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        return
    link.sendall(HEAD)
    with file.open("rb") as frames:
        size, sent = file.stat().st_size, 0
        while sent < size:
            sent += os.sendfile(link.fileno(), frames.fileno(), sent, size - sent)
    link.sendall(SYNCED)


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
