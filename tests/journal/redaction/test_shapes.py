"""Well-known shapes are recognised as they are written in real texts, and nothing around them is touched."""

import json
import re

import pytest

from runwire.journal.redaction.grammar import Head
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.shapes import SHAPES
from tests.journal.redaction.examples import SHAPED, Example, letters, pem
from tests.spec import spec

REDACTOR = Redactor(SecretSet())
KEY = pem("RSA PRIVATE KEY", size=400)
ENCRYPTED = pem("RSA PRIVATE KEY", ("Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0A1B2C", ""), size=400)

WAYS_TO_SHOW_A_KEY = {
    "as it is": "{0}\n",
    "with CRLF": "{0}\r\n",
    "indented": "    {0}\n",
    "removed in a diff": "-{0}\n",
    "added in a diff": "+{0}\n",
    "cat -n": "     7\t{0}\n",
    "numbered by an editor": "     7→{0}\n",
    "numbered by grep": "7:{0}\n",
    "quoted": "> {0}\n",
    "escaped": "{0}\\n",
    "escaped twice": "{0}\\\\n",
    "on one line": "{0} ",
    "as Java literals": '  "{0}\\n" +\n',
    "as a Python list": '  "{0}",\n',
}


@spec("RED-2")
@pytest.mark.parametrize("example", SHAPED, ids=str)
def test_a_shape_is_replaced_and_its_surroundings_stay(example: Example) -> None:
    assert REDACTOR.redact_text(example.text) == example.redacted


@pytest.mark.parametrize("example", SHAPED, ids=str)
def test_a_shape_is_found_inside_a_json_string(example: Example) -> None:
    stored = json.loads(REDACTOR.redact(json.dumps({"text": example.text}).encode()))
    assert stored == {"text": example.redacted, "redacted_paths": ["/text"]}


@pytest.mark.parametrize("way", WAYS_TO_SHOW_A_KEY)
@pytest.mark.parametrize("key", [KEY, ENCRYPTED], ids=["plain", "encrypted"])
def test_no_line_of_a_private_key_is_left_however_it_is_shown(way: str, key: str) -> None:
    text = "".join(WAYS_TO_SHOW_A_KEY[way].format(line) for line in key.splitlines())
    secret = [line for line in key.splitlines() if re.fullmatch(r"[A-Za-z0-9+/=]{16,}", line)]
    assert len(secret) > 5
    for shown in (text, json.dumps(text)):
        redacted = REDACTOR.redact_text(f"{shown}\nThat was it, and then some more.")
        assert redacted.endswith("\nThat was it, and then some more.")
        assert [line for line in secret if line[:16] in redacted] == []
        stored = REDACTOR.redact(json.dumps({"text": shown}).encode())
        assert [line for line in secret if line[:16].encode() in stored] == []


def test_a_private_key_that_was_cut_off_takes_at_most_a_word_of_what_follows() -> None:
    cut_off = KEY[:200]
    assert REDACTOR.redact_text(f"{cut_off}\nThen the log ends.") == "[redacted:private-key] the log ends."


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgres://u:p@ss@h:5432/db", "postgres://u:[redacted:url-password]@h:5432/db"),
        ("https://:only-a-password@host", "https://:[redacted:url-password]@host"),
        ("mongodb://a:b@h1:1,h2:2/x", "mongodb://a:[redacted:url-password]@h1:1,h2:2/x"),
        ("[x](https://u:p@h/a)", "[x](https://u:[redacted:url-password]@h/a)"),
        ("'https://u:p@h'", "'https://u:[redacted:url-password]@h'"),
    ],
)
def test_only_the_password_of_a_url_is_replaced(text: str, redacted: str) -> None:
    assert REDACTOR.redact_text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/@me",
        "https://user@host/path",
        "http://host:80?to=a@b.c",
        "postgres://$USER:$PASSWORD@$HOST/db",
        "postgres://{user}:{password}@{host}/db",
        "https://${USER}:${TOKEN}@github.com",
        "https://user:<password>@host",
        "https://user:****@host",
        "https://REDACTED:REDACTED@host",
        "s3://bucket:key/with@sign",
    ],
)
def test_a_url_without_a_password_stays(text: str) -> None:
    assert REDACTOR.redact_text(text) == text


def test_a_prefix_inside_a_word_is_no_token() -> None:
    digest = letters(32, "0123456789abcdef")
    for text in (f"task-{digest}", f"disk-{digest}", f"xghp_{letters(36)}", f"01JAKIA{letters(16).upper()}"):
        assert REDACTOR.redact_text(text) == text


def test_a_token_right_after_another_secret_is_one() -> None:
    """The placeholder of the first one ends with a bracket, so that redacting twice would find the second."""
    token = "ghp" + "_" + "a1" * 18
    redactor = Redactor(SecretSet([KnownValue("known", "a-known-value-7"), KnownValue("percent", "known-percent-%3")]))
    assert redactor.redact_text(f"a-known-value-7{token}") == "[redacted:known][redacted:github-token]"
    assert redactor.redact_text(f"known-percent-%3D{token}") == f"[redacted:percent]D{token}"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_every_shape_can_be_looked_for_by_a_few_first_characters(shape: object) -> None:
    triggers = next(each for each in SHAPES if each is shape).triggers(6)
    assert triggers
    assert all(3 <= len(trigger) <= 6 for trigger in triggers)


@pytest.mark.parametrize("example", SHAPED, ids=str)
def test_every_beginning_of_a_head_could_still_become_the_head(example: Example) -> None:
    """Whatever is a beginning of a head must be held back; a shape that lets go too early would leak."""
    shapes = [shape for shape in SHAPES if shape.kind == example.kind]
    heads = [Head(shape) for shape in shapes]
    ends = [
        (head, found)
        for head in heads
        for start in range(len(example.before) + 1)
        if (found := head.whole.match(example.text, start))
    ]
    assert ends
    for head, found in ends:
        until = found.end() if head.patient else found.end(1)
        for length in range(1, until - found.start()):
            assert head.waits(example.text[: found.start() + length], found.start()) or head.whole.match(
                example.text[: found.start() + length], found.start()
            )
