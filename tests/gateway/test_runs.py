"""Runs as resources."""

import pytest

from runwire.journal.records import RunBirth
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.run import RunFailed
from tests.gateway.serving import QUEUED, STARTED, V1, Served, error_of
from tests.spec import spec


@spec("CHAIN-2", "STA-1", "STA-3")
async def test_a_run_shows_where_it_stands_and_where_its_log_ends(gateway: Served) -> None:
    await gateway.run()
    shown = (await gateway.http.get(f"{V1}/runs/run_1")).json()
    info = await gateway.services.journal.reader.run("run_1")
    assert shown["object"] == "run"
    assert (shown["run_id"], shown["task_id"], shown["session_id"], shown["agent"]) == (
        "run_1",
        "task_1",
        "chat_1",
        "zot",
    )
    assert (shown["status"], shown["pane"]["state"]) == ("running", "working")
    assert (shown["first_sequence"], shown["head_sequence"]) == (0, 1)
    assert shown["head_hash"] == f"sha256:{info.head_hash.hex()}"
    assert shown["usage"] == {"turns": 0, "input_tokens": 0, "output_tokens": 0, "cached_input_tokens": 0}
    assert (await gateway.http.get(f"{V1}/tasks/task_1/runs/run_1")).json() == shown
    await gateway.finish("run_1")
    ended = (await gateway.http.get(f"{V1}/runs/run_1")).json()
    assert (ended["status"], ended["pane"]["state"], ended["head_sequence"]) == ("completed", "done", 2)
    assert ended["finished_at"] is not None


@spec("STA-5")
async def test_a_run_that_needs_somebody_says_so(gateway: Served) -> None:
    asked = ApprovalRequested(
        approval_id="appr_1",
        tool_call_id="call_1",
        kind="shell_command",
        summary="rm -rf build",
        policy_reason="it deletes",
    )
    await gateway.run(QUEUED, STARTED, asked)
    shown = (await gateway.http.get(f"{V1}/runs/run_1")).json()
    assert shown["status"] == "awaiting_approval"
    assert (shown["pane"]["state"], shown["pane"]["attention"]) == ("blocked", True)
    assert [pending["approval_id"] for pending in shown["pending_approvals"]] == ["appr_1"]


async def test_a_pruned_run_says_where_it_begins(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(10)))
    await gateway.services.retention.prune("run_1", 5)
    assert (await gateway.http.get(f"{V1}/runs/run_1")).json()["first_sequence"] == 5


@pytest.mark.parametrize("size", [1, 2, 50])
async def test_runs_are_listed_newest_first_page_by_page(gateway: Served, size: int) -> None:
    for number in range(5):
        await gateway.run(run_id=f"run_{number}")
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await gateway.http.get(f"{V1}/runs", params={"limit": size, **cursor})).json()
        found += [run["run_id"] for run in page["data"]]
        assert page["has_more"] is (page["next_cursor"] is not None)
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == ["run_4", "run_3", "run_2", "run_1", "run_0"]


async def test_runs_are_found_by_what_they_are(gateway: Served) -> None:
    journal = gateway.services.journal
    await journal.create_run(RunBirth("run_a", "task_a", "chat_a", "zot"), [QUEUED, STARTED])
    await journal.create_run(
        RunBirth("run_b", "task_a", None, "pi"), [QUEUED, RunFailed(code="x", message="y", turns=0)]
    )

    async def found(path: str, **params: str) -> list[str]:
        return [run["run_id"] for run in (await gateway.http.get(V1 + path, params=params)).json()["data"]]

    assert await found("/runs", status="failed") == ["run_b"]
    assert await found("/runs", agent="zot") == ["run_a"]
    assert await found("/runs", session_id="chat_a") == ["run_a"]
    assert await found("/runs", agent="nobody") == []
    assert await found("/tasks/task_a/runs") == ["run_b", "run_a"]
    assert await found("/tasks/task_a/runs", status="running") == ["run_a"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/tasks/nope/runs", 404, "task_not_found"),
        ("/runs?limit=0", 400, "invalid_limit"),
        ("/runs?limit=501", 400, "invalid_limit"),
        ("/runs?cursor=%20", 400, "invalid_cursor"),
        ("/runs?cursor=run_gone", 400, "invalid_cursor"),
        ("/runs?status=sleeping", 400, "invalid_filter"),
    ],
)
async def test_a_list_that_makes_no_sense_is_refused(gateway: Served, path: str, status: int, code: str) -> None:
    await gateway.run()
    response = await gateway.http.get(V1 + path)
    assert response.status_code == status
    assert error_of(response)["code"] == code


@pytest.mark.parametrize(
    ("beginning", "found"),
    [("run_1", ["run_12", "run_1"]), ("run_12", ["run_12"]), ("run_", ["run_2", "run_12", "run_1"]), ("run_%", [])],
)
async def test_runs_are_found_by_the_beginning_of_their_ids(gateway: Served, beginning: str, found: list[str]) -> None:
    for run_id in ("run_1", "run_12", "run_2"):
        await gateway.run(run_id=run_id)
    listed = (await gateway.http.get(f"{V1}/runs", params={"id_prefix": beginning})).json()
    assert [run["run_id"] for run in listed["data"]] == found
