"""The variables that a command is given: a short list of harmless ones and what the task asked for. Never a secret."""

import re
import secrets
from collections.abc import Iterable, Mapping

from runwire.journal.redaction.secrets import KnownValue

MARK = "RUNWIRE_CALL"
"""Names one call beyond guessing. Whoever carries it belongs to that call's tree, wherever it has crept; whoever runs
the command gives each call a value of its own."""

_ALLOWED = frozenset("PATH HOME LANG LANGUAGE TERM COLORTERM NO_COLOR TZ USER LOGNAME SHELL TMPDIR".split())
_FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# These make a loader or a shell run something before the command does.
_EARLY = re.compile(r"(?:LD|DYLD|MALLOC|GLIBC|BASH_FUNC)_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|IFS|PS4|GCONV_PATH|LOCPATH")


def child_environment(
    inherited: Mapping[str, str], wanted: Mapping[str, str], *, known: Iterable[KnownValue], home: str | None = None
) -> dict[str, str]:
    """The whole environment of a command; its keys are what `env_keys` tells.

    `home` is where it may keep its own things when it is confined: a home and a temporary folder at once.
    """
    kept = {name: value for name, value in inherited.items() if name in _ALLOWED or name.startswith("LC_")}
    kept.setdefault("PATH", _FALLBACK_PATH)
    if home is not None:
        kept |= {"HOME": home, "TMPDIR": home}
    kept |= {name: value for name, value in wanted.items() if _NAME.fullmatch(name) and "\0" not in value}
    values = tuple(each.value for each in known)
    kept = {name: value for name, value in kept.items() if not any(secret in value for secret in values)}
    return {**dict(sorted(kept.items())), MARK: secrets.token_hex(16)}


def split_early(environ: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part what may be given from outside a sandbox from what would take effect before the walls are up."""
    early = {name: value for name, value in environ.items() if _EARLY.fullmatch(name)}
    return {name: value for name, value in environ.items() if name not in early}, early
