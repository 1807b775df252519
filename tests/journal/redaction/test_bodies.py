"""Artifact bodies, imported lines, log lines: the same secrets, other containers."""

import base64

import msgspec
import pytest

from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from tests.journal.redaction.examples import KNOWN, SHAPED, Example
from tests.spec import spec

REDACTOR = Redactor(SecretSet(KNOWN))
VALUE = KNOWN[0].value.encode()


@spec("RED-6")
def test_a_text_body_loses_values_and_shapes() -> None:
    example = SHAPED[4]
    body, count = REDACTOR.redact_body(VALUE + b"\n" + example.text.encode(), is_text=True)
    assert body == b"[redacted:env.plain]\n" + example.redacted.encode()
    assert count == 2


@spec("RED-6")
def test_bytes_that_are_no_utf_8_survive_beside_a_secret() -> None:
    body, count = REDACTOR.redact_body(b"\xff\xfe " + VALUE + b" \x80caf\xe9", is_text=True)
    assert (body, count) == (b"\xff\xfe [redacted:env.plain] \x80caf\xe9", 1)


@spec("RED-6")
def test_a_binary_body_loses_known_values_only() -> None:
    body, count = REDACTOR.redact_body(
        b"\0\1" + VALUE + b"\0" + SHAPED[4].text.encode() + b"\xff" + VALUE, is_text=False
    )
    assert body == b"\0\1[redacted:env.plain]\0" + SHAPED[4].text.encode() + b"\xff[redacted:env.plain]"
    assert count == 2


@spec("RED-6")
def test_values_that_overlap_in_bytes_leave_no_piece() -> None:
    assert REDACTOR.redact_body(b"\0abcdefgh.ijkl.mnopqrst\0", is_text=False) == (b"\0[redacted:env.overlap]\0", 1)


@pytest.mark.parametrize("is_text", [True, False])
def test_a_clean_body_is_the_same_object_and_a_redacted_one_is_settled(is_text: bool) -> None:
    clean = bytes(range(256)) * 4
    assert REDACTOR.redact_body(clean, is_text=is_text)[0] is clean
    once, _ = REDACTOR.redact_body(clean + VALUE + clean, is_text=is_text)
    assert REDACTOR.redact_body(once, is_text=is_text) == (once, 0)


@spec("RED-1")
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.kind)
def test_a_known_value_is_noticed_in_a_line_of_json_and_in_bare_bytes(known: KnownValue) -> None:
    assert REDACTOR.contains_known_value(msgspec.json.encode({"data": {"text": f"x{known.value}y"}})) == known.kind
    assert REDACTOR.contains_known_value(b"\0" + known.value.encode()) == known.kind
    assert REDACTOR.contains_known_value(b"x" + base64.b64encode(b"user:" + known.value.encode())) == known.kind


def test_a_placeholder_is_no_known_value_even_if_its_kind_is() -> None:
    redactor = Redactor(SecretSet([KnownValue("password-of-db", "password-of-db"), KnownValue("x", "redacted")]))
    assert redactor.redact_text("password-of-db") == "[redacted:password-of-db]"
    assert redactor.contains_known_value(b'"[redacted:password-of-db]"') is None
    assert redactor.redact_text("[redacted:password-of-db]") == "[redacted:password-of-db]"
    assert redactor.redact(b'{"a":"redacted"}') == b'{"a":"[redacted:x]","redacted_paths":["/a"]}'


def test_something_that_only_looks_like_a_placeholder_hides_nothing() -> None:
    redactor = Redactor(SecretSet([KnownValue("db", "hunter2-hunter2")]))
    assert redactor.redact_text("[redacted:hunter2-hunter2]") == "[redacted:[redacted:db]]"
    assert redactor.contains_known_value(b"[redacted:hunter2-hunter2]") == "db"


@spec("RED-7")
@pytest.mark.parametrize("example", SHAPED, ids=str)
def test_a_log_line_is_scrubbed(example: Example) -> None:
    line = f"request failed: {example.text!r} with {KNOWN[1].value!r}"
    scrubbed = REDACTOR.scrub(line)
    assert example.secret not in scrubbed
    assert KNOWN[1].value not in scrubbed
    assert scrubbed.startswith("request failed: ")
