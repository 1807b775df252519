"""Every failure has one exit status."""

import pytest

from runwire.cli.statuses import hint_of, status_of
from runwire.errors import (
    ConfigInvalid,
    GatewayError,
    GatewayUnreachable,
    ImportConflict,
    InvalidCursor,
    RunNotFound,
    RunwireError,
    StoreBusy,
    StoreFull,
)


def _answered(status: int) -> GatewayError:
    details = {"request_id": "req_1"}
    return GatewayError("no", code="some_code", status=status, hint="look at the log", details=details)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (_answered(400), 2),
        (_answered(401), 1),
        (_answered(403), 1),
        (_answered(404), 4),
        (_answered(409), 5),
        (_answered(413), 1),
        (_answered(422), 1),
        (_answered(500), 1),
        (_answered(503), 1),
        (GatewayUnreachable("http://127.0.0.1:9", cause="refused"), 3),
        (RunNotFound("run_1"), 4),
        (ImportConflict("run_1", sequence=3), 5),
        (StoreBusy(), 5),
        (StoreFull(), 1),
        (InvalidCursor("x"), 2),
        (ConfigInvalid("environment", "nonsense"), 2),
        (RunwireError("something else"), 1),
    ],
)
def test_a_failure_has_the_status_that_the_contract_gives_it(error: RunwireError, status: int) -> None:
    assert status_of(error) == status


def test_hints_speak_to_whoever_types_commands() -> None:
    assert "--token" in hint_of(_answered(401))
    assert hint_of(_answered(500)) == "look at the log (req_1)"
    assert hint_of(_answered(404)) == "look at the log"
