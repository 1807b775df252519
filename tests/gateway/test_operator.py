"""What an operator does over HTTP: tokens and pruning."""

import pytest

from tests.gateway.serving import V1, Served, caller, error_of
from tests.spec import spec


async def test_a_token_is_made_shown_once_listed_and_revoked(gateway: Served) -> None:
    made = await gateway.http.post(f"{V1}/tokens", json={"name": "ci", "scopes": ["write", "read"], "ttl_s": 60})
    assert made.status_code == 201
    token = made.json()
    assert (token["object"], token["name"], token["scopes"]) == ("token", "ci", ["read", "write"])
    assert token["expires_at"] > token["created_at"]
    async with caller(gateway.port, token["token"]) as http:
        assert (await http.get(f"{V1}/runs")).status_code == 200
    listed = await gateway.http.get(f"{V1}/tokens")
    assert token["token"] not in listed.text
    assert token["token_id"] in [each["token_id"] for each in listed.json()["data"]]
    assert (await gateway.http.delete(f"{V1}/tokens/{token['token_id']}")).status_code == 204
    async with caller(gateway.port, token["token"]) as http:
        assert (await http.get(f"{V1}/runs")).status_code == 401
    (revoked,) = [
        each
        for each in (await gateway.http.get(f"{V1}/tokens")).json()["data"]
        if each["token_id"] == token["token_id"]
    ]
    assert revoked["revoked_at"] is not None


@spec("ERR-2", "ERR-4")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "ci", "scopes": ["read"], "scope": "x"}, "unknown_field"),
        ({"name": "ci", "scopes": ["root"]}, "invalid_body"),
        ({"name": "ci", "scopes": []}, "invalid_body"),
        ({"name": "", "scopes": ["read"]}, "invalid_body"),
        ({"name": " ", "scopes": ["read"]}, "invalid_body"),
        ({"name": "ci", "scopes": ["read"], "ttl_s": 0}, "invalid_body"),
        ({"name": "ci", "scopes": ["read"], "ttl_s": 1e300}, "invalid_body"),
        ({"scopes": ["read"]}, "invalid_body"),
    ],
)
async def test_a_token_that_makes_no_sense_is_not_made(gateway: Served, body: dict[str, object], code: str) -> None:
    before = (await gateway.http.get(f"{V1}/tokens")).json()
    response = await gateway.http.post(f"{V1}/tokens", json=body)
    assert response.status_code == 422
    assert error_of(response)["code"] == code
    assert (await gateway.http.get(f"{V1}/tokens")).json() == before


@spec("RED-7", "ERR-4")
async def test_a_token_is_not_named_after_a_secret(gateway: Served) -> None:
    before = (await gateway.http.get(f"{V1}/tokens")).json()
    response = await gateway.http.post(f"{V1}/tokens", json={"name": f"of {gateway.token}", "scopes": ["read"]})
    assert response.status_code == 422
    assert error_of(response)["code"] == "invalid_body"
    assert gateway.token not in response.text
    assert (await gateway.http.get(f"{V1}/tokens")).json() == before


async def test_a_wrong_field_is_named_with_its_place(gateway: Served) -> None:
    response = await gateway.http.post(f"{V1}/tokens", json={"name": "ci", "scopes": ["read", 7]})
    assert error_of(response)["details"]["field"] == "scopes[1]"


async def test_a_token_that_is_not_there_cannot_be_revoked(gateway: Served) -> None:
    response = await gateway.http.delete(f"{V1}/tokens/tok_none")
    assert response.status_code == 404
    assert error_of(response)["code"] == "token_not_found"


@spec("GAP-1")
async def test_pruning_says_what_went_and_a_rehearsal_changes_nothing(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(20)))
    wish = {"run_id": "run_1", "through_sequence": 9}
    rehearsed = (await gateway.http.post(f"{V1}/prune", json={**wish, "dry_run": True})).json()
    assert rehearsed["dry_run"] is True
    assert (await gateway.http.get(f"{V1}/runs/run_1")).json()["first_sequence"] == 0
    done = (await gateway.http.post(f"{V1}/prune", json=wish)).json()
    assert done["data"] == rehearsed["data"]
    assert done["data"] == [{"run_id": "run_1", "events": 10, "through_sequence": 9, "reason": "operator"}]
    assert (await gateway.http.get(f"{V1}/runs/run_1")).json()["first_sequence"] == 9
    counted = (await gateway.http.post(f"{V1}/prune", json={"max_events": 5})).json()
    assert [each["run_id"] for each in counted["data"]] == ["run_1"]


@spec("ERR-2")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid_body"),
        ({"max_age": 1}, 422, "unknown_field"),
        ({"max_events": 0}, 422, "invalid_body"),
        ({"through_sequence": 1}, 422, "invalid_body"),
        ({"run_id": "run_1", "through_sequence": 1, "max_events": 5}, 422, "invalid_body"),
        ({"run_id": "run_none", "through_sequence": 1}, 404, "run_not_found"),
        ({"run_id": "run_none", "max_events": 1}, 404, "run_not_found"),
    ],
)
async def test_pruning_needs_to_be_told_what_may_stay(
    gateway: Served, body: dict[str, object], status: int, code: str
) -> None:
    response = await gateway.http.post(f"{V1}/prune", json=body)
    assert response.status_code == status
    assert error_of(response)["code"] == code
