"""Running a command for a run: told as it happens, kept as an artifact when it is over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.workspace.limits import Groups
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, ExitReport, run_process
from runwire.workspace.sandbox.layer import Confinement, confined
from runwire.workspace.spawning import Command

_WRONG_USAGE = 129


class Grounds(Struct, frozen=True, kw_only=True):
    """What holds for every command of a run."""

    hidden: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    tmp: Callable[[], Path] | None = None
    """Gives the folder that stands in for /tmp, made when the first command wants it."""
    groups: Groups | None = None
    """What holds the number of processes exactly, where the system lets us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A command that is to be run."""

    argv: Sequence[str]
    cwd: Path
    timeout_s: float


async def run_command(wanted: Wanted, grounds: Grounds, context: ToolContext) -> ToolResult:
    """Run a command in the sandbox, tell of it and keep what it prints. SandboxUnavailable when nothing may confine it."""
    facts = context.host.facts
    sandbox = confined(context.sandbox, allow_unconfined=facts.allow_unconfined)
    environ = context.environ()
    context.host.emit(
        ShellCommand(
            tool_call_id=context.tool_call_id,
            argv=list(wanted.argv),
            cwd=str(wanted.cwd),
            env_keys=sorted(environ),
            sandbox_layer=sandbox.layer,
        )
    )
    printed: list[str] = []

    async def heard(piece: Piece) -> None:
        printed.append(piece.text)
        await context.host.offer(
            ShellOutputChunk(
                tool_call_id=context.tool_call_id, stream=piece.stream, data=piece.text, byte_offset=piece.byte_offset
            )
        )

    confinement = Confinement(
        workspace=context.root.path,
        cwd=wanted.cwd,
        network=facts.allow_network,
        hidden=grounds.hidden,
        writable=grounds.writable,
        tmp=None if grounds.tmp is None else grounds.tmp(),
    )
    report = await run_process(
        Command(argv=wanted.argv, confinement=confinement, environ=environ),
        sandbox=sandbox,
        on_output=heard,
        caps=Caps(timeout_s=wanted.timeout_s, output_limit_bytes=context.settings.output_limit_bytes),
        groups=grounds.groups,
    )
    context.host.emit(
        ShellExited(
            tool_call_id=context.tool_call_id,
            exit_code=report.exit_code,
            signal=_signal(report),
            stdout_bytes=report.stdout_bytes,
            stderr_bytes=report.stderr_bytes,
            truncated=report.outcome == "output_limited",
        )
    )
    text = "".join(printed)
    return _result(report, text, await _kept(report, text, context), wanted)


async def _kept(report: ExitReport, text: str, context: ToolContext) -> Draft:
    meta = ArtifactMeta(
        mime="text/plain; charset=utf-8",
        summary=_ending(report),
        produced_by_tool_call_id=context.tool_call_id,
        exit_code=report.exit_code,
    )
    return await context.host.draft(NewArtifact("command_output", meta), text.encode())


def _signal(report: ExitReport) -> str | None:
    # Git and others say with 129 that they were called wrongly, which a shell would say of a hang-up.
    return None if report.exit_code == _WRONG_USAGE else report.signal


def _ending(report: ExitReport) -> str:
    if _signal(report) is not None:
        return f"ended by {_signal(report)}"
    return f"exit code {report.exit_code}"


def _result(report: ExitReport, text: str, draft: Draft, wanted: Wanted) -> ToolResult:
    summary = f"{_ending(report)}, {report.stdout_bytes + report.stderr_bytes} bytes"
    note = "" if not text or text.endswith("\n") else "\n"
    match report.outcome:
        case "timed_out":
            said = f"stopped after {wanted.timeout_s:g} s"
            output = f"{text}{note}[{said}]"
            return ToolResult(summary=said, output=output, outcome="timed_out", limit="wall_clock", artifact=draft)
        case "output_limited":
            said = "stopped because it printed too much"
            output = f"{text}{note}[{said}]"
            return ToolResult(summary=said, output=output, outcome="timed_out", limit="output_bytes", artifact=draft)
        case "resource_limited":
            said = "stopped because it used too many processes"
            output = f"{text}{note}[{said}]"
            return ToolResult(summary=said, output=output, outcome="failed", code="resource_limit", artifact=draft)
        case "exited":
            if report.exit_code == 0:
                return ToolResult(summary=summary, output=text, artifact=draft)
            code = "killed" if _signal(report) is not None else "nonzero_exit"
            output = f"{text}{note}[{_ending(report)}]"
            return ToolResult(summary=summary, output=output, outcome="failed", code=code, artifact=draft)
