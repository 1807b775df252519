"""An encoded payload loses its secrets and nothing else."""

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.spellings import spellings
from tests.journal.redaction.examples import KNOWN, SHAPED, Example
from tests.spec import spec

REDACTOR = Redactor(SecretSet(KNOWN))
VALUE = KNOWN[0].value
PLACE = "[redacted:env.plain]"

SECRETS = st.sampled_from([*(known.value for known in KNOWN), *(example.text for example in SHAPED)])
PLAIN = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = PLAIN | st.sampled_from(
    ["password", "Authorization", "api-key", "headers", "env_keys", "text", "redacted_paths"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | PLAIN | SECRETS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)


def redacted(data: str) -> str:
    return REDACTOR.redact(data.encode()).decode()


def strings(value: object) -> list[str]:
    """Every string in a JSON value, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for name, inner in value.items() for text in (name, *strings(inner))]
    return [text for inner in value for text in strings(inner)] if isinstance(value, list) else []


def at(value: object, pointer: str) -> object:
    """What a JSON Pointer points at."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        value = value[int(step)] if isinstance(value, list) else value[step]  # type: ignore[index]  # or the test fails
    return value


@spec("RED-1")
def test_a_clean_payload_is_the_same_object() -> None:
    data = b'{"text":"nothing to hide","input_tokens":12,"header_keys":["authorization"],"url":"https://example.com/a"}'
    assert REDACTOR.redact(data) is data


@spec("RED-1", "RED-3")
def test_a_secret_is_replaced_at_every_depth_and_listed() -> None:
    data = json.dumps({"a": VALUE, "b": [{"c/d~": f"x {VALUE} y"}, VALUE], "e": 1}, separators=(",", ":"))
    assert redacted(data) == (
        f'{{"a":"{PLACE}","b":[{{"c/d~":"x {PLACE} y"}},"{PLACE}"],"e":1,"redacted_paths":["/a","/b/0/c~1d~0","/b/1"]}}'
    )


@spec("RED-1")
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.kind)
def test_every_spelling_of_a_value_is_found_in_a_payload(known: KnownValue) -> None:
    for spelling in spellings(known.value):
        stored = json.loads(REDACTOR.redact(msgspec.json.encode({"text": f"so: {spelling} indeed"})))
        assert stored["redacted_paths"] == ["/text"]
        assert spelling not in stored["text"]


@spec("RED-1")
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.kind)
def test_escapes_cannot_hide_a_value(known: KnownValue) -> None:
    for hidden in (
        "".join(f"\\u{ord(letter):04x}" if ord(letter) < 65536 else letter for letter in known.value),
        json.dumps(known.value)[1:-1].replace("/", "\\/"),
    ):
        stored = json.loads(redacted(f'{{"a":"{hidden}"}}'))
        assert stored["a"].removesuffix("[") == f"[redacted:{known.kind}]"


@spec("RED-1")
def test_escapes_and_spaces_cannot_hide_a_name() -> None:
    assert json.loads(redacted('{"pass\\u0077ord" : "abc"}'))["password"] == "[redacted:password]"
    assert json.loads(redacted('{"password" : "abc"}'))["password"] == "[redacted:password]"


@spec("RED-2", "RED-3")
def test_a_telling_name_hides_every_string_below_it() -> None:
    data = (
        '{"Authorization":"x","password":{"old":"a","new":["b",1,true,null,""]},"api_key":null,"secret":7,"cookie":""}'
    )
    assert redacted(data) == (
        '{"Authorization":"[redacted:authorization]","password":{"old":"[redacted:password]",'
        '"new":["[redacted:password]",1,true,null,""]},"api_key":null,"secret":7,"cookie":"",'
        '"redacted_paths":["/Authorization","/password/new/0","/password/old"]}'
    )


def test_a_telling_name_says_nothing_about_its_neighbours() -> None:
    data = '{"a":[{"password":"x","b":"stays"},"stays"],"c":"stays"}'
    assert redacted(data) == (
        '{"a":[{"password":"[redacted:password]","b":"stays"},"stays"],"c":"stays","redacted_paths":["/a/0/password"]}'
    )


