"""http_request: send an HTTP request."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.journal.artifact import is_text
from runwire.native.tools.fetching import (
    AGENT,
    FetchFailed,
    check_headers,
    check_url,
    host_of,
    keep,
    no_answer,
    text_of,
)
from runwire.native.tools.outcome import failed, one_line
from runwire.native.tools.tool import AskParts, Fetch, Fetched, ToolContext, ToolResult
from runwire.protocol.events.web import HttpRequested, HttpResponse

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class HttpRequestInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to send."""

    method: Annotated[Method, Meta(description="The method.")]
    url: Annotated[str, Meta(min_length=1, max_length=8192, description="The address, http or https.")]
    headers: Annotated[dict[str, str], Meta(max_length=64, description="Headers to send.")] = {}
    body: Annotated[str, Meta(description="The body, as text.")] | None = None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Sends requests to the open internet, and to what the task was allowed."""

    name: ClassVar[str] = "http_request"
    kind: ClassVar[str] = "http"
    about: ClassVar[str] = (
        "Send an HTTP request and return status, headers and body. web_fetch is better for pages to read."
    )
    Input: ClassVar[type[HttpRequestInput]] = HttpRequestInput
    effects: ClassVar[Effects] = frozenset({"network"})

    def ask(self, given: HttpRequestInput, context: ToolContext) -> AskParts:
        """Say where the request would go."""
        return AskParts(
            summary=one_line(f"{given.method} {given.url}"),
            hosts=host_of(given.url),
            timeout_ms=round(context.settings.http_timeout_s * 1000),
        )

    async def run(self, given: HttpRequestInput, context: ToolContext) -> ToolResult:
        """Send it, tell of it and keep the answer."""
        wrong = check_headers(given.headers)
        if wrong is not None:
            return failed("invalid_input", wrong)
        headers = {"user-agent": AGENT, "accept": "*/*", **{key.lower(): value for key, value in given.headers.items()}}
        settings = context.settings
        try:
            check_url(given.url)
            request = Fetch(
                method=given.method,
                url=given.url,
                headers=headers,
                body=None if given.body is None else given.body.encode(),
                allow_hosts=context.host.facts.allow_hosts,
                timeout_s=settings.http_timeout_s,
                limit_bytes=settings.http_body_limit_bytes,
                redirects_max=settings.redirects_max,
            )
            context.host.emit(
                HttpRequested(
                    tool_call_id=context.tool_call_id, method=given.method, url=given.url, header_keys=sorted(headers)
                )
            )
            answer = await context.http.fetch(request)
        except FetchFailed as error:
            return no_answer(error)
        return await _told(answer, context)


async def _told(answer: Fetched, context: ToolContext) -> ToolResult:
    draft = await keep(context, answer)
    artifact_id = draft.artifact.artifact_id
    context.host.emit(
        HttpResponse(
            tool_call_id=context.tool_call_id,
            status=answer.status,
            duration_ms=answer.duration_ms,
            body_artifact_id=artifact_id,
            body_truncated=answer.truncated,
        ),
        kept=(draft,),
    )
    mime = answer.headers.get("content-type", "")
    if is_text(mime) or not answer.body:
        body = text_of(answer)
    else:
        body = f"[{len(answer.body)} bytes of {mime or 'an unnamed type'}, kept as {artifact_id}]"
    if answer.truncated:
        body += f"\n[the first {len(answer.body)} bytes]"
    head = "\n".join(
        [f"HTTP {answer.status} {answer.url}", *(f"{key}: {value}" for key, value in answer.headers.items())]
    )
    summary = f"HTTP {answer.status}, {len(answer.body)} bytes"
    return ToolResult(summary=summary, output=f"{head}\n\n{body}", kept_artifact_id=artifact_id)
