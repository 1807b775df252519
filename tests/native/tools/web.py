"""A small web on loopback: pages, redirects, slow answers and a search engine."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

PAGE = """<html><head><title>Tea &amp; time</title><style>p{}</style><script>evil()</script></head><body>
<nav><a href="/menu">Menu</a></nav><main><h1>Tea</h1><p>Boil <b>water</b>, then
wait.</p><ul><li>green</li><li><a href="/black">black</a></li></ul><pre>a
  b</pre><table><tr><th>x</th><td>1</td></tr></table></main><footer>foot</footer></body></html>"""


@dataclass
class Web:
    """Where it is, and what it was asked."""

    port: int
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """An address in it."""
        return f"http://{host}:{self.port}{path}"


_PAGES: dict[str, Callable[[Request, bytes], Response]] = {
    "/page": lambda *_: Response(PAGE, media_type="text/html; charset=utf-8"),
    "/latin": lambda *_: Response("café".encode("latin-1"), media_type="text/plain; charset=iso-8859-1"),
    "/json": lambda _, body: JSONResponse({"got": body.decode()}, headers={"x-own": "1", "set-cookie": "a=secret"}),
    "/big": lambda *_: Response(b"x" * 3_000_000, media_type="text/plain"),
    "/bytes": lambda *_: Response(bytes(range(256)), media_type="application/octet-stream"),
    "/missing": lambda *_: Response("none here", status_code=404, media_type="text/plain"),
    "/loop": lambda *_: RedirectResponse("/loop"),
    "/away": lambda request, _: RedirectResponse(
        request.query_params["to"], status_code=int(request.query_params.get("as", 302))
    ),
    "/search": lambda request, _: JSONResponse(
        {"results": [{"url": "https://example.org/", "title": request.query_params["q"], "content": "a hit"}]}
    ),
    "/broken-search": lambda *_: Response("oops", media_type="text/html"),
}


def _app(web: Web) -> Starlette:
    async def answer(request: Request) -> Response:
        body, path = await request.body(), request.url.path
        web.asked.append((request.method, path, dict(request.headers), body))
        if path == "/slow":
            await asyncio.sleep(30)
        return _PAGES[path](request, body) if path in _PAGES else Response("home")

    methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]
    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)])


@asynccontextmanager
async def small_web() -> AsyncGenerator[Web]:
    """Serve it while the block runs."""
    listening = socket.create_server(("127.0.0.1", 0))
    web = Web(listening.getsockname()[1])
    config = uvicorn.Config(_app(web), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield web
    finally:
        server.should_exit = True
        server.force_exit = True
        await asyncio.wait({serving}, timeout=10)
        listening.close()
