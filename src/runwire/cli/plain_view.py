"""A run as plain text while it happens: what the agent says as it comes, and one line for whatever else matters."""

import re
import sys
from collections.abc import Callable, Mapping

from runwire.cli.lines import plain
from runwire.client.render.money import dollars
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning
from runwire.protocol.events.edit import EditProposed, MultiEditProposed
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.policy import PolicyModelRewrote, PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut
from runwire.protocol.payload import MalformedPayload, Opaque, Payload

# As in one line, but text of its own has line ends and tabs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_WIDTH = 160

_LINES: Mapping[type, Callable[..., str]] = {
    ShellCommand: lambda said: f"$ {said.argv[-1] if said.argv[:2] == ['/bin/sh', '-c'] else ' '.join(said.argv)}",
    EditProposed: lambda said: f"edit {said.path}: {said.summary}",
    MultiEditProposed: lambda said: f"edit {', '.join(said.paths)}: {said.summary}",
    ToolCompleted: lambda said: f"ok   {said.tool_name}: {said.summary}",
    ToolFailed: lambda said: f"fail {said.tool_name}: {said.code} {said.message}",
    ToolCancelled: lambda said: f"stop {said.tool_name}",
    ToolTimedOut: lambda said: f"time {said.tool_name}",
    PolicyToolBlocked: lambda said: f"no   {said.tool_name}: {said.reason}",
    PolicyModelRewrote: lambda said: f"{said.from_model} became {said.to_model}: {said.reason}",
    ApprovalRequested: lambda said: (
        f"ask  {said.summary} ({said.policy_reason})\n     runwire approve {said.approval_id}"
    ),
    ApprovalResolved: lambda said: f"{said.decision} by {said.by}" + (f": {said.comment}" if said.comment else ""),
    ApprovalTimedOut: lambda said: f"nobody decided in {said.after_seconds} s",
    ErrorUpstream: lambda said: f"{said.provider}: {said.message}",
    CostBudgetWarning: lambda said: f"{dollars(said.cumulative_cost_micros_usd)} of the budget spent",
    CostBudgetExceeded: lambda said: f"the budget is spent: {dollars(said.cumulative_cost_micros_usd)}",
    GapRunDisconnected: lambda said: f"the worker was lost ({said.reason}); another goes on",
    RunFinished: lambda said: f"completed: {said.turns} turns, {dollars(said.cost_micros_usd)}",
    RunFailed: lambda said: f"failed: {said.code}: {said.message}",
    RunCancelled: lambda said: f"cancelled by {said.by}" + (f": {said.reason}" if said.reason else ""),
}


class PlainView:
    """Writes to stdout. Text is written as it comes, everything else as whole lines."""

    def __init__(self) -> None:
        self._in_text = False
        self._streamed = False

    def show(self, envelope: bytes) -> None:
        """Show one event, if it is one that a person wants to see."""
        payload = _payload(envelope)
        match payload:
            case AssistantTextDelta(delta=text):
                self._write(_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))
                self._in_text = self._in_text or bool(text)
                self._streamed = True
            case AssistantTextComplete(text=text):
                if not self._streamed and text:
                    self._write(_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))
                    self._in_text = True
                self._streamed = False
                self.end_text()
            case _:
                tell = _LINES.get(type(payload))
                if tell is not None:
                    self.line(tell(payload))
        sys.stdout.flush()

    def line(self, text: str) -> None:
        """Write whole lines, on lines of their own."""
        self.end_text()
        for part in text.split("\n"):
            self._write(plain(part)[:_WIDTH] + "\n")

    def end_text(self) -> None:
        """End the line that text has left open."""
        if self._in_text:
            self._write("\n")
            self._in_text = False

    def _write(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def _payload(envelope: bytes) -> Payload | Opaque | None:
    try:
        return decode_payload(type_of(envelope), data_of(envelope))
    except MalformedPayload:
        return None
