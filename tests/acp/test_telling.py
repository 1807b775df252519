"""What an editor is told of events, without any editor."""

import msgspec

from runwire.acp.telling import Telling
from runwire.acp.updates import Update
from runwire.client.render.blocks import Edit
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.assistant import AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.edit import EditProposed
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.events.tool import ToolCompleted, ToolInvoked
from runwire.protocol.payload import Payload
from tests.protocol.logs import turn_completed

RUN = "run_01JC0000000000000000000001"
DIFF = """diff --git a/a.txt b/a.txt
index 0000000000000000000000000000000000000001..0000000000000000000000000000000000000002 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
-one
+two
 same
@@ -9 +9 @@
-nine
+ten
"""


class Told:
    """A run as it is told."""

    def __init__(self, *, live: bool = True) -> None:
        self.telling = Telling(root="/folder", live=live)
        self._writer = EnvelopeWriter(run_id=RUN)
        self._sequence = 0

    def take(self, payload: Payload, diff: str = "") -> list[dict[str, object]]:
        """What one event makes it say."""
        data = msgspec.json.encode(payload)
        envelope = self._writer.write(
            f"evt_{self._sequence:026}", self._sequence, "2026-11-16T00:00:00.000000000Z", payload.type, data
        )
        self._sequence += 1
        block = self.telling.draw(envelope)
        if isinstance(block, Edit):
            self.telling.drawing.show_diff(block.artifact_ids, diff)
        return plain(self.telling.tell(envelope, block))


def plain(updates: list[Update]) -> list[dict[str, object]]:
    """Updates as they are written."""
    return [msgspec.convert(msgspec.to_builtins(one), dict[str, object]) for one in updates]


def proposed(call: str = "call_1", name: str = "shell_exec") -> AssistantToolCallProposed:
    return AssistantToolCallProposed(turn_index=0, tool_call_id=call, tool_name=name, input={"command": "ls"})


def invoked(call: str = "call_1", name: str = "shell_exec", kind: str = "shell") -> ToolInvoked:
    return ToolInvoked(tool_call_id=call, tool_name=name, kind=kind, turn_index=0)


def completed(call: str = "call_1", name: str = "shell_exec", kind: str = "shell") -> ToolCompleted:
    return ToolCompleted(tool_call_id=call, tool_name=name, kind=kind, duration_ms=1)


def printed(text: str) -> ShellOutputChunk:
    return ShellOutputChunk(tool_call_id="call_1", stream="stdout", data=text, byte_offset=0)


def test_a_call_is_told_once_and_then_only_what_is_new_about_it() -> None:
    told = Told()
    (begun,) = told.take(proposed())
    assert (begun["sessionUpdate"], begun["status"], begun["kind"]) == ("tool_call", "pending", "execute")
    assert told.take(invoked()) == [
        {"sessionUpdate": "tool_call_update", "toolCallId": begun["toolCallId"], "status": "in_progress"}
    ]
    (shown,) = told.take(printed("a\x1b[31mb\n"))
    assert set(shown) == {"sessionUpdate", "toolCallId", "content"}
    assert shown["content"] == [{"type": "content", "content": {"type": "text", "text": "```\nab\n```"}}]
    assert [set(one) for one in told.take(completed())] == [{"sessionUpdate", "toolCallId", "status"}]


def test_an_id_that_an_agent_uses_again_is_another_call_for_the_editor() -> None:
    told = Told()
    first = told.take(invoked())[0]["toolCallId"]
    told.take(completed())
    (second,) = told.take(invoked())
    assert (second["sessionUpdate"], second["toolCallId"] != first) == ("tool_call", True)


def test_the_past_is_told_whole_and_what_goes_on_when_it_is_caught_up() -> None:
    told = Told(live=False)
    assert told.take(AssistantTextDelta(turn_index=0, block_index=0, delta="Hel")) == []
    assert told.take(AssistantTextDelta(turn_index=0, block_index=0, delta="lo")) == []
    assert [told.take(one) for one in (proposed(), invoked(), printed("x\n"))] == [[], [], []]
    said, call = plain(told.telling.catch_up())
    assert said["content"] == {"type": "text", "text": "Hello"}
    assert (call["sessionUpdate"], call["status"]) == ("tool_call", "in_progress")
    (more,) = told.take(AssistantTextDelta(turn_index=0, block_index=0, delta="!"))
    assert (more["content"], more["messageId"]) == ({"type": "text", "text": "!"}, said["messageId"])


def test_an_edit_is_one_diff_a_hunk_and_belongs_to_its_call() -> None:
    told = Told()
    told.take(invoked(name="edit", kind="edit"))
    proposal = EditProposed(
        tool_call_id="call_1", path="a.txt", patch_artifact_id="art_1", summary="2 hunks", auto_apply=True
    )
    (shown,) = told.take(proposal, DIFF)
    assert shown["content"] == [
        {"type": "diff", "path": "/folder/a.txt", "oldText": "one\nsame\n", "newText": "two\nsame\n"},
        {"type": "diff", "path": "/folder/a.txt", "oldText": "nine\n", "newText": "ten\n"},
    ]
    assert shown["locations"] == [{"path": "/folder/a.txt"}]
    assert told.take(completed(name="edit", kind="edit")) == [
        {"sessionUpdate": "tool_call_update", "toolCallId": shown["toolCallId"], "status": "completed"}
    ]


def test_an_edit_that_nobody_called_for_or_whose_patch_is_gone_is_told_all_the_same() -> None:
    proposal = EditProposed(
        tool_call_id="call_9", path="a.txt", patch_artifact_id="art_1", summary="1 hunk", auto_apply=False
    )
    (shown,) = Told().take(proposal)
    assert (shown["sessionUpdate"], shown["kind"], shown["title"]) == ("tool_call", "edit", "edit a.txt")
    assert "1 hunk" in str(shown["content"])
    assert "runwire apply art_1" in str(shown["content"])


def test_what_a_program_prints_cannot_leave_its_fence() -> None:
    told = Told()
    told.take(invoked())
    (shown,) = told.take(printed("```\n# not a title\n"))
    assert "````\\n```\\n# not a title\\n````" in repr(shown["content"])


def test_a_refusal_and_a_failure_of_the_provider_are_told() -> None:
    told = Told()
    (note,) = told.take(
        ErrorUpstream(provider="x", status=529, message="busy", retriable=True, attempt=1, max_attempts=3)
    )
    assert note["sessionUpdate"] == "agent_thought_chunk"
    assert "busy" in str(note["content"])
    told.take(turn_completed(stop_reason="refusal"))
    assert told.telling.stop_reason == "refusal"
