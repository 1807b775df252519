"""web_search: search the web, by whichever provider was configured."""

from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.native.tools.fetching import AGENT, FetchFailed, no_answer
from runwire.native.tools.outcome import failed, one_line
from runwire.native.tools.tool import AskParts, Fetch, SearchAnswer, ToolContext, ToolResult
from runwire.protocol.events.web import WebSearchHit, WebSearchRequested, WebSearchResponse

LISTED_MAX = 20
_NS_PER_MS = 1_000_000
_ERRORS_FROM = 400


class WebSearchInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to search for."""

    query: Annotated[str, Meta(min_length=1, max_length=2000, description="Words to search for.")]


@dataclass(frozen=True, slots=True)
class WebSearch:
    """Searches by the provider of the context; without one it is not offered."""

    name: ClassVar[str] = "web_search"
    kind: ClassVar[str] = "web"
    about: ClassVar[str] = "Search the web and return titles, addresses and snippets; web_fetch reads a page."
    Input: ClassVar[type[WebSearchInput]] = WebSearchInput
    effects: ClassVar[Effects] = frozenset({"network"})

    def ask(self, given: WebSearchInput, context: ToolContext) -> AskParts:
        """Say what would be searched where."""
        hosts = () if context.search is None else (context.search.host,)
        timeout_ms = round(context.settings.http_timeout_s * 1000)
        return AskParts(summary=one_line(f"search {given.query}"), hosts=hosts, timeout_ms=timeout_ms)

    async def run(self, given: WebSearchInput, context: ToolContext) -> ToolResult:
        """Search, keep the answer and list the hits."""
        provider = context.search
        if provider is None:
            return failed("tool_unavailable", "no search provider is configured")
        context.host.emit(
            WebSearchRequested(tool_call_id=context.tool_call_id, query=given.query, provider=provider.name)
        )
        began_ns = context.clock.now_ns()
        try:
            answer = await provider.search(given.query, context)
        except FetchFailed as error:
            return no_answer(error)
        return await _told(given.query, answer, max(0, context.clock.now_ns() - began_ns) // _NS_PER_MS, context)


async def _told(query: str, answer: SearchAnswer, duration_ms: int, context: ToolContext) -> ToolResult:
    meta = ArtifactMeta(
        mime=answer.mime,
        summary=one_line(f"results for {query}"),
        produced_by_tool_call_id=context.tool_call_id,
        status_code=answer.status,
        query=query,
    )
    draft = await context.host.draft(NewArtifact("search_results", meta), answer.body)
    hits = list(answer.hits)[:LISTED_MAX]
    context.host.emit(
        WebSearchResponse(
            tool_call_id=context.tool_call_id,
            status=answer.status,
            duration_ms=duration_ms,
            hits=hits,
            hit_count=len(answer.hits),
            body_artifact_id=draft.artifact.artifact_id,
            body_truncated=answer.truncated,
        ),
        kept=(draft,),
    )
    if answer.status >= _ERRORS_FROM:
        return failed("http_status", f"the search provider answered {answer.status}")
    lines = [f"{hit.title}\n{hit.url}\n{hit.snippet}".strip() for hit in hits]
    summary = f"{len(answer.hits)} hits for {one_line(query, 80)}"
    return ToolResult(
        summary=summary, output="\n\n".join(lines) or "nothing was found", kept_artifact_id=draft.artifact.artifact_id
    )


class _Result(Struct):
    url: str = ""
    title: str = ""
    content: str | None = None


class _Results(Struct):
    results: list[_Result] = []


@dataclass(frozen=True, slots=True)
class Searxng:
    """A search engine that answers like SearXNG: `?q=…&format=json`."""

    url: str

    @property
    def name(self) -> str:
        """What events call it."""
        return "searxng"

    @property
    def host(self) -> str:
        """Where queries go."""
        return urlsplit(self.url).hostname or ""

    async def search(self, query: str, context: ToolContext) -> SearchAnswer:
        """Ask it. The operator named its address, so it may be in the own network."""
        parts = urlsplit(self.url)
        joined = urlencode({"q": query, "format": "json"})
        address = parts._replace(query=f"{parts.query}&{joined}" if parts.query else joined).geturl()
        answer = await context.http.fetch(
            Fetch(
                method="GET",
                url=address,
                headers={"user-agent": AGENT, "accept": "application/json"},
                allow_hosts=(self.host if ":" not in self.host else f"[{self.host}]",),
                timeout_s=context.settings.http_timeout_s,
                limit_bytes=context.settings.http_body_limit_bytes,
                redirects_max=0,
            )
        )
        try:
            found = msgspec.json.decode(answer.body, type=_Results).results
        except msgspec.DecodeError:
            if answer.status < _ERRORS_FROM:
                raise FetchFailed("bad_answer", "the search provider did not answer with JSON") from None
            found = []
        hits = [WebSearchHit(title=one.title, url=one.url, snippet=one.content or "") for one in found if one.url]
        mime = answer.headers.get("content-type", "application/json")
        return SearchAnswer(status=answer.status, hits=hits, body=answer.body, mime=mime, truncated=answer.truncated)
