"""Scenarios about what a server refuses, and how, and about what it takes in."""

import msgspec

from runwire.client.conformance.scenario import NotApplicable, Scenario, Subject, decoded, refused, require, same

_NDJSON = "application/x-ndjson"
_NOBODY = "run_00000000000000000000000000"
_FIELD = "no_such_field"


async def _unknown(subject: Subject) -> None:
    for path in (f"/runs/{_NOBODY}", f"/runs/{_NOBODY}/events"):
        refused(await subject.asker.get(path), 404, "run_not_found", "ERR-3")


async def _stranger(subject: Subject) -> None:
    if subject.asker.token is None:
        raise NotApplicable("no token was given, so nothing tells us from a stranger")
    for path in ("/runs", subject.events, "/events"):
        refused(await subject.asker.get(path, known=False), 401, "", "ACC-1")


async def _kept(subject: Subject) -> None:
    if not subject.imported:
        raise NotApplicable("the server takes in no run from us")
    answer = await subject.asker.get(subject.events, headers={"accept": _NDJSON})
    same(answer.body.split(b"\n")[:-1], subject.log, "CHAIN-4", "what was imported")
    again = await subject.asker.post("/import", _joined(subject.log), _NDJSON)
    require(again.status in {200, 201}, "CHAIN-4", f"the same import once more is answered with {again.status}")
    others = [line.replace(b'"n":0', b'"n":9') for line in subject.log]
    refused(await subject.asker.post("/import", _joined(others), _NDJSON), 409, "", "CHAIN-4")
    answer = await subject.asker.get(subject.events, headers={"accept": _NDJSON})
    same(answer.body.split(b"\n")[:-1], subject.log, "ERR-4", "after an import that was refused")


async def _foreign_type(subject: Subject) -> None:
    if not subject.imported:
        raise NotApplicable("we may not write")
    body = msgspec.json.encode({"type": "run.finished", "data": {}})
    refused(await subject.asker.post(subject.events, body), 403, "", "EXT-1")
    run = decoded(await subject.asker.get(f"/runs/{subject.run_id}"), "EXT-1")
    head = msgspec.json.decode(run.get("head_sequence", b"null"))
    require(head == subject.head, "EXT-1", f"the head is {head} after a refused append, and was {subject.head}")


async def _unknown_field(subject: Subject) -> None:
    if not subject.imported:
        raise NotApplicable("we may not write")
    body = msgspec.json.encode({"prompt": "nothing", "start": False, _FIELD: 1})
    answer = await subject.asker.post("/tasks", body)
    refused(answer, 422, "", "ERR-2")
    require(_FIELD.encode() in answer.body, "ERR-2", "the error does not name the field")


async def _schemas(subject: Subject) -> None:
    for name in ("envelope", "run.finished", "tool.shell.command"):
        schema = decoded(await subject.asker.get(f"/schemas/events/v1/{name}.json"), "TYP-9")
        require("$schema" in schema or "type" in schema, "TYP-9", f"{name}.json is no JSON Schema")


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


SCENARIOS = (
    Scenario(
        "error-unknown-run",
        ("ERR-1", "ERR-3"),
        "An unknown run is 404 `run_not_found`, in the one shape of errors.",
        _unknown,
    ),
    Scenario("access-token", ("ACC-1", "ERR-1"), "Without a token the answer is 401.", _stranger),
    Scenario(
        "import-bytes",
        ("CHAIN-4", "TYP-3", "ERR-4"),
        "An import keeps every byte; the same again is fine, other bytes are 409.",
        _kept,
    ),
    Scenario("append-external", ("EXT-1",), "Outside callers append nothing but `external.*`.", _foreign_type),
    Scenario("body-unknown-field", ("ERR-2",), "A field that nobody knows is 422, and named.", _unknown_field),
    Scenario("schemas-served", ("TYP-9",), "The schemas of the envelope and of every type are served.", _schemas),
)