@spec("RED-1", "RED-3")
def test_a_name_that_holds_a_secret_is_replaced_too() -> None:
    data = json.dumps({VALUE: 1, f"{VALUE}!": {"x": VALUE}, "[redacted:env.plain]": 2}, separators=(",", ":"))
    data = data[:-1] + f',"{VALUE}":3}}'
    out = redacted(data)
    assert VALUE not in out
    assert json.loads(out) == {
        PLACE: 2,
        f"{PLACE}!": {"x": PLACE},
        f"{PLACE}#2": 3,
        "redacted_paths": [f"/{PLACE}", f"/{PLACE}!", f"/{PLACE}!/x", f"/{PLACE}#2"],
    }


@spec("RED-3")
@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ('["/z","/a"]', '["/a","/text","/z"]'),
        ('["/text"]', '["/text"]'),
        ("null", '["/text"]'),
        ("{}", '["/text"]'),
        ("7", '["/text"]'),
        (f'["/{VALUE}"]', f'["/{PLACE}","/text"]'),
    ],
)
def test_paths_that_are_listed_already_stay_listed(there: str, expected: str) -> None:
    data = f'{{"redacted_paths":{there},"text":"{VALUE}"}}'
    assert redacted(data) == f'{{"redacted_paths":{expected},"text":"{PLACE}"}}'
    data = f'{{"text":"{VALUE}","redacted_paths":{there}}}'
    assert redacted(data) == f'{{"text":"{PLACE}","redacted_paths":{expected}}}'


def test_everything_but_the_secret_keeps_its_bytes() -> None:
    around = '"n":123456789012345678901234567890,"f":1.10,"e":1E400,"z":-0.0,"u":"\\u00e9\\ud83d\\ude00","t":true'
    assert redacted(f'{{{around},"s":"{VALUE}"}}') == f'{{{around},"s":"{PLACE}","redacted_paths":["/s"]}}'


def test_a_very_deep_payload_survives() -> None:
    deep = "[" * 5_000 + f'"{VALUE}"' + "]" * 5_000
    out = redacted(f'{{"d":{deep}}}')
    assert out.startswith('{"d":' + "[" * 5_000 + f'"{PLACE}"]')
    assert out.endswith(f'"redacted_paths":["/d{"/0" * 5_000}"]}}')


@spec("RED-2")
def test_a_lone_surrogate_beside_a_secret_survives() -> None:
    assert redacted(f'{{"a":"\\ud800 {VALUE}"}}') == f'{{"a":"\\ud800 {PLACE}","redacted_paths":["/a"]}}'


@spec("RED-1", "RED-2", "RED-3")
@given(OBJECTS)
def test_any_payload_comes_out_clean_listed_and_settled(value: dict[str, object]) -> None:
    data = msgspec.json.encode(value)
    once = REDACTOR.redact(data)
    stored = json.loads(once)
    left = [re.sub(r"\[redacted:[a-z0-9_.-]+\]", "\0", text) for text in strings(stored)]
    assert [known.kind for known in KNOWN for text in left if known.value in text] == []
    assert REDACTOR.redact(once) is once
    assert (once is data) == (stored == json.loads(data))
    if once is not data:
        paths = stored["redacted_paths"]
        assert paths == sorted(set(paths))
        # What the payload had listed itself need not be a path of anything.
        ours = set(paths).difference(REDACTOR.redact_text(text) for text in strings(value.get("redacted_paths")))
        assert [path for path in ours if "redacted" not in f"{path}{at(stored, path)!r}"] == []


@spec("RED-2", "RED-3")
@given(OBJECTS, st.sampled_from(SHAPED))
def test_what_is_not_secret_is_not_changed(value: dict[str, object], example: Example) -> None:
    value = {f"x{name}": inner for name, inner in value.items()} | {"last": example.text}
    stored = json.loads(REDACTOR.redact(msgspec.json.encode(value)))
    paths = stored.pop("redacted_paths")
    assert stored["last"] == example.redacted
    for name, inner in value.items():
        if not any(path.startswith("/" + name.replace("~", "~0").replace("/", "~1")) for path in paths):
            assert stored[name] == json.loads(msgspec.json.encode(inner))
