"""Tool calls and the changes they make to files, as blocks."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import UNSET

from runwire.client.render.blocks import Block, Edit, EditState, Tool, ToolState
from runwire.client.render.harmless import one_line
from runwire.client.render.titles import command_of, title_of
from runwire.protocol.events import assistant, edit, file, policy, shell, tool, web
from runwire.protocol.payload import Payload

_Made = TypeVar("_Made", bound=Block)


class Calls:
    """Blocks in the order in which they began, and those of tool calls among them."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.head = -1
        """The last event taken in."""
        self.head_ns = 0
        self._tools: dict[str, Tool] = {}
        self._edits: dict[str, Edit] = {}

    def _make(self, make: type[_Made], **facts: Any) -> _Made:
        made = make(index=len(self.blocks), sequence=self.head, started_ns=self.head_ns, **facts)
        self.blocks.append(made)
        return made

    # Tool calls

    def _tool(self, call_id: str, name: str = "", kind: str = "", *, fresh: bool = False) -> Tool:
        """The call of that id; with `fresh` not one that has ended, because agents use ids again."""
        block = self._tools.get(call_id)
        if block is None or (fresh and not block.open):
            block = self._tools[call_id] = self._make(Tool, call_id=call_id, name=one_line(name), kind=kind, open=True)
        block.name, block.kind = block.name or one_line(name), block.kind or kind
        return block

    def _proposed(self, payload: assistant.AssistantToolCallProposed) -> Block:
        block = self._tool(payload.tool_call_id, payload.tool_name, fresh=True)
        block.title = title_of(payload.input)
        return block

    def _begun(self, payload: tool.ToolInvoked | tool.ToolStarted) -> Block:
        begins = isinstance(payload, tool.ToolInvoked)
        block = self._tool(payload.tool_call_id, payload.tool_name, payload.kind, fresh=begins)
        if begins or block.state == "proposed":
            block.state, block.started_ns = "running", self.head_ns
        if payload.timeout_ms is not UNSET:
            block.timeout_ms = payload.timeout_ms
        if isinstance(payload, tool.ToolStarted) and payload.input is not UNSET:
            block.title = title_of(payload.input)
        return block

    def _blocked(self, payload: policy.PolicyToolBlocked) -> Block:
        block = self._tool(payload.tool_call_id, payload.tool_name, payload.kind or "")
        block.error = one_line(payload.reason)
        return self._close(block, "blocked")

    def _ended(self, payload: tool.ToolCompleted | tool.ToolFailed | tool.ToolCancelled | tool.ToolTimedOut) -> Block:
        block = self._tool(payload.tool_call_id, payload.tool_name, payload.kind)
        exited = block.exit_code is not None or block.signal is not None
        if payload.output is not UNSET and not block.output.bytes and not exited:
            block.output.add(payload.output)
        block.result_artifact_id = payload.result_artifact_id or None
        match payload:
            case tool.ToolCompleted():
                block.summary = one_line(payload.summary or "")
                return self._close(block, "completed")
            case tool.ToolFailed():
                block.summary = one_line(payload.summary or "")
                block.error = one_line(payload.message or payload.code)
                return self._close(block, "failed")
            case tool.ToolCancelled():
                block.error = one_line(f"stopped by {payload.by}" + (f": {payload.reason}" if payload.reason else ""))
                return self._close(block, "cancelled")
            case tool.ToolTimedOut():
                block.error = one_line(payload.message or payload.limit)
                return self._close(block, "timed_out")

    def _close(self, block: Tool, state: ToolState) -> Tool:
        block.state, block.open, block.ended_ns = state, False, self.head_ns
        # A call that went wrong is worth a line of its own, whatever else tells of it.
        block.told = block.told and state == "completed"
        return block

    def _command(self, payload: shell.ShellCommand) -> Block:
        block = self._tool(payload.tool_call_id, "shell", "shell")
        # Until now the call may have waited for others.
        block.title, block.started_ns = one_line(command_of(payload.argv)), self.head_ns
        return block

    def _printed(self, payload: shell.ShellOutputChunk) -> Block:
        block = self._tool(payload.tool_call_id, "shell", "shell")
        block.output.add(payload.data)
        return block

    def _exited(self, payload: shell.ShellExited) -> Block:
        block = self._tool(payload.tool_call_id, "shell", "shell")
        block.exit_code, block.signal = payload.exit_code, payload.signal
        return block

    def _requested(self, payload: web.HttpRequested | web.WebFetchRequested | web.WebSearchRequested) -> Block:
        block = self._tool(payload.tool_call_id)
        asked = payload.query if isinstance(payload, web.WebSearchRequested) else f"{payload.method} {payload.url}"
        block.title = one_line(asked)
        return block

    # Changes to files

    def _edit(self, payload: edit.EditProposed | edit.MultiEditProposed | file.FileWriteProposed) -> Block:
        if isinstance(payload, edit.MultiEditProposed):
            paths, artifacts = payload.paths, payload.patch_artifact_ids
        else:
            paths, artifacts = [payload.path], [payload.patch_artifact_id]
        block = self._make(
            Edit,
            call_id=payload.tool_call_id,
            paths=tuple(paths),
            artifact_ids=tuple(artifacts),
            summary=one_line(payload.summary),
            waits=not payload.auto_apply,
            open=True,
        )
        self._edits |= dict.fromkeys(artifacts, block)
        if payload.tool_call_id in self._tools:
            self._tools[payload.tool_call_id].told = True
        return block

    def _settle(self, artifact_ids: list[str], state: EditState, by: str, reason: str = "") -> Block | None:
        block = next((self._edits[one] for one in artifact_ids if one in self._edits), None)
        if block is not None:
            block.state, block.by, block.reason, block.open = state, by, reason, False
        return block

    def _applied(self, payload: edit.EditApplied | edit.MultiEditApplied) -> Block | None:
        return self._settle(_patches(payload), "applied", payload.applied_by or "")

    def _rejected(self, payload: edit.EditRejected | edit.MultiEditRejected) -> Block | None:
        return self._settle(_patches(payload), "rejected", payload.rejected_by, payload.reason)

    def _reverted(self, payload: edit.EditReverted | edit.MultiEditReverted) -> Block | None:
        return self._settle(_patches(payload), "reverted", payload.reverted_by, payload.reason)


