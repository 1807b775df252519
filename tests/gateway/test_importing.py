"""A run leaves as a file and comes back as the same run."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.gateway.serving import NDJSON, V1, Served, error_of, serving
from tests.spec import spec


@pytest.fixture
async def log(tmp_path: Path) -> bytes:
    async with serving(tmp_path / "elsewhere") as gateway:
        await gateway.run()
        await gateway.say("run_1", *map(str, range(500)))
        await gateway.finish("run_1")
        return (await gateway.http.get(f"{V1}/runs/run_1/events", headers=NDJSON)).content


@spec("CHAIN-4", "SEQ-6")
async def test_what_was_exported_is_imported_byte_for_byte(gateway: Served, log: bytes) -> None:
    response = await gateway.http.post(f"{V1}/import", content=log)
    assert (response.status_code, response.json()["run_id"]) == (201, "run_1")
    assert (await gateway.http.get(f"{V1}/runs/run_1/events", headers=NDJSON)).content == log
    shown = (await gateway.http.get(f"{V1}/runs/run_1")).json()
    assert (shown["status"], shown["head_sequence"], shown["agent"]) == ("completed", 502, "external")
    assert not list(gateway.services.config.data.glob("import-*"))


@spec("CHAIN-4")
async def test_the_same_again_is_fine_and_other_bytes_are_a_conflict(gateway: Served, log: bytes) -> None:
    for _ in range(2):
        assert (await gateway.http.post(f"{V1}/import", content=log)).status_code == 201
    other = await gateway.http.post(f"{V1}/import", content=log.replace(b'"text":"7"', b'"text":"8"'))
    assert other.status_code == 409
    error = error_of(other)
    assert (error["code"], error["details"]["sequence"]) == ("import_conflict", 9)
    assert (await gateway.http.get(f"{V1}/runs/run_1/events", headers=NDJSON)).content == log


@spec("ERR-4")
@pytest.mark.parametrize("damage", ["", "nonsense\n", "{}\n"])
async def test_a_file_that_breaks_a_rule_leaves_nothing_behind(gateway: Served, log: bytes, damage: str) -> None:
    lines = log.splitlines(keepends=True)
    body = b"".join(lines[:10]) + damage.encode() + b"".join(lines[11:]) if damage else b""
    response = await gateway.http.post(f"{V1}/import", content=body)
    assert response.status_code == 422
    assert error_of(response)["code"] == "import_invalid"
    assert (await gateway.http.get(f"{V1}/runs")).json()["data"] == []
    assert not list(gateway.services.config.data.glob("import-*"))


async def test_a_file_is_taken_in_as_it_comes(gateway: Served, log: bytes) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for start in range(0, len(log), 1000):
            yield log[start : start + 1000]

    response = await gateway.http.post(f"{V1}/import", content=pieces(), params={"agent": "pi"})
    assert response.status_code == 201
    assert (await gateway.http.get(f"{V1}/runs/run_1")).json()["agent"] == "pi"


@spec("EXT-4")
async def test_a_key_stands_for_one_file(gateway: Served, log: bytes) -> None:
    key = {"idempotency-key": "k-1"}
    assert (await gateway.http.post(f"{V1}/import", content=log, headers=key)).status_code == 201
    again = await gateway.http.post(f"{V1}/import", content=log, headers=key)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    other = await gateway.http.post(f"{V1}/import", content=log.replace(b"run_1", b"run_2"), headers=key)
    assert other.status_code == 409
    assert error_of(other)["code"] == "idempotency_conflict"


async def test_an_agent_that_is_no_name_is_refused(gateway: Served, log: bytes) -> None:
    response = await gateway.http.post(f"{V1}/import", content=log, params={"agent": "a b"})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_filter"


@spec("RED-1", "RED-7", "ERR-4")
async def test_an_agent_that_holds_a_secret_is_refused(gateway: Served, log: bytes) -> None:
    response = await gateway.http.post(f"{V1}/import", content=log, params={"agent": f"pi.{gateway.token}"})
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_filter"
    assert gateway.token not in response.text
    assert (await gateway.http.get(f"{V1}/runs")).json()["data"] == []


@spec("ERR-4")
async def test_a_file_above_the_limit_is_refused(tmp_path: Path, log: bytes) -> None:
    async with serving(tmp_path / "data", import_limit_bytes=len(log)) as gateway:
        response = await gateway.http.post(f"{V1}/import", content=log + b"\n")
        assert response.status_code == 413
        error = error_of(response)
        assert (error["code"], error["details"]) == ("body_too_large", {"limit_bytes": len(log)})
        assert (await gateway.http.get(f"{V1}/runs")).json()["data"] == []
        assert (await gateway.http.post(f"{V1}/import", content=log)).status_code == 201
