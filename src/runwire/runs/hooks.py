"""Hooks: commands and addresses of the operator that see tool calls. One that hangs or breaks is a fault, never a stuck run."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from runwire.errors import RunwireError
from runwire.host import ToolAsk
from runwire.journal.frames import split
from runwire.journal.journal import Journal
from runwire.journal.redaction.secrets import KnownValue
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.assistant import AssistantToolCallProposed
from runwire.protocol.events.error import ErrorUpstream
from runwire.runs.hosting import Held
from runwire.runs.policy import HookSpec
from runwire.workspace.environment import child_environment
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.spawning import Command

OUTPUT_MAX = 64 * 1024
_READ_BYTES = 64 * 1024
_NEAR = 256
_DENIED = 2

Moment = Literal["PreToolUse", "PostToolUse"]


class HookReply(Struct, frozen=True, kw_only=True):
    """What a hook may answer; nothing at all lets the call go on."""

    decision: Literal["allow", "deny"] = "allow"
    reason: str = ""
    input: dict[str, object] | None = None


class HookFault(Exception):
    """The hook itself went wrong: it hung, broke or answered nonsense."""

    def __init__(self, problem: str, *, status: int | None = None) -> None:
        super().__init__(problem)
        self.status = status

    def told(self, name: str) -> ErrorUpstream:
        """The event that tells of it."""
        return ErrorUpstream(
            provider=f"hook:{name}", status=self.status, message=str(self), retriable=False, attempt=1, max_attempts=1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What a hook is shown: the stored event byte for byte, and what it does not say itself."""

    moment: Moment
    event: bytes
    proposed: bytes | None
    input: Mapping[str, object]
    held: Held

    def body(self) -> bytes:
        """It as JSON."""
        rest = {"run_id": self.held.run_id, "task_id": self.held.task.task_id, "workspace": str(self.held.workspace)}
        return b'{"hook":"%b","event":%b,"proposed":%b,"input":%b,%b' % (
            self.moment.encode(),
            self.event,
            self.proposed or b"null",
            msgspec.json.encode(self.input),
            msgspec.json.encode(rest)[1:],
        )


def wanted(hooks: Iterable[HookSpec], moment: Moment, ask: ToolAsk) -> Sequence[HookSpec]:
    """The hooks that want to see a call at this moment, in order."""
    return [
        hook for hook in hooks if hook.on == moment and any(fnmatchcase(ask.tool_name, glob) for glob in hook.tools)
    ]


class Hooks:
    """Calls hooks. Commands run with the worker's own rights, without its secrets, and leave no process behind."""

    def __init__(
        self, *, journal: Journal, environ: Mapping[str, str], known: Callable[[], Iterable[KnownValue]] = tuple
    ) -> None:
        """Show events of this journal; commands see what is harmless of `environ` and never a `known` secret."""
        self._journal = journal
        self._environ = environ
        self._known = known

    async def occasion(self, moment: Moment, held: Held, ask: ToolAsk, sequence: int) -> Occasion:
        """What hooks are shown of a call at the event of that sequence."""
        batch = await self._journal.reader.read(held.run_id, sequence - 1, 1)
        if batch is None:
            raise LookupError(f"{held.run_id} has no event {sequence}")
        proposed = await self._proposed(held.run_id, sequence, ask.tool_call_id)
        return Occasion(moment=moment, event=split(batch.frames)[0][1], proposed=proposed, input=ask.input, held=held)

    async def call(self, hook: HookSpec, occasion: Occasion) -> HookReply:
        """Show a hook what happens and return what it says; whatever goes wrong with it is a HookFault."""
        body = occasion.body()
        if hook.command is not None:
            return await self._run(hook, hook.command, body, occasion.held.workspace)
        return await _post(hook, body)

    async def _run(self, hook: HookSpec, argv: Sequence[str], body: bytes, workspace: Path) -> HookReply:
        if "/" in argv[0] and not argv[0].startswith("/"):
            # It would be looked for in the workspace, where the agent writes.
            raise HookFault(f"{argv[0]} is not an absolute path")
        printed: dict[str, list[str]] = {"stdout": [], "stderr": []}

        async def keep(piece: Piece) -> None:
            printed[piece.stream].append(piece.text)

        command = Command(
            argv=argv,
            confinement=Confinement(workspace=workspace, cwd=workspace),
            environ=child_environment(self._environ, {}, known=self._known()),
            stdin=body,
        )
        caps = Caps(timeout_s=hook.timeout_s, output_limit_bytes=OUTPUT_MAX)
        try:
            report = await run_process(command, sandbox=Bare(), on_output=keep, caps=caps)
        except (RunwireError, OSError) as wrong:
            raise HookFault(f"it could not be run: {wrong}") from wrong
        out, err = "".join(printed["stdout"]), "".join(printed["stderr"]).strip()
        if report.outcome == "timed_out":
            raise HookFault(f"it did not end within {hook.timeout_s:g} s")
        if report.outcome != "exited":
            raise HookFault(f"it was ended: {report.outcome}")
        if report.exit_code == _DENIED:
            return HookReply(decision="deny", reason=err or "denied without a reason")
        if report.exit_code != 0:
            raise HookFault(f"it ended with {report.signal or report.exit_code}: {err[:500]}")
        return _read(out.encode("utf-8", "replace"))

    async def _proposed(self, run_id: str, sequence: int, tool_call_id: str) -> bytes | None:
        """The stored event with which the model asked for a call; None when no model did."""
        for start in (sequence - _NEAR, 0):
            found, after = None, max(-1, start - 1)
            while after < sequence - 1:
                batch = await self._journal.reader.read(run_id, after, _READ_BYTES)
                if batch is None:
                    break
                for _, envelope in split(batch.frames):
                    if _proposes(envelope, tool_call_id):
                        found = envelope
                after = batch.last
            if found is not None or start <= 0:
                return found
        return None


def _proposes(envelope: bytes, tool_call_id: str) -> bool:
    if type_of(envelope) != AssistantToolCallProposed.type:
        return False
    return msgspec.json.decode(data_of(envelope), type=AssistantToolCallProposed).tool_call_id == tool_call_id


def _read(answer: bytes) -> HookReply:
    if not answer.strip():
        return HookReply()
    try:
        return msgspec.json.decode(answer, type=HookReply)
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise HookFault(f"its answer cannot be read: {wrong}") from wrong


async def _post(hook: HookSpec, body: bytes) -> HookReply:
    import httpx2

    answer = bytearray()
    status: int | None = None
    try:
        async with (
            asyncio.timeout(hook.timeout_s),
            # The operator named the address, so it may be a private one; a proxy of the environment is not meant.
            httpx2.AsyncClient(trust_env=False, timeout=hook.timeout_s) as client,
            client.stream(
                "POST", hook.url or "", content=body, headers={"content-type": "application/json"}
            ) as response,
        ):
            status = response.status_code
            async for piece in response.aiter_bytes():
                answer += piece
                if len(answer) > OUTPUT_MAX:
                    raise HookFault(f"its answer passes {OUTPUT_MAX} bytes", status=status)
    except TimeoutError as late:
        raise HookFault(f"it did not answer within {hook.timeout_s:g} s", status=status) from late
    except httpx2.HTTPError as wrong:
        raise HookFault(f"it cannot be reached: {type(wrong).__name__} {wrong}", status=status) from wrong
    if not 200 <= status < 300:
        raise HookFault(f"it answered {status}", status=status)
    return _read(bytes(answer))
