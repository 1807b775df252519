"""Subprocesses: the command, its output, its exit."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from runwire.protocol.payload import Count, Payload


class ShellCommand(Payload):
    """A subprocess is about to start."""

    type: ClassVar[str] = "tool.shell.command"

    tool_call_id: str
    argv: list[str]
    cwd: str
    env_keys: Annotated[list[str], Meta(description="Names, never values, of the variables the process is given.")]
    sandbox_layer: Annotated[str, Meta(description="What confines the process, such as bwrap, or none.")]


class ShellOutputChunk(Payload):
    """A piece of the process's output."""

    type: ClassVar[str] = "tool.shell.output_chunk"

    tool_call_id: str
    stream: Literal["stdout", "stderr"]
    data: str
    byte_offset: Annotated[Count, Meta(description="Where in its stream, as the process wrote it, the piece begins.")]


class ShellExited(Payload):
    """The process ended."""

    type: ClassVar[str] = "tool.shell.exited"

    tool_call_id: str
    exit_code: Annotated[int | None, Meta(description="Null when a signal ended the process.")]
    signal: Annotated[str | None, Meta(description="The signal's name, such as SIGTERM.")] = None
    stdout_bytes: Count
    stderr_bytes: Count
    truncated: Annotated[bool, Meta(description="Whether output was left out because of a cap.")] = False
