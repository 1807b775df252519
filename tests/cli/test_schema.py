"""`runwire schema` needs no gateway and describes every event."""

import re

import jsonschema_rs
import msgspec

from runwire.protocol.catalogue import CATALOGUE
from tests.cli.program import Shell
from tests.client.logs import envelope


def test_one_document_validates_any_event(shell: Shell) -> None:
    ended = shell.runwire("schema", "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.count(b"\n") == 1
    document = msgspec.json.decode(ended.out)
    assert set(CATALOGUE) <= set(document["$defs"])
    validator = jsonschema_rs.validator_for(document)
    good = msgspec.json.decode(envelope(0, "run.started", b'{"worker_id":"w","lease_until":null}'))
    bad = msgspec.json.decode(envelope(0, "run.started", b'{"worker_id":7}'))
    unknown = msgspec.json.decode(envelope(0, "future.thing", b'{"x":7}'))
    assert [validator.is_valid(event) for event in (good, bad, unknown)] == [True, False, True]


def test_one_type_is_printed_alone_and_readably(shell: Shell) -> None:
    ended = shell.runwire("schema", "tool.shell.exited")
    assert ended.status == 0
    assert msgspec.json.decode(ended.out)["title"] == "tool.shell.exited"
    assert ended.out.count(b"\n") > 10


def test_an_older_name_means_the_type_that_it_became(shell: Shell) -> None:
    assert shell.runwire("schema", "tool.file.applied").out == shell.runwire("schema", "tool.edit.applied").out


def test_typescript_types_are_printed(shell: Shell) -> None:
    ended = shell.runwire("schema", "--typescript")
    assert ended.status == 0
    assert b"export type EventType" in ended.out


def test_the_typescript_type_of_one_event_is_printed_with_what_it_refers_to(shell: Shell) -> None:
    everything = shell.runwire("schema", "--typescript").out
    for name, declared in (
        ("tool.shell.exited", [b"ShellExited"]),
        ("tool.file.applied", [b"EditApplied"]),
        ("gap.events_pruned", [b"Anchor", b"GapEventsPruned"]),
        ("envelope", [b"EnvelopeOf<T"]),
    ):
        ended = shell.runwire("schema", name, "--typescript")
        assert (ended.status, ended.err) == (0, "")
        assert re.findall(rb"^export interface (\S+)", ended.out, re.MULTILINE) == declared
        assert ended.out in everything or len(declared) > 1
    assert shell.runwire("schema", "event", "--typescript").out == everything
    assert shell.runwire("schema", "no.such_type", "--typescript").status == 4


def test_an_unknown_type_is_not_found(shell: Shell) -> None:
    ended = shell.runwire("schema", "no.such_type")
    assert (ended.status, ended.out) == (4, b"")
    assert ended.err.startswith("error: there is no event type 'no.such_type'\nhint:  ")
