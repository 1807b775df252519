"""Whether a path, a host or a command fits a glob. Paths are seen from the workspace; `**` crosses folders and `*` does not."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from runwire.runs.commands import plain_name
from runwire.runs.shellwords import Reading, Segment


def seen_from(workspace: str, path: str) -> str:
    """A path without dots, relative to the workspace when it lies in it and absolute when it does not."""
    home = posixpath.normpath(workspace)
    whole = posixpath.normpath(posixpath.join(home, path))
    if whole == home:
        return "."
    return whole[len(home) + 1 :] if is_below(whole, home) else whole


def is_below(path: str, folder: str) -> bool:
    """Whether a normal path lies in a folder, or is it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def fits_path(globs: Iterable[str], path: str, workspace: str) -> bool:
    """Whether a path, or a folder that it lies in, fits one of the globs. A glob without a slash fits any name."""
    seen = seen_from(workspace, path)
    for glob in globs:
        wanted = glob if glob.startswith("**") else seen_from(workspace, glob)
        if "/" not in glob.rstrip("/") and _glob(glob.rstrip("/")).search(posixpath.basename(seen)):
            return True
        if _glob(wanted).search(seen):
            return True
    return False


def fits_host(globs: Iterable[str], host: str) -> bool:
    """Whether a host fits one of the globs, with its port or without."""
    name = host.lower().rstrip(".")
    bare = re.sub(r":\d+$", "", name)
    return any(fnmatchcase(one, glob.lower()) for glob in globs for one in (name, bare))


def fits_command(globs: Iterable[str], segment: Segment, *, exactly: bool) -> bool:
    """Whether a command fits one of the globs; unless exactly, also by its program's bare name."""
    texts = {segment.text} if exactly else {segment.text, " ".join(plain_name(segment.argv))}
    return any(fnmatchcase(text, glob) for glob in globs for text in texts)


def paths_in(reading: Reading | None) -> Sequence[str]:
    """Words of a shell text that may be paths: all but options, and the values behind `=`."""
    return [path for segment in _suspects(reading) for word in segment.argv for path in _as_paths(word)]


def _as_paths(word: str) -> Iterable[str]:
    word = word.strip("\"'")
    if not word.startswith("-") and word:
        yield word
    if "=" in word:
        yield word.partition("=")[2]


def hosts_in(reading: Reading | None) -> Sequence[str]:
    """Hosts that a shell text names in addresses."""
    return [host for segment in _suspects(reading) for word in segment.argv if (host := _host(word))]


def _host(word: str) -> str | None:
    if "://" not in word:
        return None
    try:
        return urlsplit(word).hostname
    except ValueError:
        return None


def _suspects(reading: Reading | None) -> Sequence[Segment]:
    return () if reading is None else reading.suspects


@lru_cache(maxsize=512)
def _glob(glob: str) -> re.Pattern[str]:
    pieces = []
    # What lies in a folder is lost with the folder itself, so `folder/**` is both.
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", glob.rstrip("/").removesuffix("/**")):
        known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        pieces.append(known.get(piece) or re.escape(piece))
    return re.compile(rf"\A{''.join(pieces)}(?:/.*)?\Z", re.DOTALL)
