"""git_exec: run git in the workspace. For runs of kind `git`; models use shell_exec."""

import shlex
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.errors import RunwireError
from runwire.host import Effects
from runwire.native.tools.commands import Grounds, Wanted, run_command
from runwire.native.tools.outcome import failed, one_line, refused
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult


class GitExecInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What git is to do."""

    args: Annotated[list[str], Meta(min_length=1, description="The arguments after `git`.")]


@dataclass(frozen=True, slots=True)
class GitExec:
    """Runs git, confined to the workspace and the repository that it belongs to."""

    grounds: Grounds
    name: ClassVar[str] = "git_exec"
    kind: ClassVar[str] = "shell"
    about: ClassVar[str] = "Run git in the workspace and return what it prints."
    Input: ClassVar[type[GitExecInput]] = GitExecInput
    effects: ClassVar[Effects] = frozenset({"reads", "writes", "executes"})

    def ask(self, given: GitExecInput, context: ToolContext) -> AskParts:
        """Say which command would run."""
        command = shlex.join(["git", *given.args])
        facts = context.host.facts
        return AskParts(
            summary=one_line(command),
            argv_text=command,
            timeout_ms=round(context.settings.shell_timeout_s * 1000),
            effects=self.effects | {"network"} if facts.allow_network else None,
        )

    async def run(self, given: GitExecInput, context: ToolContext) -> ToolResult:
        """Run it and tell what it prints as it comes."""
        if any("\0" in argument for argument in given.args):
            return failed("invalid_input", "args: an argument cannot hold a NUL character")
        wanted = Wanted(
            argv=("/usr/bin/env", "git", *given.args),
            cwd=context.root.path,
            timeout_s=context.settings.shell_timeout_s,
        )
        try:
            return await run_command(wanted, self.grounds, context)
        except RunwireError as error:
            return refused(error)