def _patches(payload: Payload) -> list[str]:
    match payload:
        case edit.MultiEditApplied() | edit.MultiEditRejected() | edit.MultiEditReverted():
            return payload.patch_artifact_ids
        case edit.EditApplied() | edit.EditRejected() | edit.EditReverted():
            return [payload.patch_artifact_id]
        case _:
            return []


CHANGES: Mapping[type, Callable[..., Block | None]] = {
    assistant.AssistantToolCallProposed: Calls._proposed,
    tool.ToolInvoked: Calls._begun,
    tool.ToolStarted: Calls._begun,
    tool.ToolCompleted: Calls._ended,
    tool.ToolFailed: Calls._ended,
    tool.ToolCancelled: Calls._ended,
    tool.ToolTimedOut: Calls._ended,
    policy.PolicyToolBlocked: Calls._blocked,
    shell.ShellCommand: Calls._command,
    shell.ShellOutputChunk: Calls._printed,
    shell.ShellExited: Calls._exited,
    web.HttpRequested: Calls._requested,
    web.WebFetchRequested: Calls._requested,
    web.WebSearchRequested: Calls._requested,
    edit.EditProposed: Calls._edit,
    edit.MultiEditProposed: Calls._edit,
    file.FileWriteProposed: Calls._edit,
    edit.EditApplied: Calls._applied,
    edit.MultiEditApplied: Calls._applied,
    edit.EditRejected: Calls._rejected,
    edit.MultiEditRejected: Calls._rejected,
    edit.EditReverted: Calls._reverted,
    edit.MultiEditReverted: Calls._reverted,
}
"""Which event changes what."""
