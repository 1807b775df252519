"""Byte ranges and entity tags of HTTP, as far as a body that never changes needs them."""

import re

from runwire.errors import InvalidRange

_RANGE = re.compile(r"bytes=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*", re.ASCII | re.IGNORECASE)


def span(header: str | None, size: int) -> tuple[int, int] | None:
    """The bytes that a Range header asks for, end excluded; None means the whole body.

    A header that is no single byte range is ignored, as HTTP allows. One that lies outside is an InvalidRange.
    """
    matched = None if header is None else _RANGE.fullmatch(header)
    if matched is None:
        return None
    first, last = matched.groups()
    if first:
        start, end = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return None
    elif last:
        start, end = max(0, size - int(last)), size
    else:
        return None
    if start >= end:
        raise InvalidRange(size)
    return start, end


def names(header: str | None, etag: str) -> bool:
    """Whether an If-None-Match header names this tag, or any. The comparison is weak, as HTTP asks for."""
    if header is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return "*" in tags or etag in tags
