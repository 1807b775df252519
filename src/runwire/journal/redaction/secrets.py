"""The secret values that this process knows, each with the kind that its placeholder shows."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from runwire.journal.redaction.names import is_secret_variable, says_secret
from runwire.journal.redaction.placeholder import OPENING, kind_of

VARIABLE_LEAST = 8
"""A shorter value of a variable is too likely to be an ordinary word or number."""

REGISTERED_LEAST = 4
"""A shorter value would be found in the middle of everything."""

_PLAIN_WORDS = frozenset(
    "anonymous changeme database default developer development disabled external internal keychain keyring localhost "
    "minioadmin optional password placeholder postgres postgresql production rabbitmq redacted required undefined "
    "username".split()
)
_NUMBER = re.compile(r"[+-]?\d{1,11}(?:\.\d+)?")
_PATH = re.compile(
    r"(?:~|\.{1,2})/.*|/(?:bin|dev|etc|home|Library|mnt|opt|private|proc|root|run|srv|tmp|Users|usr|var|Volumes)/.*"
    r"|[A-Za-z]:\\.*|/.*\.(?:json|pem|key|crt|cer|p12|pfx|txt|sock|ya?ml|toml|conf)"
)
_LIST = re.compile(r"[^\s\"'{}]*[,;][^\s\"'{}]*")
_LIST_MARK = re.compile(r"[,;]")


@dataclass(frozen=True, slots=True)
class KnownValue:
    """One secret: what it is called in a placeholder, and what it is."""

    kind: str
    value: str

    def __repr__(self) -> str:
        """Show what kind of secret this is, and never the secret."""
        return f"KnownValue(kind={self.kind!r})"


class SecretSet:
    """Every secret value the process knows. Register from one thread; read `values` from any.

    A value keeps the kind under which it was first known, so that its placeholder never changes. Kinds say where a value
    came from: `env.<variable>`, `provider.<name>`, `mcp.<server>.<name>`, `token.<id>`.
    """

    def __init__(self, known: Iterable[KnownValue] = ()) -> None:
        """Begin with what is known at the start."""
        self.values: tuple[KnownValue, ...] = ()
        """What is known now. A registration makes a new tuple and leaves this one as it is."""
        self.register_all(known)

    def register(self, kind: str, value: str) -> bool:
        """Make a value a secret from the next event on; say whether it is one (a very short value cannot be)."""
        value = value.strip()
        self.register_all([KnownValue(kind, value)])
        return any(known.value == value for known in self.values)

    def register_all(self, known: Iterable[KnownValue]) -> None:
        """Make several values secrets at once."""
        values = {each.value: each for each in self.values}
        for each in known:
            value = each.value.strip()
            if len(value) >= REGISTERED_LEAST and value not in values:
                values[value] = KnownValue(kind_of(each.kind), value)
        if len(values) > len(self.values):
            self.values = tuple(values.values())


def secrets_of_environment(environ: Mapping[str, str]) -> Iterator[KnownValue]:
    """The secrets among environment variables, by their names, and the passwords inside the URLs of the others.

    Left out are values that are no secret whatever the variable is called: shorter than eight characters, paths,
    numbers, plain words such as `disabled`, and a variable that names an address (`AUTH_URL`).
    """
    for name, value in sorted(environ.items()):
        value = value.strip()
        kind = kind_of("env", name)
        if is_secret_variable(name) and is_secret_value(value) and (says_secret(name) or not _is_address(value)):
            yield KnownValue(kind, value)
            yield from (KnownValue(kind, part) for part in _listed(value) if is_secret_value(part))
        password = _password_in(value)
        if password is not None and is_secret_value(password):
            yield KnownValue(kind, password)
            yield KnownValue(kind, unquote(password))


def is_secret_value(value: str) -> bool:
    """Say whether a value that its name calls secret can be one."""
    return (
        len(value) >= VARIABLE_LEAST
        and len(set(value)) > 2
        and value.lower() not in _PLAIN_WORDS
        and not _NUMBER.fullmatch(value)
        and not _PATH.fullmatch(value)
        and not value.startswith(OPENING)
    )


def _listed(value: str) -> list[str]:
    """The members of a list such as `KEYS=first,second`."""
    return _LIST_MARK.split(value) if _LIST.fullmatch(value) else []


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc) and "@" not in parts.netloc and not parts.query


def _password_in(value: str) -> str | None:
    if "://" not in value or "@" not in value:
        return None
    try:
        return urlsplit(value).password
    except ValueError:
        return None
