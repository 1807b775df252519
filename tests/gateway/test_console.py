"""The console's files: who gets them, how they are sent, and what they may do in a browser."""

import asyncio
import gzip
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest

from runwire.gateway.services import BUILT
from tests.gateway.serving import SSE, V1, Served, caller, error_of, serving
from tests.patience import PATIENCE_S

PAGE = b'<!doctype html><link rel="icon" href="./assets/icon-c3d4.svg"><script type="module" src="./assets/index-a1b2.js"></script>'
SCRIPT = b"export const answer = 42;\n" * 40
PREFIX = "/tools/runwire"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A console as the build leaves it."""
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    files = {"index.html": PAGE, "assets/icon-c3d4.svg": b"<svg/>", "assets/index-a1b2.js": SCRIPT}
    for name, body in files.items():
        (folder / name).write_bytes(body)
        (folder / f"{name}.gz").write_bytes(gzip.compress(body))
    return folder


@pytest.fixture
async def gateway(tmp_path: Path, built: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path / "data", console=built) as served:
        yield served


@pytest.fixture
async def stranger(gateway: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with caller(gateway.port, None) as http:
        yield http


async def test_the_page_comes_without_a_token_and_is_asked_for_again_each_time(stranger: httpx2.AsyncClient) -> None:
    page = await stranger.get("/")
    assert (page.status_code, page.content) == (200, PAGE)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    again = await stranger.get("/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == page.headers["etag"]


async def test_a_page_built_anew_has_another_tag(stranger: httpx2.AsyncClient, built: Path) -> None:
    old = (await stranger.get("/")).headers["etag"]
    (built / "index.html.gz").write_bytes(gzip.compress(b"<!doctype html>new"))
    new = await stranger.get("/", headers={"if-none-match": old})
    assert (new.status_code, new.content) == (200, b"<!doctype html>new")


async def test_an_asset_is_kept_for_ever(stranger: httpx2.AsyncClient) -> None:
    asset = await stranger.get("/assets/index-a1b2.js")
    assert (asset.status_code, asset.content) == (200, SCRIPT)
    assert asset.headers["content-type"] == "text/javascript; charset=utf-8"
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepts", "packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8", True),
        ("*", True),
        ("gzip;q=0", False),
        ("identity", False),
        ("", False),
    ],
)
async def test_a_file_is_packed_for_those_who_can_unpack_it(
    stranger: httpx2.AsyncClient, accepts: str, packed: bool
) -> None:
    asset = await stranger.get("/assets/index-a1b2.js", headers={"accept-encoding": accepts})
    assert asset.content == SCRIPT
    assert (asset.headers.get("content-encoding") == "gzip") is packed
    assert (int(asset.headers["content-length"]) < len(SCRIPT)) is packed
    assert asset.headers["vary"] == "accept-encoding"


async def test_a_head_tells_the_same_without_the_body(stranger: httpx2.AsyncClient) -> None:
    whole, head = await stranger.get("/assets/index-a1b2.js"), await stranger.head("/assets/index-a1b2.js")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


@pytest.mark.parametrize("path", ["/", "/assets/icon-c3d4.svg", "/assets/index-a1b2.js"])
async def test_a_file_may_run_nothing_but_its_own_kind(stranger: httpx2.AsyncClient, path: str) -> None:
    headers = (await stranger.get(path)).headers
    policy = {name: rest for name, _, rest in (part.strip().partition(" ") for part in _policy(headers))}
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "microphone=()" in headers["permissions-policy"]


def _policy(headers: httpx2.Headers) -> list[str]:
    return str(headers["content-security-policy"]).split(";")


@pytest.mark.parametrize(
    "path", ["/assets/nothing-here.js", "/assets/index-a1b2", "/assets/index-a1b2.js.gz", "/assets/x.py"]
)
async def test_what_is_not_there_is_refused_in_the_one_shape(stranger: httpx2.AsyncClient, path: str) -> None:
    refused = await stranger.get(path)
    assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../secret.txt",
        "/assets/..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%5c..%5csecret.txt",
        "/assets/link.txt",
        "/assets/.hidden.txt",
        "/assets/%00.txt",
        "/assets//etc/passwd",
        "/..%2fsecret.txt",
    ],
)
async def test_no_path_leads_out_of_the_folder(gateway: Served, built: Path, path: str) -> None:
    for name in ("secret.txt", "../secret.txt", "assets/.hidden.txt"):
        (built / name).write_text("top secret")
    (built / "assets/link.txt").symlink_to(built / "secret.txt")
    answer = await gateway.raw(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n".encode())
    assert int(answer.split(b" ")[1]) in {400, 401, 404}
    assert b"top secret" not in answer


async def test_a_console_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    async with serving(tmp_path / "other", console=tmp_path / "nowhere") as gateway, caller(gateway.port, None) as http:
        page = await http.get("/")
        assert page.status_code == 503
        assert "make console" in page.text
        assert "unsafe" not in page.headers["content-security-policy"]
        assert (await http.get("/healthz")).status_code == 200


@asynccontextmanager
async def proxied(port: int) -> AsyncGenerator[int]:
    """A proxy that serves the gateway below a prefix, which it takes away; the port that it listens on."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.split(b" ")
        assert target.startswith(PREFIX.encode() + b"/"), f"{target!r} has left the prefix"
        near, far = await asyncio.open_connection("127.0.0.1", port)
        far.write(b" ".join((method, target.removeprefix(PREFIX.encode()), version)) + b"\r\n" + rest)
        back = asyncio.create_task(_copy(near, writer))
        await _copy(reader, far)
        await back

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def test_behind_a_prefix_the_page_finds_its_files_and_its_gateway(tmp_path: Path, built: Path) -> None:
    named = {"host": "console.example", "connection": "close"}
    async with (
        serving(tmp_path / "data", console=built, allowed_hosts=["console.example"]) as gateway,
        proxied(gateway.port) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=named, trust_env=False) as http,
    ):
        await gateway.run()
        page = await http.get(f"{PREFIX}/")
        links = re.findall(r'(?:href|src)="([^"]+)"', page.text)
        assert len(links) == 2
        for link in links:
            assert (await http.get(urljoin(f"{PREFIX}/", link))).status_code == 200
        token = {"authorization": f"Bearer {gateway.token}", "origin": "https://console.example"}
        runs = await http.get(urljoin(f"{PREFIX}/", f".{V1}/runs"), headers=token)
        assert [run["run_id"] for run in runs.json()["data"]] == ["run_1"]
        async with (
            asyncio.timeout(PATIENCE_S),
            http.stream("GET", f"{PREFIX}{V1}/runs/run_1/events", headers=token | SSE) as live,
        ):
            assert live.status_code == 200
            text = ""
            async for piece in live.aiter_text():
                text += piece
                if "event: synced" in text:
                    break
        foreign = await http.get(f"{PREFIX}{V1}/runs", headers=token | {"origin": "https://evil.example"})
        assert (foreign.status_code, error_of(foreign)["code"]) == (403, "origin_not_allowed")


def test_the_built_page_names_its_files_without_a_leading_slash() -> None:
    links = re.findall(r'(?:href|src)="([^"]+)"', (BUILT / "index.html").read_text("utf-8"))
    assert links
    assert [link for link in links if not link.startswith("./assets/")] == []
