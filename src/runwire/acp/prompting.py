"""What an editor sends, as a task takes it: a prompt of several parts as one text, its tool servers by name. Pure."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from runwire.acp.refusals import INVALID_PARAMS, Refusal
from runwire.acp.requests import McpServer, Part

_MCP_TYPES = frozenset({"stdio", "http"})


@dataclass(frozen=True, slots=True)
class Said:
    """A prompt as a task takes it: a text, and files that go with it."""

    text: str
    attachments: tuple[Mapping[str, str], ...] = ()


def said_by(parts: Sequence[Part]) -> Said:
    """The prompt: links where they stand, embedded text after it, images beside it. What cannot be taken is refused."""
    text = "".join(_inline(part) for part in parts)
    brought = [f'<context ref="{_named(uri)}">\n{body}\n</context>' for uri, body in _embedded(parts)]
    attachments = tuple(found for part in parts if (found := _attached(part)) is not None)
    if not text.strip() and not brought:
        if not attachments:
            raise Refusal(INVALID_PARAMS, "the prompt is empty", "say what is to be done")
        text = "Look at what is attached."
    return Said("\n\n".join([text, *brought]).strip(), attachments)


def _inline(part: Part) -> str:
    match part.type:
        case "text":
            return part.text
        case "resource_link":
            return f"[@{part.name or posixpath.basename(part.uri or '')}]({_named(part.uri or '')})"
        case "resource" if part.resource is not None:
            return f"[@{posixpath.basename(part.resource.uri)}]({_named(part.resource.uri)})"
        case "image":
            return ""
        case other:
            what = f"a prompt cannot have {other[:32]!r} in it"
            raise Refusal(INVALID_PARAMS, what, "send text, images, links to files, or embedded files")


def _embedded(parts: Sequence[Part]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if part.type == "resource" and part.resource is not None and part.resource.text is not None:
            yield part.resource.uri, part.resource.text


def _attached(part: Part) -> Mapping[str, str] | None:
    if part.type == "image":
        return {"mime": part.mime_type or "application/octet-stream", "base64": part.data}
    if part.type == "resource" and part.resource is not None and part.resource.blob is not None:
        return {"mime": part.resource.mime_type or "application/octet-stream", "base64": part.resource.blob}
    return None


def _named(uri: str) -> str:
    """The path of a file on this machine, and any other address as it is."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def servers_of(given: Sequence[McpServer]) -> dict[str, Mapping[str, object]]:
    """Tool servers as a task names them."""
    found: dict[str, Mapping[str, object]] = {}
    for server in given:
        if server.type not in _MCP_TYPES or (server.url if server.type == "stdio" else server.command):
            what = f"the MCP server {server.name[:64]!r} is of the type {server.type[:32]!r}"
            raise Refusal(INVALID_PARAMS, what, "servers are started by a command (stdio) or reached over http")
        if server.name in found:
            what = f"two MCP servers are called {server.name[:64]!r}"
            raise Refusal(INVALID_PARAMS, what, "give each a name of its own")
        if server.type == "stdio":
            env = {one.name: one.value for one in server.env}
            found[server.name] = {"command": server.command, "args": server.args, "env": env}
        else:
            found[server.name] = {"url": server.url, "headers": {one.name: one.value for one in server.headers}}
    return found
