"""The kit: find or make a run to ask about, then hold a server to one scenario after the other."""

from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from runwire.client.conformance import manners, reading, streaming
from runwire.client.conformance.asking import Asker
from runwire.client.conformance.scenario import Broken, NotApplicable, Result, Scenario, Subject
from runwire.clock import rfc3339
from runwire.errors import GatewayUnreachable, NotFound
from runwire.protocol.envelope import EnvelopeWriter, MalformedEnvelope, decode_envelope
from runwire.protocol.events.run import RunQueued, RunStarted
from runwire.protocol.payload import Payload, encode_payload

SCENARIOS: Sequence[Scenario] = (*reading.SCENARIOS, *streaming.SCENARIOS, *manners.SCENARIOS)

_NDJSON = "application/x-ndjson"
_STEP_NS = 1_000_000
_FINISHED = frozenset({"completed", "failed", "cancelled"})
_OK = 200
_EVENTS_LEAST = 3
_DONE = frozenset({200, 201})
# Escapes, exponents, separators and keys that no encoder would write just so.
_ODD = (
    ("note", b'{"n":0,"escaped":"\\u00e9 \\/ \\ud83d\\ude00"}'),
    ("note", '{"n":1,"separators":"\u2028 \u2029 \u0085"}'.encode()),
    ("note", b'{"n":2,"number":1.0e2,"zero":-0.0,"long":12345678901234567890}'),
    ("note", b'{"n":3,"z":1,"a":2,"":3,"data: x":"id: 7"}'),
    ("progress_made", b'{"n":4,"text":"a line\\nanother line\\r\\n\\nand one more"}'),
    ("progress_made", b'{"n":5}'),
)


class NothingToCheck(NotFound):
    """The server has no run that is over, and takes none from us."""

    code = "nothing_to_check"
    hint = "give a token that may write, or name a run that is over and whole with --run"

    def __init__(self, why: str) -> None:
        super().__init__(f"there is no run to check the server with: {why}")


def recorded(new_id: Callable[[str], str], now_ns: int) -> list[bytes]:
    """A short run that keeps every rule, with bytes in it that a careless server would change."""
    run_id = new_id("run")
    writer = EnvelopeWriter(run_id=run_id, task_id=new_id("task"), session_id=new_id("chat"))
    told: list[tuple[str, bytes]] = [
        _told(RunQueued(kind="agent_loop", model="m", provider="p", workspace_path=None, workspace_mode=None)),
        _told(RunStarted(worker_id="conformance")),
        *((f"external.{name}", data) for name, data in _ODD),
        # A type and a field from the future.
        ("future.thing_happened", b'{"n":1,"nested":{"null":null,"list":[1,2.50,"x"]}}'),
        ("run.finished", b'{"final_status":"completed","turns":0,"cost_micros_usd":0,"duration_ms":9,"later":{"a":1}}'),
    ]
    return [
        writer.write(new_id("evt"), place, rfc3339(now_ns + place * _STEP_NS), event_type, data)
        for place, (event_type, data) in enumerate(told)
    ]


async def check(asker: Asker, log: list[bytes], *, run_id: str | None = None) -> AsyncGenerator[Result]:
    """Hold the server to every scenario with this log, which is imported; with `run_id`, with that run, and nothing is written."""
    subject = await (_imported(asker, log) if run_id is None else _found(asker, run_id))
    for scenario in SCENARIOS:
        yield await _result(scenario, subject)


async def _result(scenario: Scenario, subject: Subject) -> Result:
    try:
        await scenario.look(subject)
    except NotApplicable as why:
        return Result(scenario, "skipped", message=str(why))
    except Broken as broken:
        return Result(scenario, "breach", broken.rule, broken.message)
    except (GatewayUnreachable, TimeoutError) as lost:
        return Result(scenario, "breach", scenario.rules[0], f"no whole answer: {lost}")
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as wrong:
        return Result(scenario, "breach", scenario.rules[0], f"the answer has another shape: {wrong}")
    return Result(scenario, "ok")


async def _imported(asker: Asker, log: list[bytes]) -> Subject:
    before = await asker.get("/events", {"limit": 1, "from": "now"})
    answer = await asker.post("/import", b"".join(line + b"\n" for line in log), _NDJSON)
    if answer.status not in _DONE:
        return await _newest(asker, f"the import is answered with {answer.status}")
    names = decode_envelope(log[0])
    return Subject(
        asker=asker,
        run_id=names.run_id,
        task_id=names.task_id or None,
        log=log,
        imported=True,
        feed_cursor=_Page.read(before.body).next_cursor,
    )


async def _newest(asker: Asker, why: str) -> Subject:
    """The newest run that is over and whole."""
    answer = await asker.get("/runs", {"limit": 50})
    if answer.status != _OK:
        raise NothingToCheck(f"{why}, and the list of runs with {answer.status}")
    for run in _Page.read(answer.body).data:
        if run.status in _FINISHED and run.first_sequence == 0:
            return await _found(asker, run.run_id)
    raise NothingToCheck(f"{why}, and none of its last runs is over")


async def _found(asker: Asker, run_id: str) -> Subject:
    answer = await asker.get(f"/runs/{run_id}/events", headers={"accept": _NDJSON})
    log = answer.body.split(b"\n")[:-1]
    try:
        names = [decode_envelope(line) for line in log]
    except MalformedEnvelope as wrong:
        raise NothingToCheck(f"the log of {run_id} cannot be read: {wrong}") from wrong
    if answer.status != _OK or len(log) < _EVENTS_LEAST or names[-1].sequence != len(log) - 1:
        raise NothingToCheck(f"{run_id} is not there, or not whole")
    return Subject(
        asker=asker, run_id=run_id, task_id=names[0].task_id or None, log=log, imported=False, feed_cursor=None
    )


def _told(payload: Payload) -> tuple[str, bytes]:
    return payload.type, encode_payload(payload)


class _Run(msgspec.Struct, frozen=True):
    run_id: str
    status: str
    first_sequence: int = 0


class _Page(msgspec.Struct, frozen=True):
    data: list[_Run] = []
    next_cursor: str | None = None

    @classmethod
    def read(cls, body: bytes) -> "_Page":
        """What a list says, and nothing of one that cannot be read."""
        try:
            return msgspec.json.decode(body, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return cls()
