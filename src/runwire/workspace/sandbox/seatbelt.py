"""Confinement on macOS, by a profile of `sandbox-exec`: written are the workspace and a temporary folder, no more."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from runwire.workspace.sandbox.layer import Confinement

_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper")


class Seatbelt:
    """The `seatbelt` layer. It has no process namespace, so the tree is found and killed from outside."""

    layer = "seatbelt"
    confines = True
    owns_processes = False

    def __init__(self, *, program: str = "/usr/bin/sandbox-exec") -> None:
        """Use the program at this path."""
        self._program = program

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:
        """Run `argv` under a profile made for this confinement."""
        return [self._program, "-p", profile(confinement), *argv]


def profile(confinement: Confinement) -> str:
    """The rules, in the language that the kernel's sandbox reads; later rules beat earlier ones."""
    return "\n".join(_rules(confinement))


def _rules(confinement: Confinement) -> Iterator[str]:
    yield "(version 1)"
    yield "(allow default)"
    yield "(deny file-write*)"
    tmp = (confinement.tmp,) if confinement.tmp is not None else ()
    for folder in (*tmp, confinement.workspace, *confinement.writable):
        yield f"(allow file-write* (subpath {_quoted(folder)}))"
    for device in _DEVICES:
        yield f"(allow file-write* (literal {_quoted(Path(device))}))"
    yield f"(deny file-write* (subpath {_quoted(confinement.workspace / '.git' / 'hooks')}))"
    for path in confinement.hidden:
        # A workspace inside a hidden folder is still a workspace.
        unless = f"(require-not (subpath {_quoted(confinement.workspace)}))"
        rule = f"(subpath {_quoted(path)})"
        yield f"(deny file-read* file-write* {_all(rule, unless) if _within(confinement.workspace, path) else rule})"
    if not confinement.network:
        yield "(deny network*)"
    yield "(deny process-info* (target others))"
    yield "(allow process-info* (target same-sandbox))"


def _all(*rules: str) -> str:
    return f"(require-all {' '.join(rules)})"


def _within(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _quoted(path: Path) -> str:
    text = os.path.realpath(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
