"""What a tool of Agno's returned. It comes as text, which is mostly the `repr` of a Python value: read, never run."""

import ast
import json
import re
import warnings

import msgspec

LITERAL_MAX = 64 * 1024
"""A longer text is not read as a Python value: what reads one needs a hundred times its size."""

DEPTH_MAX = 50
"""Nor is one with more brackets open at once."""

_JSON = msgspec.json.Decoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_ESCAPES = {"\\'": "'", '"': '\\"'}
_ESCAPE = re.compile(r'\\.|"')
_STRING = r"""'(?:[^'\\\x00-\x1f]++|\\['"\\nrt])*+'|"(?:[^"\\\x00-\x1f]++|\\['"\\nrt])*+"|"""
_TOKEN = re.compile(_STRING + "True|False|None")
_PLAIN = re.compile(rf"(?:{_STRING}True|False|None|(?:0|-?[1-9][0-9]{{0,14}})(?:\.[0-9]{{1,15}})?|[\[\]{{}},: ])*+")
"""A value that JSON says in the same way but for quotes and words. Most are, and Python's own reader takes ten times as long."""
_BRACKETS = re.compile(r"[()\[\]{}]")
_OPENS = "{[('\"-+0123456789b"
_NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
_WRONG = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
"""What reading a text as a value may raise; an overflow and a half character are ValueErrors or found below."""


def readable(result: object) -> str | None:
    """A result as text: compact JSON where it is JSON or a Python value that JSON can say, else the text itself."""
    if result is None:
        return None
    if not isinstance(result, str):
        return _compact(result)
    try:
        return _compact(_JSON.decode(result)) or result
    except _NOT_JSON:
        return _literal(result) or result


def _literal(text: str) -> str | None:
    stripped = text.strip()
    if not stripped or len(stripped) > LITERAL_MAX or not (stripped[0] in _OPENS or stripped.startswith(tuple(_WORDS))):
        return None
    if _is_deep(stripped):
        return None
    if _PLAIN.fullmatch(stripped):
        try:
            return _compact(_JSON.decode(_TOKEN.sub(_in_json, stripped)))
        except _NOT_JSON:
            # A set, a tuple, a key that is no text: more than JSON has.
            pass
    try:
        with warnings.catch_warnings():
            # Text that only looks like a value may hold what a compiler warns of.
            warnings.simplefilter("ignore")
            value = ast.literal_eval(stripped)
    except _WRONG:
        return None
    return _compact(value)


def _in_json(token: re.Match[str]) -> str:
    text = token[0]
    return _WORDS.get(text) or f'"{_ESCAPE.sub(_escaped, text[1:-1])}"'


def _escaped(sign: re.Match[str]) -> str:
    return _ESCAPES.get(sign[0], sign[0])


def _compact(value: object) -> str | None:
    """A value as compact JSON; None when JSON cannot say it as it is."""
    try:
        text = _ENCODER.encode(value)
        text.encode()
    except _WRONG:
        return None
    return text


def _is_deep(text: str) -> bool:
    """Whether too many brackets are open at once; those in strings count too, which only errs to the safe side."""
    if sum(map(text.count, "([{")) <= DEPTH_MAX:
        return False
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "([{" else -1
        if depth > DEPTH_MAX:
            return True
    return False
