"""glob: find files by name."""

import posixpath
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.errors import RunwireError
from runwire.host import Effects
from runwire.native.tools.outcome import failed, one_line, refused, shown_path
from runwire.native.tools.ripgrep import search
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.search import GlobCompleted

LISTED_MAX = 1_000


class GlobInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which names to look for."""

    pattern: Annotated[str, Meta(min_length=1, description="Such as **/*.py or src/*.{ts,tsx}.")]
    path: Annotated[str, Meta(description="Folder to look in; the workspace when left out.")] | None = None


@dataclass(frozen=True, slots=True)
class Glob:
    """Lists files whose names match, the newest first."""

    name: ClassVar[str] = "glob"
    kind: ClassVar[str] = "search"
    about: ClassVar[str] = "Find files by a glob pattern, the newest first. What git ignores is left out."
    Input: ClassVar[type[GlobInput]] = GlobInput
    effects: ClassVar[Effects] = frozenset({"reads"})

    def ask(self, given: GlobInput, context: ToolContext) -> AskParts:
        """Say what would be looked for where."""
        path = shown_path(context, given.path or ".")
        return AskParts(summary=one_line(f"glob {given.pattern} in {path}"), paths=(path,))

    async def run(self, given: GlobInput, context: ToolContext) -> ToolResult:
        """Look, and list what is there."""
        if given.pattern.startswith("!") or "\0" in given.pattern:
            return failed("invalid_pattern", "pattern: it must say what to find, not what to leave out")
        matches: list[str] = []
        count = 0

        async def heard(line: str) -> None:
            nonlocal count
            count += 1
            if len(matches) < LISTED_MAX:
                matches.append(posixpath.normpath(posixpath.join(folder, line)))

        try:
            folder = context.root.relative(given.path or ".")
            pattern = _within(given.pattern, folder, context)
            arguments = ("--files", "--hidden", "--sortr", "modified", "-g", pattern, "-g", "!.git")
            done = await search(arguments, folder, context, heard)
        except RunwireError as error:
            return refused(error)
        if isinstance(done, ToolResult):
            return done
        truncated = count > len(matches) or not done.whole
        context.host.emit(
            GlobCompleted(
                tool_call_id=context.tool_call_id,
                pattern=given.pattern,
                matches=matches,
                match_count=count,
                truncated=truncated,
            )
        )
        lines = [*matches, f"[{len(matches)} of {count} files]"] if truncated else matches
        summary = f"{count} {'file' if count == 1 else 'files'}"
        return ToolResult(summary=summary, output="\n".join(lines) or "no files match")


def _within(pattern: str, folder: str, context: ToolContext) -> str:
    """The pattern as seen from the folder, where a model has given all of the path."""
    whole = (context.root.path / folder).as_posix()
    return pattern.removeprefix(f"{whole}/").removeprefix("./")
