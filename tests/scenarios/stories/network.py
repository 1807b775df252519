"""Tools that reach out: to a server of our own on loopback, which the policy allows."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.native.mcp import servers
from tests.scenarios.stage import Theatre, call, turn

_PAGE = (
    b"<html><head><title>A page</title></head><body><h1>Hello</h1><script>no()</script><p>Some text.</p></body></html>"
)
_FOUND = {"results": [{"url": "https://example.org/", "title": "An example", "content": "It is one."}]}


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        search = self.path.startswith("/search")
        body, mime = (json.dumps(_FOUND).encode(), "application/json") if search else (_PAGE, "text/html")
        self.send_response(200)
        self.send_header("content-type", mime)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp: float | None = None) -> str:  # noqa: ARG002 - the signature of the library
        """Always the same: what is fetched is to be the same, too."""
        return "Sun, 15 Nov 2026 12:00:00 GMT"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the library
        """Say nothing."""


@contextmanager
def site() -> Generator[str]:
    """A small web site and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def reaching_out(theatre: Theatre) -> None:
    """A request, a page, a search."""
    with site() as address:
        async with theatre.open(search_url=f"{address}/search") as stage:
            await stage.play(
                turn("", call("http_request", method="GET", url=f"{address}/api")),
                turn("", call("web_fetch", url=f"{address}/page")),
                turn("", call("web_search", query="an example")),
                turn("Found."),
                policy={"default": "trust", "allow_hosts": ["127.0.0.1"]},
            )


async def kept_inside(theatre: Theatre) -> None:
    """An address inside that nobody has allowed is not reached."""
    with site() as address:
        async with theatre.open() as stage:
            await stage.play(
                turn("", call("http_request", method="GET", url=f"{address}/api")), turn("Closed."), policy="trust"
            )


async def no_search(theatre: Theatre) -> None:
    """Nobody has configured a search."""
    async with theatre.open() as stage:
        await stage.play(turn("", call("web_search", query="anything")), turn("No search here."), policy="trust")


async def mcp_servers(theatre: Theatre) -> None:
    """Tools of an MCP server over stdio and of one over HTTP, and one that is not there."""
    async with servers.http_server() as url, theatre.open() as stage:
        await stage.play(
            turn("", call("mcp__own__add", a=2, b=3)),
            turn("", call("mcp__far__picture")),
            turn("", call("mcp__own__fail")),
            turn("Five."),
            policy={"default": "trust", "allow_hosts": ["127.0.0.1"]},
            mcp_servers={
                "own": {"command": sys.executable, "args": [str(Path(servers.__file__))]},
                "far": {"url": url},
                "gone": {"command": "/nowhere/server"},
            },
        )
