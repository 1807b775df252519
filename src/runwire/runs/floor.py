"""What no policy can lift: our own data directory, the hooks of a repository, and the end of a machine."""

import posixpath
import re

from msgspec import Struct

from runwire.host import ToolAsk
from runwire.runs.commands import plain_name
from runwire.runs.matching import is_below, paths_in
from runwire.runs.shellwords import Reading, Segment

_HOOKS = re.compile(r"(?:^|/)\.git/hooks(?:/|$)", re.IGNORECASE)
_ROOTS = frozenset({"/", "~", "$HOME", "${HOME}", "/*", "~/", "~/*", "$HOME/*", "${HOME}/*"})
_DISKS = re.compile(r"of=/dev/(?:sd|hd|vd|nvme|disk|mmcblk|xvd|mapper/)")


class Place(Struct, frozen=True, kw_only=True):
    """Where calls happen."""

    workspace: str
    data: str
    unconfined: bool = False
    """Whether no sandbox works here."""
    allow_unconfined: bool = False

    def is_bare_for(self, ask: ToolAsk) -> bool:
        """Whether the call would run programs that nothing confines. An MCP server is confined, or refused, as a whole."""
        return self.unconfined and "executes" in ask.effects and ask.kind != "mcp"


class Refusal(Struct, frozen=True):
    """Why a call never happens."""

    policy_id: str
    reason: str


def refusal(ask: ToolAsk, reading: Reading | None, place: Place) -> Refusal | None:
    """Why this call never happens, whatever policy says; None when it may."""
    if place.is_bare_for(ask) and not place.allow_unconfined:
        return Refusal("sandbox", "no sandbox works here, and running unconfined is not allowed")
    for path in (*ask.paths, *paths_in(reading)):
        whole = posixpath.normpath(posixpath.join(place.workspace, path))
        if is_below(whole, place.data) and not is_below(whole, place.workspace):
            return Refusal("floor:data", "the data directory of the runtime is out of bounds")
        if _HOOKS.search(whole) and ("reads" not in ask.effects or len(ask.effects) > 1):
            return Refusal("floor:git_hooks", "hooks of a repository run later, outside of any sandbox")
    if reading is not None and any(_ends_the_machine(segment) for segment in reading.suspects):
        return Refusal("floor:destruction", "this would destroy the machine or the home directory")
    return None


def _ends_the_machine(segment: Segment) -> bool:
    argv = plain_name(segment.argv)
    if not argv:
        return False
    if argv[0] == "rm":
        options = [word for word in argv[1:] if word.startswith("-")]
        recursive = any(word == "--recursive" or re.match(r"-[a-zA-Z]*[rR]", word) for word in options)
        return recursive and any(_is_root(word) for word in argv[1:])
    if argv[0].startswith("mkfs"):
        return True
    return argv[0] == "dd" and any(_DISKS.match(word) for word in argv[1:])


def _is_root(word: str) -> bool:
    word = word.strip("\"'")
    if not word.startswith(("/", "~", "$")):
        return False
    return word in _ROOTS or posixpath.normpath("/" + word.lstrip("/")) in {"/", "/*"}
