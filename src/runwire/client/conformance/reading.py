"""Scenarios about a log that is read at once: cursors, pages, filters, lines."""

import msgspec

from runwire.client.conformance.asking import Params
from runwire.client.conformance.scenario import NotApplicable, Scenario, Subject, decoded, refused, require, same
from runwire.protocol import chain
from runwire.protocol.catalogue import type_filter
from runwire.protocol.envelope import type_of
from runwire.protocol.verify import verify

_PAGE = 3
_MOST = 5000
_NDJSON = "application/x-ndjson"


async def _page(subject: Subject, *, last_event_id: str | None = None, **params: str | int) -> dict[str, msgspec.Raw]:
    headers = {} if last_event_id is None else {"last-event-id": last_event_id}
    page = decoded(await subject.asker.get(subject.events, params, headers), "BULK-1")
    for name in ("object", "data", "has_more", "next_after_sequence"):
        require(name in page, "BULK-1", f"a page has no {name}")
    require(bytes(page["object"]) == b'"list"', "BULK-1", "the object of a page is not list")
    return page


def _envelopes(page: dict[str, msgspec.Raw]) -> list[bytes]:
    return [bytes(one) for one in msgspec.json.decode(page["data"], type=list[msgspec.Raw])]


async def _whole(subject: Subject) -> None:
    found: list[bytes] = []
    while len(found) < len(subject.log):
        page = _envelopes(await _page(subject, limit=_MOST, after_sequence=len(found) - 1))
        same(page, subject.log[len(found) : len(found) + _MOST], "BULK-3", "the list")
        found += page
    if len(subject.log) <= _MOST:
        page = _envelopes(await _page(subject, limit=_MOST))
        same(page, subject.log, "CUR-1", "the list without a cursor")


async def _rules(subject: Subject) -> None:
    for breach in verify(subject.log):
        require(False, breach.rule, f"at sequence {breach.sequence}: {breach.message}")
    run = decoded(await subject.asker.get(f"/runs/{subject.run_id}"), "CHAIN-2")
    head = chain.GENESIS
    for envelope in subject.log:
        head = chain.link(head, envelope)
    told = msgspec.json.decode(run.get("head_hash", b"null"))
    require(told == chain.show(head), "CHAIN-2", f"head_hash is {told}, but the log leads to {chain.show(head)}")


