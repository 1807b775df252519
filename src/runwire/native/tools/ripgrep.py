"""Real ripgrep, as installed beside us, for the tools that search."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runwire.native.tools.outcome import failed
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, ExitReport, run_process
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.spawning import Command

TIME_LIMIT_S = 20.0
_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
_NO_SUCH_PATTERN = 2


@dataclass(frozen=True, slots=True)
class Searched:
    """How a search ended."""

    whole: bool
    """Whether it came to its end within its limits."""


def ripgrep() -> str | None:
    """Where `rg` is: beside the Python that runs us, else wherever the system finds it."""
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if beside.is_file() else shutil.which("rg")


async def search(
    arguments: Sequence[str], folder: str, context: ToolContext, heard: Callable[[str], Awaitable[None]]
) -> Searched | ToolResult:
    """Run rg in a folder of the workspace and hand over what it prints, line by line."""
    program = ripgrep()
    if program is None:
        return failed("tool_unavailable", "ripgrep is not installed")
    found = context.root.stat(folder)
    if found is None or found.kind != "folder":
        return failed("folder_not_found", f"there is no folder {folder}")
    lines, errors = _Lines(heard), list[str]()

    async def on_output(piece: Piece) -> None:
        if piece.stream == "stdout":
            await lines.feed(piece.text)
        elif len(errors) < 100:
            errors.append(piece.text)

    cwd = context.root.path / folder
    report = await run_process(
        # It only reads, follows no links and is our own program, so it needs no walls; its limits hold all the same.
        Command(
            argv=(program, "--no-config", "--no-messages", *arguments),
            confinement=Confinement(workspace=context.root.path, cwd=cwd),
            environ=context.environ(),
        ),
        sandbox=Bare(),
        on_output=on_output,
        caps=Caps(timeout_s=TIME_LIMIT_S, output_limit_bytes=_OUTPUT_LIMIT_BYTES),
    )
    await lines.finish()
    if report.outcome == "exited" and report.exit_code == _NO_SUCH_PATTERN and not lines.count:
        return failed("invalid_pattern", " ".join("".join(errors).split()) or "ripgrep does not understand the pattern")
    return _judged(report)


def _judged(report: ExitReport) -> Searched | ToolResult:
    if report.outcome == "timed_out":
        said = f"stopped after {TIME_LIMIT_S:g} s; search in a smaller folder"
        return ToolResult(summary=said, output="", outcome="timed_out", limit="wall_clock")
    if report.outcome == "exited" and report.exit_code not in {0, 1, 2}:
        return failed("search_failed", f"ripgrep ended with {report.signal or report.exit_code}")
    return Searched(whole=report.outcome == "exited")


class _Lines:
    """Pieces of text in, whole lines out."""

    def __init__(self, heard: Callable[[str], Awaitable[None]]) -> None:
        self._heard = heard
        self._rest: list[str] = []
        self.count = 0

    async def feed(self, text: str) -> None:
        """Take a piece."""
        *whole, rest = text.split("\n")
        for line in whole:
            await self._tell("".join([*self._rest, line]))
            self._rest.clear()
        if rest:
            self._rest.append(rest)
        # A search of thousands of files must not keep everybody else waiting.
        await asyncio.sleep(0)

    async def finish(self) -> None:
        """Take what has no end."""
        if self._rest:
            await self._tell("".join(self._rest))

    async def _tell(self, line: str) -> None:
        self.count += 1
        await self._heard(line)
