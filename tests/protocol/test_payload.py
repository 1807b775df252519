"""Payloads: what they look like on the wire, and what becomes of types from the future."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from runwire.protocol.catalogue import CATALOGUE, decode_payload
from runwire.protocol.events.external import external
from runwire.protocol.events.run import RunCancelled, RunQueued
from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.payload import MalformedPayload, Opaque, Payload, encode_payload, is_type_name
from tests.protocol.seed_examples import SEED
from tests.spec import spec

EXAMPLE_FILE = Path(__file__).resolve().parents[2] / "spec/examples/v1.jsonl"
EXAMPLES = {
    example["type"]: example["data"]
    for example in map(json.loads, EXAMPLE_FILE.read_text(encoding="utf-8").splitlines())
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


@spec("TYP-2")
@pytest.mark.parametrize(("name", "data"), SEED, ids=[f"{at}-{name}" for at, (name, _) in enumerate(SEED)])
def test_every_example_of_the_protocol_is_understood_and_written_back_with_the_same_fields(
    name: str, data: dict[str, object]
) -> None:
    payload = decode_payload(name, json.dumps(data).encode())
    assert isinstance(payload, CATALOGUE[name])
    assert json.loads(encode_payload(payload)) == data


def test_every_type_has_an_example_that_fits_it() -> None:
    assert EXAMPLES.keys() == CATALOGUE.keys()
    for name, data in EXAMPLES.items():
        payload = decode_payload(name, json.dumps(data).encode())
        assert json.loads(encode_payload(payload)) == data


def test_every_type_says_in_a_sentence_what_happened() -> None:
    for name, cls in CATALOGUE.items():
        assert is_type_name(name)
        assert cls.__doc__
        assert cls.__doc__.endswith(".")


def test_an_absent_optional_field_is_left_out_and_a_nullable_one_stays_null() -> None:
    queued = RunQueued(kind="shell", model=None, provider=None, workspace_path=None, workspace_mode=None)
    assert queued.agent is UNSET
    assert encode_payload(queued) == (
        b'{"kind":"shell","model":null,"provider":null,"workspace_path":null,"workspace_mode":null,"prior_run_id":null}'
    )


def test_a_payload_may_list_what_was_redacted_from_it() -> None:
    chunk = ShellOutputChunk(tool_call_id="c", stream="stdout", data="x", byte_offset=0, redacted_paths=["/data"])
    assert decode_payload(chunk.type, encode_payload(chunk)) == chunk


def test_a_payload_cannot_be_changed_and_takes_no_positions() -> None:
    cancelled = RunCancelled(by="operator")
    with pytest.raises(AttributeError):
        cancelled.by = "somebody"  # type: ignore[misc] # the refusal is what is tested
    with pytest.raises(TypeError):
        RunCancelled("operator")  # type: ignore[arg-type, call-arg] # the refusal is what is tested


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("run.failed", b'{"code":1,"message":"m","turns":0}', "$.code"),
        ("run.failed", b'{"message":"m","turns":0}', "code"),
        ("run.failed", b"[]", "object"),
        ("turn.started", b'{"turn_index":-1,"model":null,"provider":null}', "$.turn_index"),
        ("tool.shell.output_chunk", b'{"tool_call_id":"c","stream":"both","data":"","byte_offset":0}', "$.stream"),
        (
            "tool.grep.completed",
            b'{"tool_call_id":"c","pattern":"p","files_searched":1,"matches":[{"path":"a","line":"x","text":""}],"match_count":1}',
            "$.matches[0].line",
        ),
    ],
)
@spec("TYP-2")
def test_data_of_the_wrong_shape_is_refused_naming_type_and_place(name: str, data: bytes, place: str) -> None:
    with pytest.raises(MalformedPayload) as refused:
        decode_payload(name, data)
    assert name in str(refused.value)
    assert place in str(refused.value)


@spec("TYP-4")
@given(data=st.dictionaries(st.text(), JSON, max_size=4))
def test_a_type_from_the_future_is_carried_byte_for_byte(data: dict[str, object]) -> None:
    raw = msgspec.json.encode(data)
    payload = decode_payload("quantum.entangled", raw)
    assert isinstance(payload, Opaque)
    assert payload.type == "quantum.entangled"
    assert encode_payload(payload) == raw


def test_opaque_data_loses_its_whitespace_and_nothing_else() -> None:
    payload = Opaque.of("external.note", b'{ "b" : 1.50e0,\n "a":"\\u00e9 x" }')
    assert encode_payload(payload) == b'{"b":1.50e0,"a":"\\u00e9 x"}'


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"3", b"{", b'{"a":1}x', b'{"a":"\xff"}'])
def test_opaque_data_that_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"external\.note"):
        Opaque.of("external.note", data)


@pytest.mark.parametrize(
    "name", ["", "external", "External.x", "external.", ".x", "external.x y", "external.x\n", "a." * 99 + "a"]
)
@spec("TYP-1")
def test_a_name_that_is_no_type_is_refused(name: str) -> None:
    assert not is_type_name(name)
    with pytest.raises(ValueError, match="not an event type"):
        Opaque.of(name, b"{}")


def test_an_outside_caller_stays_under_its_own_prefix() -> None:
    assert external("external.ci.passed", b'{"job":7}').type == "external.ci.passed"
    with pytest.raises(ValueError, match="not an external type"):
        external("run.finished", b"{}")


def test_text_that_is_not_unicode_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        encode_payload(RunCancelled(by="\ud800"))


def test_every_payload_class_of_the_families_is_in_the_catalogue() -> None:
    def below(cls: type[Payload]) -> set[type[Payload]]:
        return {cls}.union(*(below(child) for child in cls.__subclasses__()))

    typed = {cls for cls in below(Payload) if cls.type and cls.__module__.startswith("runwire.")}
    assert typed == set(CATALOGUE.values())
