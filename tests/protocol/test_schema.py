"""The schemas: they accept what the classes accept, stay open to new fields, and are not stale."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.catalogue import CATALOGUE, decode_payload
from runwire.protocol.events.shell import ShellExited
from runwire.protocol.payload import MalformedPayload, encode_payload
from runwire.protocol.schema import ENVELOPE, EVENT, ROOT, Schema, schema_for, schema_names
from runwire.protocol.typescript import typescript
from tests.protocol.logs import WHOLE_RUN, log
from tests.protocol.seed_examples import SEED
from tests.spec import spec

REPOSITORY = Path(__file__).resolve().parents[2]
VALIDATORS = {name: jsonschema_rs.Draft202012Validator(schema_for(name)) for name in schema_names() if name != EVENT}


def event_validator() -> jsonschema_rs.Draft202012Validator:
    """A validator of whole events, with every schema inside: relative references need a place to be relative to."""
    defs = {name: {**schema_for(name), "$id": f"https://schemas.example{ROOT}{name}.json"} for name in schema_names()}
    return jsonschema_rs.Draft202012Validator({**defs.pop(EVENT), "$defs": defs})


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_a_schema(name: str) -> None:
    jsonschema_rs.meta.validate(schema_for(name))


@spec("TYP-2")
@pytest.mark.parametrize(("name", "data"), SEED, ids=[f"{at}-{name}" for at, (name, _) in enumerate(SEED)])
def test_every_example_of_the_protocol_fits_its_schema(name: str, data: dict[str, object]) -> None:
    VALIDATORS[name].validate(data)


@spec("TYP-8")
@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_fields_from_the_future_are_allowed(name: str) -> None:
    data = json.loads(dict(examples())[name])
    VALIDATORS[name].validate(data | {"from_the_future": {"any": ["thing"]}})
    assert b"from_the_future" not in encode_payload(decode_payload(name, json.dumps(data | {"x": 1}).encode()))


def examples() -> list[tuple[str, str]]:
    lines = (REPOSITORY / "spec/examples/v1.jsonl").read_text(encoding="utf-8").splitlines()
    return [(example["type"], json.dumps(example["data"])) for example in map(json.loads, lines)]


@given(data=st.data())
def test_schema_and_class_agree_on_what_is_missing(data: st.DataObject) -> None:
    name, text = data.draw(st.sampled_from(examples()))
    whole = json.loads(text)
    left = {key: whole[key] for key in data.draw(st.sets(st.sampled_from(sorted(whole))))}
    try:
        decode_payload(name, json.dumps(left).encode())
        accepted = True
    except MalformedPayload:
        accepted = False
    assert VALIDATORS[name].is_valid(left) is accepted


@given(data=st.data())
def test_schema_and_class_agree_on_what_has_the_wrong_type(data: st.DataObject) -> None:
    name, text = data.draw(st.sampled_from(examples()))
    whole = json.loads(text)
    key = data.draw(st.sampled_from(sorted(whole)))
    whole[key] = data.draw(st.sampled_from([None, True, -1, 1, "text", [], ["text"], {}, [{}]]))
    try:
        decode_payload(name, json.dumps(whole).encode())
        accepted = True
    except MalformedPayload:
        accepted = False
    assert VALIDATORS[name].is_valid(whole) is accepted


def test_a_log_fits_the_schema_of_events_and_a_wrong_one_does_not() -> None:
    validator = event_validator()
    for event in log(WHOLE_RUN):
        validator.validate(json.loads(event))
    wrong = json.loads(log(WHOLE_RUN)[1])
    wrong["data"] = {"worker_id": 3}
    assert not validator.is_valid(wrong)
    wrong["type"] = "quantum.entangled"
    assert validator.is_valid(wrong)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", "2"),
        ("event_id", "evt a"),
        ("sequence", -1),
        ("sequence", "0"),
        ("occurred_at", "2026-05-03T10:23:45Z"),
        ("type", "Run"),
        ("data", None),
        ("data", []),
        ("task_id", None),
    ],
)
@spec("ENV-3", "ENV-4", "ENV-6", "ENV-7")
def test_the_schema_of_the_envelope_refuses_what_breaks_it(field: str, value: object) -> None:
    envelope = json.loads(log(WHOLE_RUN)[0])
    VALIDATORS[ENVELOPE].validate(envelope)
    assert not VALIDATORS[ENVELOPE].is_valid(envelope | {field: value})


def test_a_schema_documents_every_field_it_can() -> None:
    schema: Schema = schema_for("tool.shell.exited")
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == [*ShellExited.__struct_encode_fields__[1:], "redacted_paths"]
    assert schema["description"] == ShellExited.__doc__


def test_the_typescript_module_names_every_type_once() -> None:
    module = typescript()
    for name, cls in CATALOGUE.items():
        assert module.count(f"export interface {cls.__name__} {{") == 1
        assert f'  "{name}": {cls.__name__};' in module


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "scripts/generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_generated_files_are_not_stale() -> None:
    checked = generate("--check")
    assert (checked.returncode, checked.stderr) == (0, "")


def test_a_stale_file_is_named_and_written_anew(tmp_path: Path) -> None:
    (tmp_path / "spec/examples").mkdir(parents=True)
    (tmp_path / "spec/examples/v1.jsonl").write_bytes((REPOSITORY / "spec/examples/v1.jsonl").read_bytes())
    assert generate(str(tmp_path)).returncode == 0
    assert generate("--check", str(tmp_path)).returncode == 0
    (tmp_path / "spec/types/v1.ts").write_text("old", encoding="utf-8")
    (tmp_path / "spec/schema/v1/run.queued.json").unlink()
    (tmp_path / "spec/schema/v1/run.gone.json").write_text("{}", encoding="utf-8")
    checked = generate("--check", str(tmp_path))
    assert checked.returncode == 1
    assert checked.stderr.splitlines()[:3] == [
        "stale: spec/schema/v1/run.queued.json",
        "stale: spec/types/v1.ts",
        "stale: spec/schema/v1/run.gone.json (no longer generated)",
    ]
    assert generate(str(tmp_path)).returncode == 0
    assert generate("--check", str(tmp_path)).returncode == 0
