"""Which names say that their value is a secret: of environment variables, and of members of a JSON object."""

import re

_WORDS = re.compile(r"[A-Z0-9]+")
_STRONG_WORD = re.compile(r"[A-Z0-9]*(?:TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIAL)S?|[A-Z0-9]*PASSPHRASE|PASS|PWD|COOKIE")
_WEAK_WORD = re.compile(r"[A-Z0-9]*KEYS?|PRIVATE|O?AUTH2?|AUTHORIZATION|DSN")
_HARMLESS_NAMES = frozenset({"PWD", "OLDPWD"})
_HARMLESS_WORDS = frozenset({"PUBLIC", "PUBLISHABLE", "PRIMARY", "FOREIGN", "MONKEY", "HOTKEY"})
_HARMLESS_ENDINGS = frozenset(
    "FILE PATH DIR SOCK SOCKET NAME USER USERNAME EMAIL HOST PORT TYPE TTL TIMEOUT ALGORITHM ALG METHOD MODE ENABLED "
    "REGION VERSION COUNT LIMIT SIZE ISSUER AUDIENCE DOMAIN ID IDS".split()
)

ENV_KIND = "env"
"""The kind of a JSON member that is named like a secret environment variable."""

_KINDS_OF_MEMBERS = (
    ("set-cookie", "set[-_]?cookie"),
    ("x-api-key", "x[-_]api[-_]?key"),
    ("proxy-authorization", "proxy[-_]?authorization"),
    ("client_secret", "client[-_]?secret"),
    ("authorization", "authorization"),
    ("password", "password"),
    ("passwd", "passwd"),
    ("passphrase", "pass[-_]?phrase"),
    ("api_key", "api[-_]?key"),
    ("access_key", "access[-_]?key"),
    ("private_key", "private[-_]?key"),
    ("secret_key", "(?:secret|signing|encryption|auth|account|subscription)[-_]?key"),
    ("secret", "secret"),
    ("cookie", "cookie"),
    ("access_token", "access[-_]?token"),
    ("refresh_token", "refresh[-_]?token"),
    ("token", "(?:auth|bearer|session|security|id|private|bot|api)[-_]?token"),
)
_ANY_MEMBER = "|".join(f"({pattern})" for _, pattern in _KINDS_OF_MEMBERS)
_MEMBER = re.compile(f".*?(?:{_ANY_MEMBER})", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"(?:[A-Z][A-Z0-9]*_)+(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD)")

MEMBER_KINDS = frozenset({kind for kind, _ in _KINDS_OF_MEMBERS} | {ENV_KIND})
"""Every kind that `member_kind` returns."""

MEMBER_ENDINGS = ("zation", "word", "sswd", "rase", "key", "cret", "okie", "oken", "pass", "pwd")
"""How every name ends that `member_kind` knows, in lower case: a scan for these misses none of them."""

_LAST_LETTERS = frozenset(ending[-3:] for ending in MEMBER_ENDINGS)


def is_secret_variable(name: str) -> bool:
    """Say whether an environment variable of this name holds a secret, as far as a name can tell."""
    words = _WORDS.findall(name.upper())
    if not words or words[-1] in _HARMLESS_ENDINGS or name.upper() in _HARMLESS_NAMES:
        return False
    if any(_STRONG_WORD.fullmatch(word) for word in words):
        return True
    return _HARMLESS_WORDS.isdisjoint(words) and any(_WEAK_WORD.fullmatch(word) for word in words)


def says_secret(name: str) -> bool:
    """Say whether the name leaves no doubt, so that a value which looks like a plain address still counts."""
    return any(_STRONG_WORD.fullmatch(word) for word in _WORDS.findall(name.upper()))


def member_kind(name: str) -> str | None:
    """The kind of secret that a JSON member holds, if its name says so.

    Case does not matter, nor whether words are joined by `-`, by `_` or not at all; words may stand in front
    (`db_password`). Counts and lists of names (`max_tokens`, `env_keys`) hold none, and neither does a bare `token`.
    """
    if name[-3:].lower() not in _LAST_LETTERS:
        return None
    found = _MEMBER.fullmatch(name)
    if found is not None and found.lastindex is not None:
        return _KINDS_OF_MEMBERS[found.lastindex - 1][0]
    return ENV_KIND if _VARIABLE.fullmatch(name) and is_secret_variable(name) else None
