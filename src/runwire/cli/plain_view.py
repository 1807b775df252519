"""A run as plain text while it happens: what the agent says as it comes, and one line for whatever else matters."""

import sys
from collections.abc import Mapping

from runwire.cli.lines import plain
from runwire.client.render.harmless import plain_text
from runwire.client.render.words import words_of
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
from runwire.protocol.payload import MalformedPayload, Payload

_WIDTH = 160

_MARKS: Mapping[type, str] = {
    ShellCommand: "",
    EditProposed: "edit ",
    MultiEditProposed: "edit ",
    ToolCompleted: "ok   ",
    ToolFailed: "fail ",
    ToolCancelled: "stop ",
    ToolTimedOut: "time ",
    PolicyToolBlocked: "no   ",
    PolicyModelRewrote: "",
    ApprovalRequested: "ask  ",
    ApprovalResolved: "",
    ApprovalTimedOut: "",
    ErrorUpstream: "",
    CostBudgetWarning: "",
    CostBudgetExceeded: "",
    GapRunDisconnected: "",
    RunFinished: "",
    RunFailed: "",
    RunCancelled: "",
}
"""What gets a line, and what the line begins with."""


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
                self._write(plain_text(text))
                self._in_text = self._in_text or bool(text)
                self._streamed = True
            case AssistantTextComplete(text=text):
                if not self._streamed and text:
                    self._write(plain_text(text))
                    self._in_text = True
                self._streamed = False
                self.end_text()
            case _:
                mark = _MARKS.get(type(payload))
                if payload is not None and mark is not None:
                    self.line(f"{mark}{words_of(payload)}")
                if isinstance(payload, ApprovalRequested):
                    self.line(f"     runwire approve {payload.approval_id}")
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


def _payload(envelope: bytes) -> Payload | None:
    try:
        payload = decode_payload(type_of(envelope), data_of(envelope))
    except MalformedPayload:
        return None
    return payload if isinstance(payload, Payload) else None
