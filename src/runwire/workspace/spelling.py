"""How git spells what is no plain text: names with odd letters, and bytes. Pure; what is not spelled so is a ValueError."""

import re
import zlib
from base64 import b85decode, b85encode
from collections.abc import Sequence

_QUOTED = re.compile(rb"\\([0-3][0-7]{2}|.)")
_QUOTED_NAME = re.compile(rb'"(?:[^"\\]|\\.)*"')
_ESCAPES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 10: b"\\n", 11: b"\\v", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}
_UNESCAPES = {escape[1:]: bytes([byte]) for byte, escape in _ESCAPES.items()}
_LINE_BYTES = 52


def quoted(side: str, path: str) -> bytes:
    """A path behind `a/`, `b/` or nothing, in quotes where it has letters that need them."""
    raw = (side + path).encode("utf-8", "surrogateescape")
    if not any(byte < 32 or byte >= 127 or byte in (34, 92) for byte in raw):
        return raw
    return b'"%b"' % b"".join(
        _ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 32 or byte >= 127 else bytes([byte])) for byte in raw
    )


def literal(body: bytes) -> bytes:
    """Bytes as a binary patch carries them, whole."""
    packed = zlib.compress(body)
    lines = [b"literal %d\n" % len(body)]
    for start in range(0, len(packed), _LINE_BYTES):
        piece = packed[start : start + _LINE_BYTES]
        size = len(piece)
        letter = 64 + size if size <= 26 else 70 + size
        lines.append(bytes([letter]) + b85encode(piece, pad=True) + b"\n")
    return b"".join(lines) + b"\n"


def unpacked(lines: Sequence[bytes], size: int) -> bytes:
    """The bytes of a binary patch's lines, which must be as many as it says."""
    packed = []
    for line in lines:
        length = line[0] - 64 if line[0] < 91 else line[0] - 70
        packed.append(b85decode(line[1:].removesuffix(b"\n"))[:length])
    try:
        # One byte more than was said is enough to see that it lies; a bomb goes no further.
        body = zlib.decompressobj().decompress(b"".join(packed), size + 1)
    except zlib.error as error:
        raise ValueError("a binary body cannot be unpacked") from error
    if len(body) != size:
        raise ValueError("a binary body is not as long as it says")
    return body


def both_names(names: bytes) -> tuple[str, str]:
    """The two paths of a `diff --git` line."""
    if names.startswith(b'"'):
        quoted = _QUOTED_NAME.match(names)
        if quoted is None:
            raise ValueError("a quoted name does not end")
        first, second = quoted[0], names[quoted.end() + 1 :]
    else:
        # Where the two differ, one of them is quoted or `rename from` and `rename to` tell; else they split in the middle.
        cut = names.find(b' "b/') if names.endswith(b'"') else len(names) // 2
        first, second = names[:cut], names[cut + 1 :]
    return unquoted(first)[2:], unquoted(second)[2:]


def unquoted(name: bytes) -> str:
    """A name as it is on disk."""
    if name.startswith(b'"') and name.endswith(b'"') and len(name) > 1:
        name = _QUOTED.sub(_unescaped, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    letter = escape[1]
    return bytes([int(letter, 8)]) if len(letter) == 3 else _UNESCAPES.get(letter, letter)
