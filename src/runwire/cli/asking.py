"""Asking the person at the terminal: one question at a time, and none that somebody else has answered."""

import asyncio
import os
import sys
from contextlib import suppress

import msgspec
from msgspec import UnsetType

from runwire.cli.deciding import ANSWERS, NotEdited, decide
from runwire.cli.lines import plain
from runwire.client.client import Client
from runwire.errors import RunwireError
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.payload import Opaque, Payload


class Asker:
    """Puts the approvals of one run to whoever sits at the terminal."""

    def __init__(self, client: Client) -> None:
        """Answer by way of `client`."""
        self._client = client
        self._open: dict[str, ApprovalRequested] = {}
        self._task: asyncio.Task[None] | None = None
        self._asked = ""

    @classmethod
    def on_terminal(cls, client: Client) -> "Asker | None":
        """An asker, if somebody is there to be asked."""
        return cls(client) if sys.stdin.isatty() and sys.stdout.isatty() else None

    def hear(self, payload: Payload | Opaque) -> None:
        """Take in a question or its answer."""
        match payload:
            case ApprovalRequested():
                self._open[payload.approval_id] = payload
            case ApprovalResolved(approval_id=answered) | ApprovalTimedOut(approval_id=answered):
                self._open.pop(answered, None)
                if answered == self._asked and self._task is not None:
                    self._task.cancel()
                    self._task = None
            case _:
                return
        self._ask_next()

    async def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _ask_next(self) -> None:
        if self._open and (self._task is None or self._task.done()):
            question = next(iter(self._open.values()))
            self._asked = question.approval_id
            self._task = asyncio.get_running_loop().create_task(self._ask(question))

    async def _ask(self, question: ApprovalRequested) -> None:
        arguments = None if isinstance(question.input, UnsetType) else question.input
        while True:
            sys.stderr.write("approve? [y]es / [n]o / [e]dit / [a]lways / [s]top the run / [?] more: ")
            sys.stderr.flush()
            answer = (await _line()).strip().lower()[:1]
            if answer == "?":
                _explain(question)
            if answer not in ANSWERS:
                continue
            try:
                await decide(self._client, question.approval_id, answer, arguments)
            except NotEdited as error:
                sys.stderr.write(f"error: {error.message}\n")
                continue
            except RunwireError as error:
                sys.stderr.write(f"error: {error.message}\n")
            return


def _explain(question: ApprovalRequested) -> None:
    """Say why it is asked, and exactly what would be done."""
    lines = [question.policy_reason]
    if not isinstance(question.input, UnsetType):
        lines += msgspec.json.format(msgspec.json.encode(question.input), indent=2).decode().split("\n")
    sys.stderr.write("".join(f"  {plain(line)}\n" for line in lines))


async def _line() -> str:
    """The next line that is typed."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        if not typed.done():
            text = os.read(descriptor, 4096).decode("utf-8", "replace")
            # The end of the input is no answer, and there will be none.
            typed.set_result(text or "n\n")

    loop.add_reader(descriptor, read)
    try:
        return await typed
    finally:
        loop.remove_reader(descriptor)
