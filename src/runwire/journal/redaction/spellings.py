"""How one secret may be written: as it is, inside JSON, inside a URL, inside base64.

Covered: the value itself; with CRLF line ends; JSON-escaped once and twice (as msgspec, Python, Go and PHP escape);
percent-encoded (strict, path, form and JavaScript rules, either case of hex digits); base64 of the value alone or in the
middle of longer data (all three alignments, standard and URL-safe alphabet, unwrapped).
Not covered: base64 wrapped into lines, hexadecimal, compression, encryption, other charsets, a value split by foreign text.
"""

import base64
import json
import re
from urllib.parse import quote, quote_plus

import msgspec

from runwire.journal.redaction.placeholder import pieces_clear_of

BASE64_LEAST = 8
"""Shorter base64 cores would be found in innocent data."""

CUT_LEAST = 12
"""Fewer characters of a secret may as well be the end of an innocent text."""

_GO_ESCAPES = {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"}
_HEX = re.compile(r"%[0-9A-F]{2}")


def spellings(value: str) -> frozenset[str]:
    """Every form in which a text may hold the value."""
    forms = {value, value.replace("\r\n", "\n").replace("\n", "\r\n")}
    for form in tuple(forms):
        once = _json_escaped(form)
        forms |= once
        for escaped in once:
            forms |= _json_escaped(escaped)
    forms |= _percent_encoded(value)
    forms |= _base64_cores(value.encode("utf-8", "surrogateescape"))
    return frozenset(piece for form in forms for piece in pieces_clear_of(form))


def telling_length(spelling: str) -> int:
    """How many first characters give a spelling away where a text breaks off in the middle of it."""
    return max(CUT_LEAST, (len(spelling) + 1) // 2)


def escaped_in_json(text: str) -> str:
    """The text as our own encoder writes it between quotes."""
    return msgspec.json.encode(text)[1:-1].decode()


def _json_escaped(text: str) -> set[str]:
    ascii_only = json.dumps(text)[1:-1]
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    go = "".join(_GO_ESCAPES.get(character, character) for character in plain)
    return {plain, ascii_only, go, ascii_only.replace("/", "\\/"), plain.replace("/", "\\/")}


def _percent_encoded(value: str) -> set[str]:
    strict = quote(value, safe="", errors="surrogateescape")
    form = quote_plus(value, errors="surrogateescape")
    path = quote(value, errors="surrogateescape")
    component = quote(value, safe="!'()*~", errors="surrogateescape")
    upper = {strict, form, path, component}
    return upper | {_HEX.sub(lambda escape: escape[0].lower(), text) for text in upper}


def _base64_cores(value: bytes) -> set[str]:
    """The characters of base64 that depend on the value alone, wherever it stands in the encoded data."""
    cores: set[str] = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + value).decode()
        # A character that shares bits with a neighbour's byte could be any; six bits a character.
        core = encoded[(before * 8 + 5) // 6 : (before + len(value)) * 8 // 6]
        if len(core) >= BASE64_LEAST:
            cores |= {core, core.replace("+", "-").replace("/", "_")}
    return cores
