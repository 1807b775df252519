"""web_fetch: read a page of the web."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct

from runwire.host import Effects
from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact, is_text
from runwire.native.tools.fetching import AGENT, FetchFailed, check_url, host_of, keep, no_answer, text_of
from runwire.native.tools.outcome import failed, one_line
from runwire.native.tools.tool import AskParts, Fetch, Fetched, ToolContext, ToolResult
from runwire.protocol.events.web import WebFetchRequested, WebFetchResponse

_HEADERS = {
    "user-agent": AGENT,
    "accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1",
}
_ERRORS_FROM = 400


class WebFetchInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to read."""

    url: Annotated[str, Meta(min_length=1, max_length=8192, description="The address, http or https.")]


@dataclass(frozen=True, slots=True)
class WebFetch:
    """Reads pages of the open internet, and of what the task was allowed."""

    name: ClassVar[str] = "web_fetch"
    kind: ClassVar[str] = "web"
    about: ClassVar[str] = "Fetch a page and return its text, with headings, lists and links."
    Input: ClassVar[type[WebFetchInput]] = WebFetchInput
    effects: ClassVar[Effects] = frozenset({"network"})

    def ask(self, given: WebFetchInput, context: ToolContext) -> AskParts:
        """Say which page would be fetched."""
        timeout_ms = round(context.settings.http_timeout_s * 1000)
        return AskParts(summary=one_line(f"fetch {given.url}"), hosts=host_of(given.url), timeout_ms=timeout_ms)

    async def run(self, given: WebFetchInput, context: ToolContext) -> ToolResult:
        """Fetch it, keep it and tell what it says."""
        settings = context.settings
        try:
            check_url(given.url)
            context.host.emit(
                WebFetchRequested(tool_call_id=context.tool_call_id, url=given.url, header_keys=sorted(_HEADERS))
            )
            answer = await context.http.fetch(
                Fetch(
                    method="GET",
                    url=given.url,
                    headers=_HEADERS,
                    allow_hosts=context.host.facts.allow_hosts,
                    timeout_s=settings.http_timeout_s,
                    limit_bytes=settings.http_body_limit_bytes,
                    redirects_max=settings.redirects_max,
                )
            )
        except FetchFailed as error:
            return no_answer(error)
        return await _told(answer, context)


async def _told(answer: Fetched, context: ToolContext) -> ToolResult:
    body = await keep(context, answer)
    text = await asyncio.to_thread(_extracted, answer)
    extracted = None if text is None else await _keep_text(context, answer, text)
    context.host.emit(
        WebFetchResponse(
            tool_call_id=context.tool_call_id,
            status=answer.status,
            duration_ms=answer.duration_ms,
            body_artifact_id=body.artifact.artifact_id,
            body_truncated=answer.truncated,
            extracted_text_artifact_id=UNSET if extracted is None else extracted.artifact.artifact_id,
        ),
        kept=(body,) if extracted is None else (body, extracted),
    )
    if answer.status >= _ERRORS_FROM:
        return failed("http_status", f"{answer.url} answered {answer.status}")
    if text is None or extracted is None:
        mime = answer.headers.get("content-type", "an unnamed type")
        return failed("binary_content", f"{answer.url} is {mime}, kept as {body.artifact.artifact_id}")
    if answer.truncated:
        text += f"\n[the page goes on; this is from its first {len(answer.body)} bytes]"
    summary = f"{answer.url}: {len(text)} characters"
    return ToolResult(
        summary=summary, output=text or "[the page has no text]", kept_artifact_id=extracted.artifact.artifact_id
    )


def _extracted(answer: Fetched) -> str | None:
    from runwire.native.tools.readable import readable

    mime = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if mime in {"text/html", "application/xhtml+xml"}:
        return readable(text_of(answer), answer.url)
    return text_of(answer) if is_text(mime) or not mime else None


async def _keep_text(context: ToolContext, answer: Fetched, text: str) -> Draft:
    meta = ArtifactMeta(
        mime="text/plain; charset=utf-8",
        summary=f"the text of {answer.url}"[:200],
        produced_by_tool_call_id=context.tool_call_id,
        url=answer.url,
        status_code=answer.status,
    )
    return await context.host.draft(NewArtifact("fetched_resource", meta), text.encode(errors="replace"))
