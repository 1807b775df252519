"""The network tools: what they send and tell, and which addresses they refuse."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from runwire.native.tools.fetching import PinnedFetcher
from runwire.native.tools.readable import readable
from runwire.native.tools.tool import ToolSettings
from runwire.native.tools.web_search import Searxng
from runwire.protocol.events.web import HttpRequested, HttpResponse, WebFetchResponse, WebSearchResponse
from runwire.testing.host import FakeHost
from runwire.workspace.errors import AddressRefused
from tests.native.tools.web import PAGE, Web, small_web
from tests.native.tools.workbench import Bench, bench, facts_for, make_tools


@pytest.fixture
async def web() -> AsyncGenerator[Web]:
    async with small_web() as served:
        yield served


@pytest.fixture
async def allowed(workspace: Path, data: Path, web: Web) -> AsyncGenerator[Bench]:
    """Tools of a run that may reach this machine."""
    facts = facts_for(workspace, allow_hosts=["127.0.0.1", "localhost"])
    tools = make_tools(data, search=Searxng(web.url("/search")))
    async with bench(data, FakeHost(facts=facts), tools) as made:
        yield made


async def test_a_request_is_told_without_its_values_and_its_answer_is_kept(allowed: Bench, web: Web) -> None:
    given = {"method": "POST", "url": web.url("/json"), "headers": {"X-Key": "s3cret"}, "body": "hé"}
    result = await allowed.call("http_request", given)
    assert web.asked[0][0] == "POST"
    assert web.asked[0][2]["x-key"] == "s3cret"
    assert web.asked[0][3] == "hé".encode()
    assert allowed.types == ["tool.http.requested", "artifact.created", "tool.http.response"]
    requested = next(p for p in allowed.host.payloads if isinstance(p, HttpRequested))
    assert (requested.method, requested.header_keys) == ("POST", ["accept", "user-agent", "x-key"])
    response = next(p for p in allowed.host.payloads if isinstance(p, HttpResponse))
    artifact, body = allowed.host.artifacts[str(response.body_artifact_id)]
    assert (response.status, artifact.meta.status_code, artifact.kind) == (200, 200, "fetched_resource")
    assert body == '{"got":"hé"}'.encode()
    assert "set-cookie" not in artifact.meta.headers
    assert result.output.startswith("HTTP 200 ")
    assert result.output.endswith('\n\n{"got":"hé"}')
    assert (await allowed.call("http_request", {"method": "GET", "url": web.url("/missing")})).outcome == "completed"


async def test_a_body_is_kept_up_to_its_cap(allowed: Bench, web: Web) -> None:
    await allowed.call("http_request", {"method": "GET", "url": web.url("/big")})
    response = next(p for p in allowed.host.payloads if isinstance(p, HttpResponse))
    assert response.body_truncated
    assert allowed.host.artifacts[str(response.body_artifact_id)][0].size == 1_048_576


async def test_a_page_is_told_as_text(allowed: Bench, web: Web) -> None:
    result = await allowed.call("web_fetch", {"url": web.url("/page")})
    assert "Boil water, then wait." in result.output
    assert f"[black]({web.url('/black')})" in result.output
    assert "evil" not in result.output
    assert allowed.types == [
        "tool.web_fetch.requested",
        "artifact.created",
        "artifact.created",
        "tool.web_fetch.response",
    ]
    response = next(p for p in allowed.host.payloads if isinstance(p, WebFetchResponse))
    assert allowed.host.artifacts[str(response.extracted_text_artifact_id)][1].decode() == result.output
    assert allowed.host.artifacts[str(response.body_artifact_id)][1].decode() == PAGE
    assert (await allowed.call("web_fetch", {"url": web.url("/latin")})).output == "café"
    assert (await allowed.call("web_fetch", {"url": web.url("/missing")})).code == "http_status"
    assert (await allowed.call("web_fetch", {"url": web.url("/bytes")})).code == "binary_content"


def test_a_page_keeps_its_shape() -> None:
    assert readable(PAGE, "http://h/") == (
        "# Tea & time\n\n# Tea\n\nBoil water, then wait.\n\n- green\n- [black](http://h/black)\n\n```\na\n  b\n```\n\n| x | 1"
    )
    assert readable("<p>" * 5_000 + "deep", "http://h/").strip() == "deep"
    assert readable("", "http://h/") == ""


async def test_a_search_is_told_with_its_hits(allowed: Bench) -> None:
    result = await allowed.call("web_search", {"query": "green tea"})
    assert result.output == "green tea\nhttps://example.org/\na hit"
    assert allowed.types == ["tool.web_search.requested", "artifact.created", "tool.web_search.response"]
    response = next(p for p in allowed.host.payloads if isinstance(p, WebSearchResponse))
    assert (response.hit_count, response.status) == (1, 200)


async def test_a_search_engine_that_answers_nonsense_fails_the_call(workspace: Path, data: Path, web: Web) -> None:
    tools = make_tools(data, search=Searxng(web.url("/broken-search")))
    async with bench(data, FakeHost(facts=facts_for(workspace)), tools) as made:
        assert (await made.call("web_search", {"query": "x"})).code == "bad_answer"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/page",
        "http://localhost:{port}/page",
        "http://[::1]:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://0.0.0.0:{port}/",
        "http://2130706433:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
    ],
)
async def test_an_address_of_the_own_network_is_refused(ready: Bench, web: Web, url: str) -> None:
    for name, given in (("http_request", {"method": "GET"}), ("web_fetch", {})):
        with pytest.raises(AddressRefused):
            await ready.call(name, {**given, "url": url.format(port=web.port)})
    assert web.asked == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://h/", "http://", "//h/", "http://u:p@h/", "http://h:99999/"]
)
async def test_what_is_no_address_of_the_web_is_not_asked(ready: Bench, url: str) -> None:
    assert (await ready.call("web_fetch", {"url": url})).code == "invalid_input"
    assert ready.types == []


async def test_a_redirect_is_checked_like_a_first_request(workspace: Path, data: Path, web: Web) -> None:
    async def resolve(host: str, _: int) -> Sequence[str]:
        return {"good.test": ["127.0.0.1"], "evil.test": ["127.0.0.1"]}.get(host, [host])

    facts = facts_for(workspace, allow_hosts=["good.test"])
    tools = make_tools(data, http=PinnedFetcher(resolve=resolve))
    async with bench(data, FakeHost(facts=facts), tools) as made:
        fine = web.url(f"/away?to={web.url('/page', 'good.test')}", "good.test")
        assert (await made.call("web_fetch", {"url": fine})).outcome == "completed"
        with pytest.raises(AddressRefused):
            await made.call("web_fetch", {"url": web.url(f"/away?to={web.url('/page', 'evil.test')}", "good.test")})
        assert (
            await made.call("web_fetch", {"url": web.url("/away?to=file:///etc/passwd", "good.test")})
        ).outcome == "failed"
        named = web.url("/page", "someone:word@good.test")
        refused = await made.call("web_fetch", {"url": web.url(f"/away?to={named}", "good.test")})
        assert (refused.outcome, refused.code) == ("failed", "invalid_input")
    assert [asked[1] for asked in web.asked] == ["/away", "/page", "/away", "/away", "/away"]


async def test_what_proves_who_asks_is_not_sent_to_another_origin(allowed: Bench, web: Web) -> None:
    headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Other": "1"}
    target = web.url("/json", "localhost")
    given = {"method": "POST", "url": web.url(f"/away?as=307&to={target}"), "headers": headers, "body": "b"}
    await allowed.call("http_request", given)
    method, path, sent, body = web.asked[-1]
    assert (method, path, body) == ("POST", "/json", b"b")
    assert "authorization" not in sent
    assert "cookie" not in sent
    assert sent["x-other"] == "1"
    await allowed.call("http_request", {**given, "url": web.url(f"/away?as=303&to={web.url('/json')}")})
    assert (web.asked[-1][0], web.asked[-1][3], web.asked[-1][2]["authorization"]) == ("GET", b"", "Bearer x")


async def test_redirects_come_to_an_end(allowed: Bench, web: Web) -> None:
    assert (await allowed.call("web_fetch", {"url": web.url("/loop")})).code == "too_many_redirects"
    assert len(web.asked) == 1 + ToolSettings().redirects_max


async def test_a_name_that_changes_its_address_is_asked_for_once(workspace: Path, data: Path, web: Web) -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])

    async def rebinding(_: str, __: int) -> Sequence[str]:
        return next(answers)

    tools = make_tools(data, http=PinnedFetcher(resolve=rebinding), settings=ToolSettings(http_timeout_s=0.5))
    async with bench(data, FakeHost(facts=facts_for(workspace)), tools) as made:
        result = await made.call("web_fetch", {"url": web.url("/page", "rebind.test")})
        assert result.outcome in {"failed", "timed_out"}
    assert web.asked == []
    assert next(answers) == ["127.0.0.1"]


async def test_a_server_that_does_not_answer_is_not_waited_for(workspace: Path, data: Path, web: Web) -> None:
    tools = make_tools(data, settings=ToolSettings(http_timeout_s=0.3))
    facts = facts_for(workspace, allow_hosts=["127.0.0.1"])
    async with bench(data, FakeHost(facts=facts), tools) as made:
        result = await made.call("http_request", {"method": "GET", "url": web.url("/slow")})
        assert (result.outcome, result.limit) == ("timed_out", "wall_clock")
        gone = await made.call("http_request", {"method": "GET", "url": "http://127.0.0.1:1/"})
        assert (gone.outcome, gone.code) == ("failed", "unreachable")


async def test_headers_that_belong_to_the_connection_are_refused(allowed: Bench, web: Web) -> None:
    for headers in ({"Host": "evil"}, {"Content-Length": "0"}, {"X": "a\r\nY: b"}, {"": "x"}):
        result = await allowed.call("http_request", {"method": "GET", "url": web.url("/"), "headers": headers})
        assert result.code == "invalid_input"
    assert web.asked == []


async def test_what_would_be_asked_is_said_with_its_host(allowed: Bench) -> None:
    context = allowed.toolset.context("call_1", 0)
    http, fetch, search = (allowed.tool(name) for name in ("http_request", "web_fetch", "web_search"))
    assert http.ask(http.Input(method="GET", url="https://Example.org/x"), context).hosts == ("example.org",)
    assert fetch.ask(fetch.Input(url="not an address"), context).hosts == ()
    assert search.ask(search.Input(query="x"), context).hosts == ("127.0.0.1",)
    assert {tool.effects for tool in (http, fetch, search)} == {frozenset({"network"})}
