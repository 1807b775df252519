"""grep: find lines in files."""

import base64
import posixpath
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct

from runwire.errors import RunwireError
from runwire.host import Effects
from runwire.native.tools.outcome import failed, one_line, refused, shown_path
from runwire.native.tools.ripgrep import search
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.search import GrepCompleted, GrepMatch

LISTED_MAX = 200
LINE_MAX = 512


class GrepInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for in which files."""

    pattern: Annotated[str, Meta(min_length=1, description="A regular expression, as ripgrep understands it.")]
    path: Annotated[str, Meta(description="Folder or file to look in; the workspace when left out.")] | None = None
    include: Annotated[str, Meta(description="Only files whose names match this glob, such as *.py.")] | None = None


class _Text(Struct):
    text: str | None = None
    bytes: str | None = None

    def shown(self) -> str:
        """The text; bytes that are none come in base 64."""
        return self.text if self.text is not None else base64.b64decode(self.bytes or "").decode(errors="replace")


class _Stats(Struct):
    searches: int = 0
    matched_lines: int = 0


class _Data(Struct):
    path: _Text | None = None
    lines: _Text | None = None
    line_number: int | None = None
    stats: _Stats | None = None


class _Message(Struct):
    type: str
    data: _Data


_DECODER = msgspec.json.Decoder(_Message)


@dataclass(slots=True)
class _Found:
    folder: str
    matches: list[GrepMatch] = field(default_factory=list)
    count: int = 0
    files: int = 0

    async def hear(self, line: str) -> None:
        """Take one message of ripgrep's."""
        try:
            message = _DECODER.decode(line)
        except msgspec.DecodeError:
            return
        data = message.data
        if message.type == "match" and data.path is not None and data.lines is not None:
            self.count += 1
            if len(self.matches) < LISTED_MAX:
                path = posixpath.normpath(posixpath.join(self.folder, data.path.shown()))
                text = data.lines.shown().rstrip("\r\n")[:LINE_MAX]
                self.matches.append(GrepMatch(path=path, line=data.line_number or 0, text=text))
        elif message.type == "end":
            # The summary has the number too, but it does not come when the search is cut short.
            self.files = max(self.files, 1)
        elif message.type == "summary" and data.stats is not None:
            self.files = data.stats.searches


@dataclass(frozen=True, slots=True)
class Grep:
    """Searches the contents of files with ripgrep."""

    name: ClassVar[str] = "grep"
    kind: ClassVar[str] = "search"
    about: ClassVar[str] = "Search file contents by a regular expression with ripgrep. What git ignores is left out."
    Input: ClassVar[type[GrepInput]] = GrepInput
    effects: ClassVar[Effects] = frozenset({"reads"})

    def ask(self, given: GrepInput, context: ToolContext) -> AskParts:
        """Say what would be looked for where."""
        path = shown_path(context, given.path or ".")
        return AskParts(summary=one_line(f"grep {given.pattern} in {path}"), paths=(path,))

    async def run(self, given: GrepInput, context: ToolContext) -> ToolResult:
        """Look, and list the lines that match."""
        if "\0" in given.pattern + (given.include or ""):
            return failed("invalid_pattern", "pattern: it holds a NUL character")
        try:
            folder, arguments = _where(given, context)
            found = _Found(folder)
            done = await search(arguments, folder, context, found.hear)
        except RunwireError as error:
            return refused(error)
        if isinstance(done, ToolResult):
            return done
        truncated = found.count > len(found.matches) or not done.whole
        context.host.emit(
            GrepCompleted(
                tool_call_id=context.tool_call_id,
                pattern=given.pattern,
                files_searched=found.files,
                matches=found.matches,
                match_count=found.count,
                truncated=truncated,
            )
        )
        lines = [f"{match.path}:{match.line}:{match.text}" for match in found.matches]
        if truncated:
            lines.append(f"[{len(found.matches)} of {found.count} lines]")
        summary = f"{found.count} {'line' if found.count == 1 else 'lines'} in {found.files} files searched"
        return ToolResult(summary=summary, output="\n".join(lines) or "no lines match")


def _where(given: GrepInput, context: ToolContext) -> tuple[str, tuple[str, ...]]:
    path = context.root.relative(given.path or ".")
    found = context.root.stat(path)
    arguments = ["--json", "--hidden", "-g", "!.git"]
    if given.include is not None:
        arguments += ["-g", given.include]
    arguments += ["-e", given.pattern]
    if found is not None and found.kind == "file":
        folder, name = posixpath.split(path)
        return folder or ".", (*arguments, "--", f"./{name}")
    # Named, so that it does not wait for its standard input instead.
    return path, (*arguments, "--", "./")
