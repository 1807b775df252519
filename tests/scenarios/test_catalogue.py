"""Every type of the protocol is emitted by the real runtime, and every log that it leaves holds to the rules."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest

from runwire.protocol.catalogue import CATALOGUE
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.lifecycle import check
from runwire.protocol.schema import ROOT as SCHEMA_ROOT
from runwire.protocol.verify import verify
from tests.scenarios.playing import SCENARIOS, Repertoire

SCHEMAS = Path(__file__).parents[2] / "spec" / "schema" / "v1"


@pytest.fixture(scope="session")
def schema() -> jsonschema_rs.Draft202012Validator:
    """The published schema of an event, with those of its data."""
    # Relative references need a place to be relative to.
    documents = {
        path.stem: json.loads(path.read_text()) | {"$id": f"https://schemas.example{SCHEMA_ROOT}{path.name}"}
        for path in SCHEMAS.glob("*.json")
    }
    return jsonschema_rs.Draft202012Validator({**documents.pop("event"), "$defs": documents})


def test_every_type_of_the_catalogue_is_emitted_by_a_story(played: Repertoire) -> None:
    seen = {one for name in SCENARIOS for log in played(name).logs for one in log.types}
    assert sorted(CATALOGUE.keys() - seen) == []
    assert sorted(seen - CATALOGUE.keys()) == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_logs_of_a_story_break_no_rule(played: Repertoire, name: str) -> None:
    for log in played(name).logs:
        assert list(check(map(decode_envelope, log.envelopes))) == []
        assert list(verify(log.envelopes)) == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_logs_of_a_story_fit_the_published_schema(
    played: Repertoire, name: str, schema: jsonschema_rs.Draft202012Validator
) -> None:
    assert [str(error) for error in _errors(played, name, schema)] == []


def _errors(
    played: Repertoire, name: str, schema: jsonschema_rs.Draft202012Validator
) -> Iterator[jsonschema_rs.ValidationError]:
    for log in played(name).logs:
        for envelope in log.envelopes:
            yield from schema.iter_errors(json.loads(envelope))
