"""A real MCP server, written with the official SDK: over stdio when run as a program, over HTTP on loopback."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import Image, MCPServer
from mcp_types import AudioContent, BlobResourceContents, EmbeddedResource, TextContent, ToolAnnotations

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
ANNOTATED = ToolAnnotations(read_only_hint=True)


def make_server() -> MCPServer[None]:
    """Tools that answer in every way there is."""
    server: MCPServer[None] = MCPServer("test")

    @server.tool(annotations=ANNOTATED)
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def picture() -> Image:
        """Draw."""
        return Image(data=PNG, format="png")

    @server.tool(structured_output=False)
    def mixed() -> list[TextContent | AudioContent | EmbeddedResource]:
        """Say something in several ways."""
        return [
            TextContent(text="words"),
            AudioContent(data="AAEC", mime_type="audio/wav"),
            EmbeddedResource(
                resource=BlobResourceContents(uri="file:///x.bin", blob="////", mime_type="application/x-thing")
            ),
        ]

    @server.tool()
    def fail() -> str:
        """Go wrong."""
        raise ValueError("it went wrong")

    @server.tool()
    async def slow() -> str:
        """Take a minute."""
        await asyncio.sleep(60)
        return "late"

    @server.tool()
    def die() -> str:
        """End the server."""
        os._exit(3)

    @server.tool()
    def look(path: str) -> str:
        """Read a file or say why not."""
        try:
            return Path(path).read_text()
        except OSError as error:
            return type(error).__name__

    @server.tool()
    def environment() -> str:
        """Say which variables there are."""
        return "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))

    return server


@asynccontextmanager
async def http_server() -> AsyncGenerator[str]:
    """Serve it over HTTP while the block runs, and give its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(make_server().streamable_http_app(), log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        server.force_exit = True
        await asyncio.wait({serving}, timeout=10)
        listening.close()


if __name__ == "__main__":
    make_server().run("stdio")
