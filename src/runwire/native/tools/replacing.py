"""Replacing a piece of text in a file, exactly as often as was meant. Pure."""

from runwire.native.tools.outcome import failed
from runwire.native.tools.tool import ToolResult
from runwire.workspace.diff import is_binary


def replaced(path: str, body: bytes, old_text: str, new_text: str, *, every: bool) -> bytes | ToolResult:
    """The file's bytes with one text in the place of another, or why that cannot be."""
    wrong = _wrong(path, body, old_text, new_text)
    if wrong is not None:
        return wrong
    old, new = _in_its_line_ends(body, old_text.encode(), new_text.encode())
    first = body.find(old)
    if first < 0:
        return failed("text_not_found", f"{path} does not contain old_text; read the file and copy the text exactly")
    # Places that overlap count too: which of them was meant?
    if not every and body.find(old, first + 1) >= 0:
        times = body.count(old)
        return failed(
            "text_not_unique",
            f"{path} contains old_text {max(times, 2)} times; give more of its surroundings, or set replace_all",
        )
    return body.replace(old, new) if every else body[:first] + new + body[first + len(old) :]


def _wrong(path: str, body: bytes, old_text: str, new_text: str) -> ToolResult | None:
    if is_binary(body):
        return failed("binary_file", f"{path} is no text")
    if not old_text:
        return failed("invalid_input", "old_text: it is empty, so there is no place for new_text")
    if old_text == new_text:
        return failed("no_change", f"{path}: old_text and new_text are the same")
    try:
        (old_text + new_text).encode()
    except UnicodeEncodeError:
        return failed("invalid_input", "old_text, new_text: one of them is no valid Unicode")
    return None


def _in_its_line_ends(body: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Both texts with the line ends that the file has: a model that reads CRLF mostly writes LF."""
    feeds = body.count(b"\n")
    if not feeds or body.count(b"\r\n") < feeds:
        mixed = b"\r\n" in body and old not in body
        return (_crlf(old), _crlf(new)) if mixed else (old, new)
    return _crlf(old), _crlf(new)


def _crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