async def _cursors(subject: Subject) -> None:
    for after in sorted({-1, 0, subject.head // 2, subject.head - 1, subject.head}):
        page = await _page(subject, after_sequence=after, limit=_MOST)
        same(_envelopes(page), subject.log[after + 1 :][:_MOST], "CUR-1", f"after_sequence={after}")


async def _last_event_id(subject: Subject) -> None:
    middle = subject.head // 2
    for after in ("-1", str(subject.head), "nonsense"):
        page = await _page(subject, last_event_id=str(middle), after_sequence=after, limit=_MOST)
        where = f"Last-Event-ID: {middle} with after_sequence={after}"
        same(_envelopes(page), subject.log[middle + 1 :][:_MOST], "CUR-2", where)


async def _no_cursors(subject: Subject) -> None:
    for cursor in ("x", "1.5", "-2", "0x1"):
        answer = await subject.asker.get(subject.events, {"after_sequence": cursor})
        refused(answer, 400, "invalid_cursor", "CUR-3")


async def _ahead(subject: Subject) -> None:
    answer = await subject.asker.get(subject.events, {"after_sequence": subject.head + 1})
    error = refused(answer, 400, "cursor_ahead", "CUR-4")
    details = error["details"]
    head = details.get("head") if isinstance(details, dict) else None
    require(head == subject.head, "CUR-4", f"details.head is {head}, but the head is {subject.head}")


async def _filters(subject: Subject) -> None:
    for types in ("run.*", "*", "run.queued,run.started", "*.started", "no.such"):
        accepts = type_filter(types)
        expected = [envelope for envelope in subject.log if accepts(type_of(envelope))][:_MOST]
        same(_envelopes(await _page(subject, type=types, limit=_MOST)), expected, "CUR-5", f"type={types}")


async def _pages(subject: Subject) -> None:
    after, found = -1, list[bytes]()
    for _ in range(min(len(subject.log), 50)):
        page = await _page(subject, after_sequence=after, limit=_PAGE)
        found += _envelopes(page)
        after = msgspec.json.decode(page["next_after_sequence"], type=int)
        if bytes(page["has_more"]) != b"true":
            require(len(found) == len(subject.log), "BULK-1", f"has_more is false after {len(found)} events")
            break
    same(found, subject.log[: len(found)], "BULK-1", "pages joined by next_after_sequence")


async def _limits(subject: Subject) -> None:
    for limit in ("0", "5001", "x", "-1"):
        refused(await subject.asker.get(subject.events, {"limit": limit}), 400, "invalid_limit", "BULK-2")
    page = _envelopes(await _page(subject, limit=1))
    same(page, subject.log[:1], "BULK-2", "limit=1")


async def _both_paths(subject: Subject) -> None:
    if subject.task_id is None:
        raise NotApplicable("the run belongs to no task")
    long = f"/tasks/{subject.task_id}{subject.events}"
    cursors: tuple[Params, ...] = ({}, {"after_sequence": 1}, {"after_sequence": "x"})
    for params in cursors:
        one, other = await subject.asker.get(subject.events, params), await subject.asker.get(long, params)
        require(one.status == other.status, "CUR-6", f"one path answers {one.status}, the other {other.status}")
        require(one.status != 200 or one.body == other.body, "CUR-6", "the two paths answer with other bytes")


async def _lines(subject: Subject) -> None:
    answer = await subject.asker.get(subject.events, headers={"accept": _NDJSON})
    require(answer.status == 200, "BULK-4", f"the answer is {answer.status} instead of 200")
    kind = answer.headers.get("content-type", "")
    require(kind.startswith(_NDJSON), "BULK-4", f"the content type is {kind}")
    require(answer.body.endswith(b"\n"), "BULK-4", "the last line has no end")
    same(answer.body[:-1].split(b"\n"), subject.log, "BULK-4", "the lines")


SCENARIOS = (
    Scenario(
        "list-whole", ("BULK-1", "BULK-3", "CUR-1"), "The list holds the stored envelopes, byte for byte.", _whole
    ),
    Scenario(
        "log-rules",
        ("CHAIN-2",),
        "The log keeps every rule of form, sequence and lifecycle, and leads to `head_hash`.",
        _rules,
    ),
    Scenario("cursor-strict", ("CUR-1",), "`after_sequence=N` gives what is greater than N, for every N.", _cursors),
    Scenario(
        "cursor-header", ("CUR-2",), "`Last-Event-ID` beats `after_sequence`, whatever that says.", _last_event_id
    ),
    Scenario("cursor-invalid", ("CUR-3", "ERR-1"), "What is no cursor is 400 `invalid_cursor`.", _no_cursors),
    Scenario(
        "cursor-ahead", ("CUR-4", "ERR-1"), "A cursor beyond the head is 400 `cursor_ahead` and tells the head.", _ahead
    ),
    Scenario("type-filter", ("CUR-5",), "`type` chooses by patterns in which `*` stands for any text.", _filters),
    Scenario("list-pages", ("BULK-1",), "Pages lead on without a hole and without a repetition.", _pages),
    Scenario(
        "list-limit", ("BULK-2", "ERR-1"), "`limit` is 1 to 5000, and anything else 400 `invalid_limit`.", _limits
    ),
    Scenario("both-paths", ("CUR-6",), "The path with the task and the path without answer alike.", _both_paths),
    Scenario(
        "lines-whole", ("BULK-4",), "As `application/x-ndjson` the whole log comes, one stored envelope a line.", _lines
    ),
)
