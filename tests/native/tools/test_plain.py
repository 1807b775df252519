"""The tools that touch nothing outside the log, and the list of all of them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from runwire.host import ToolInputInvalid
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.native.tools.artifact_read import SHOWN_MAX_BYTES
from runwire.native.tools.catalogue import input_shapes
from runwire.native.tools.schema import spec_of
from runwire.protocol.events.artifact import ArtifactReferenced
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import ToolStarted
from runwire.testing.host import FakeHost
from tests.native.tools.workbench import Bench, bench, facts_for

NAMES = "shell_exec file_read file_write edit_file multi_edit glob grep todo_write http_request web_fetch artifact_read".split()


async def test_the_tools_of_a_run_are_those_of_its_kind(workspace: Path, data: Path) -> None:
    facts = facts_for(workspace)
    children = frozenset({"run.child_started", "run.child_finished"})
    expected = {
        "agent_loop": NAMES,
        "shell": ["shell_exec"],
        "git": ["git_exec"],
        "file": ["file_write", "edit_file", "file_delete"],
    }
    for kind, names in expected.items():
        async with bench(data, FakeHost(facts=replace(facts, kind=kind))) as made:
            assert [tool.name for tool in made.toolset.tools] == names
    async with bench(data, FakeHost(facts=replace(facts, experimental=children))) as made:
        assert [tool.name for tool in made.toolset.tools] == [*NAMES, "spawn_agent"]
        assert [one.tool_name for one in made.toolset.unavailable] == ["web_search"]


async def test_every_tool_says_in_one_piece_what_it_takes(ready: Bench) -> None:
    for tool in ready.toolset.tools:
        spec = spec_of(tool)
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert "$ref" not in str(spec.schema)
        assert spec.about
    assert {shape.name for shape in input_shapes()} >= {tool.name for tool in ready.toolset.tools}


async def test_a_list_of_what_is_to_be_done_is_told(ready: Bench) -> None:
    todos = [{"content": "a", "status": "completed"}, {"content": "b"}]
    result = await ready.call("todo_write", {"todos": todos})
    assert result.summary == "2 to do, 1 done"
    told = ready.host.payloads[-1]
    assert isinstance(told, TodoWriteUpdated)
    assert [(todo.content, todo.status) for todo in told.todos] == [("a", "completed"), ("b", "pending")]
    with pytest.raises(ToolInputInvalid, match="todos"):
        await ready.call("todo_write", {"todos": [{"content": "x"}] * 201})


async def test_an_artifact_of_the_task_is_read_and_its_use_is_told(ready: Bench) -> None:
    meta = ArtifactMeta(mime="text/plain")
    draft = await ready.host.draft(NewArtifact("command_output", meta), b"x" * SHOWN_MAX_BYTES + b"tail")
    ready.host.emit(kept=[draft])
    ready.host.emit(ToolStarted(tool_call_id="call_1", tool_name="artifact_read", kind="file"))
    started = ready.host.log[-1].event_id
    artifact_id = draft.artifact.artifact_id
    result = await ready.call("artifact_read", {"artifact_id": artifact_id})
    assert result.output.endswith(f"go on with offset {SHOWN_MAX_BYTES}]")
    rest = await ready.call("artifact_read", {"artifact_id": artifact_id, "offset": SHOWN_MAX_BYTES})
    assert rest.output == "tail"
    told = ready.host.payloads[-1]
    assert told == ArtifactReferenced(artifact_id=artifact_id, by_event_id=started, relation="consumed")
    assert (await ready.call("artifact_read", {"artifact_id": "art_none"})).code == "artifact_not_found"


async def test_a_part_of_the_work_can_be_handed_on(workspace: Path, data: Path) -> None:
    children = frozenset({"run.child_started", "run.child_finished"})
    async with bench(data, FakeHost(facts=facts_for(workspace, experimental=children))) as made:
        result = await made.call("spawn_agent", {"prompt": "look"})
        assert (result.outcome, result.output) == ("completed", "native: look")


async def test_git_is_run_by_a_run_of_that_kind(workspace: Path, data: Path) -> None:
    async with bench(data, FakeHost(facts=facts_for(workspace, kind="git"))) as made:
        assert (await made.call("git_exec", {"args": ["init", "-q"]})).outcome == "completed"
        assert (workspace / ".git").is_dir()
        assert (await made.call("git_exec", {"args": ["status", "--nonsense"]})).code == "nonzero_exit"
