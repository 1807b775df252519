"""Requests that leave the machine: plain HTTP, pages fetched for reading, searches."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload, Record


class HttpRequested(Payload):
    """A request is about to be sent."""

    type: ClassVar[str] = "tool.http.requested"

    tool_call_id: str
    method: str
    url: str
    header_keys: Annotated[list[str], Meta(description="Names, never values, of the headers sent.")]


class HttpResponse(Payload):
    """The answer arrived."""

    type: ClassVar[str] = "tool.http.response"

    tool_call_id: str
    status: Count
    duration_ms: Count
    body_artifact_id: str | UnsetType = UNSET
    body_truncated: bool = False


class WebFetchRequested(Payload):
    """A page is about to be fetched for reading."""

    type: ClassVar[str] = "tool.web_fetch.requested"

    tool_call_id: str
    method: str = "GET"
    url: str
    header_keys: Annotated[list[str], Meta(description="Names, never values, of the headers sent.")]


class WebFetchResponse(Payload):
    """The page arrived and its text was extracted."""

    type: ClassVar[str] = "tool.web_fetch.response"

    tool_call_id: str
    status: Count
    duration_ms: Count
    body_artifact_id: str | UnsetType = UNSET
    body_truncated: bool = False
    extracted_text_artifact_id: Annotated[str | UnsetType, Meta(description="The page as readable text.")] = UNSET


class WebSearchRequested(Payload):
    """A search is about to be sent."""

    type: ClassVar[str] = "tool.web_search.requested"

    tool_call_id: str
    query: str
    provider: Annotated[str | UnsetType, Meta(description="Who searches.")] = UNSET


class WebSearchHit(Record):
    """One search result."""

    title: str
    url: str
    snippet: str = ""


class WebSearchResponse(Payload):
    """The search results arrived."""

    type: ClassVar[str] = "tool.web_search.response"

    tool_call_id: str
    status: Count
    duration_ms: Count
    hits: list[WebSearchHit]
    hit_count: Annotated[Count, Meta(description="How many there are, also when fewer are listed.")]
    body_artifact_id: Annotated[str | UnsetType, Meta(description="The results in full.")] = UNSET
    body_truncated: bool = False
