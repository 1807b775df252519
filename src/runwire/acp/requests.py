"""What an editor asks in the Agent Client Protocol, version 1, as far as it is understood here. Unknown fields are ignored."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct


class Part(Struct, rename="camel"):
    """A part of a prompt. Which fields it has, its type says."""

    type: str
    text: str = ""
    data: str = ""
    mime_type: str | None = None
    uri: str | None = None
    name: str = ""
    resource: "Resource | None" = None


class Resource(Struct, rename="camel"):
    """A file that a prompt brings along."""

    uri: str = ""
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class Variable(Struct):
    """A name and its value."""

    name: str
    value: str


class McpServer(Struct):
    """A server of tools that the editor has: a command to start, or an address."""

    name: Annotated[str, Meta(min_length=1)]
    type: str = "stdio"
    command: str | None = None
    args: list[str] = []
    env: list[Variable] = []
    url: str | None = None
    headers: list[Variable] = []


class Nothing(Struct):
    """A request that says no more than its name."""


class NewSession(Struct, rename="camel"):
    """A conversation is to begin in a folder."""

    cwd: str
    mcp_servers: list[McpServer] = []
    additional_directories: list[str] | None = None


class OldSession(NewSession, rename="camel"):
    """A conversation is to be taken up."""

    session_id: str = ""


class SessionNamed(Struct, rename="camel"):
    """A conversation, and nothing more."""

    session_id: str


class SetMode(SessionNamed, rename="camel"):
    """What may happen without asking."""

    mode_id: str


class Prompt(SessionNamed, rename="camel"):
    """Something is said."""

    prompt: list[Part]


class ListSessions(Struct):
    """Which conversations there are."""

    cwd: str | None = None
    cursor: str | None = None


class CancelRequest(Struct, rename="camel"):
    """Nobody waits for the answer to a request any more."""

    request_id: int | str | None


class Outcome(Struct, rename="camel"):
    """How a question was answered: by an option, or by giving up on it."""

    outcome: str
    option_id: str = ""


class Permitted(Struct):
    """The answer to a question."""

    outcome: Outcome


class Fault(Struct):
    """Why the editor refuses."""

    code: int | float = 0
    message: str = ""


class Frame(Struct):
    """One line: a request, a notification, or an answer to a request of ours."""

    jsonrpc: str = ""
    id: int | float | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: Fault | None = None
