"""shell_exec: run a shell command in the workspace."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.errors import RunwireError
from runwire.host import Effects
from runwire.native.tools.commands import Grounds, Wanted, run_command
from runwire.native.tools.outcome import failed, one_line, refused, shown_path
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.workspace.errors import PathRefused

SHELL = "/bin/sh"


class ShellExecInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run."""

    command: Annotated[str, Meta(min_length=1, description="The command, as /bin/sh reads it.")]
    cwd: Annotated[str, Meta(description="Folder to run it in; the workspace when left out.")] | None = None
    timeout_s: Annotated[float, Meta(gt=0, le=3600, description="Seconds that it may take; 120 by default.")] | None = (
        None
    )


@dataclass(frozen=True, slots=True)
class ShellExec:
    """Runs commands by the shell, confined to the workspace."""

    grounds: Grounds
    name: ClassVar[str] = "shell_exec"
    kind: ClassVar[str] = "shell"
    about: ClassVar[str] = (
        "Run a shell command in the workspace and return what it prints. A new shell each time; no terminal, no input."
    )
    Input: ClassVar[type[ShellExecInput]] = ShellExecInput
    effects: ClassVar[Effects] = frozenset({"reads", "writes", "executes"})

    def ask(self, given: ShellExecInput, context: ToolContext) -> AskParts:
        """Say which command would run where."""
        network = context.host.facts.allow_network
        return AskParts(
            summary=one_line(given.command),
            paths=() if given.cwd is None else (shown_path(context, given.cwd),),
            argv_text=given.command,
            timeout_ms=round(_timeout_s(given, context) * 1000),
            effects=self.effects | {"network"} if network else None,
        )

    async def run(self, given: ShellExecInput, context: ToolContext) -> ToolResult:
        """Run it and tell what it prints as it comes."""
        try:
            cwd = context.root.relative(given.cwd or ".")
            found = context.root.stat(cwd)
        except PathRefused as error:
            return refused(error)
        if found is None or found.kind != "folder":
            return failed("folder_not_found", f"there is no folder {cwd}")
        if "\0" in given.command:
            return failed("invalid_input", "command: a command cannot hold a NUL character")
        wanted = Wanted(
            argv=(SHELL, "-c", given.command), cwd=context.root.path / cwd, timeout_s=_timeout_s(given, context)
        )
        try:
            return await run_command(wanted, self.grounds, context)
        except RunwireError as error:
            return refused(error)


def _timeout_s(given: ShellExecInput, context: ToolContext) -> float:
    settings = context.settings
    return min(given.timeout_s or settings.shell_timeout_s, settings.shell_timeout_max_s)
