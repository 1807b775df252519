"""How calls end badly, said in one way by every tool."""

from runwire.errors import RunwireError
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.workspace.errors import PathRefused


def failed(code: str, message: str) -> ToolResult:
    """The call could not do what was asked; the message is for the model."""
    return ToolResult(summary=message, output="", outcome="failed", code=code)


def refused(error: RunwireError) -> ToolResult:
    """The call ran into one of our own errors."""
    return failed(error.code, f"{error.message}; {error.hint}")


def shown_path(context: ToolContext, path: str) -> str:
    """A path as policies see it: from the workspace where it lies in it, and as it was given where it does not."""
    try:
        return context.root.relative(path)
    except PathRefused:
        return path


def one_line(text: str, most: int = 200) -> str:
    """The beginning of a text as one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
