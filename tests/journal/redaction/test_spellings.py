"""However a value is written, it is found: in JSON, in JSON within JSON, in a URL, in base64."""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.sieve import Sieve
from runwire.journal.redaction.spellings import spellings
from tests.spec import spec

WRITERS: dict[str, Callable[[str], str]] = {
    "bare": str,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda value: json.dumps(value, ensure_ascii=False),
    "JSON in JSON": lambda value: json.dumps(json.dumps(value)),
    "JSON of Go": lambda value: json.dumps(value, ensure_ascii=False).replace("&", "\\u0026").replace("<", "\\u003c"),
    "JSON of PHP": lambda value: json.dumps(value).replace("/", "\\/"),
    "URL component": lambda value: quote(value, safe=""),
    "URL path": quote,
    "form": quote_plus,
    "encodeURIComponent": lambda value: quote(value, safe="!'()*~"),
    "lower-case escapes": lambda value: quote(value.lower(), safe="").lower(),
    "CRLF": lambda value: value.replace("\n", "\r\n"),
}
VALUES = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")) | st.just("\n"), min_size=10, max_size=40
)


@spec("RED-1")
@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=30)
@given(value=VALUES)
def test_a_value_is_found_however_it_is_written(writer: str, value: str) -> None:
    value = value.strip().lower() if writer == "lower-case escapes" else value.strip()
    assume(len(value) >= 10 and "[" not in value and value != "\n" and ">" not in value)
    redactor = Redactor(SecretSet([KnownValue("value", value)]))
    written = WRITERS[writer](value)
    redacted = redactor.redact_text(f"({written})")
    assert written.strip('"\\') not in redacted
    assert "[redacted:value]" in redacted
    stored = redactor.redact(json.dumps({"text": f"({written})"}).encode())
    assert json.loads(stored)["text"] == redacted


@spec("RED-1")
@given(st.binary(max_size=7), VALUES, st.binary(max_size=7))
def test_a_value_is_found_in_base64_of_longer_data(before: bytes, value: str, after: bytes) -> None:
    value = value.strip()
    assume(len(value) >= 10)
    redactor = Redactor(SecretSet([KnownValue("value", value)]))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + value.encode() + after).decode()
        assert "[redacted:value]" in redactor.redact_text(encoded)


def test_a_short_value_is_not_looked_for_in_base64() -> None:
    assert spellings("pins") == {"pins"}


def test_a_backslash_that_is_escaped_itself_is_no_reason_for_suspicion() -> None:
    sieve = Sieve({}, ())
    assert not sieve.suspected([rb'{"path":"C:\\u0041bc","more":"\\\\/x","colour":"\u001b[0m"}'])
    assert sieve.suspected([rb'{"path":"C:\u0041bc"}'])
    assert sieve.suspected([rb'{"path":"\\\u0041bc"}'])
