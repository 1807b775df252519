"""What a log tells of tools that reach out."""

from runwire.protocol.events.artifact import ArtifactCreated
from runwire.protocol.events.error import ErrorToolUnavailable
from runwire.protocol.events.tool import ToolCompleted, ToolFailed
from runwire.protocol.events.web import (
    HttpRequested,
    HttpResponse,
    WebFetchResponse,
    WebSearchRequested,
    WebSearchResponse,
)
from tests.scenarios.playing import Repertoire


def test_what_was_fetched_is_kept_and_named(played: Repertoire) -> None:
    log = played("reaching_out").log
    kept = {one.artifact_id for one in log.all(ArtifactCreated)}
    assert (log.one(HttpRequested).method, log.one(HttpResponse).status) == ("GET", 200)
    assert log.one(HttpResponse).body_artifact_id in kept
    assert log.one(WebFetchResponse).body_artifact_id in kept
    assert len(log.all(ToolCompleted)) == 3


def test_a_search_lists_what_it_found(played: Repertoire) -> None:
    log = played("reaching_out").log
    assert log.one(WebSearchRequested).query == "an example"
    assert [hit.url for hit in log.one(WebSearchResponse).hits] == ["https://example.org/"]


def test_an_address_inside_needs_to_be_allowed(played: Repertoire) -> None:
    log = played("kept_inside").log
    assert log.one(ToolFailed).code == "address_refused"
    assert "tool.http.response" not in log.types


def test_a_search_without_a_provider_is_told_and_fails_for_the_model_only(played: Repertoire) -> None:
    log = played("no_search").log
    told = log.one(ErrorToolUnavailable)
    assert (told.tool_name, told.reason) == ("web_search", "no_provider_configured")
    assert log.one(ToolFailed).code == "tool_unavailable"
    assert log.types[-1] == "run.finished"


def test_tools_of_mcp_servers_are_calls_like_any_other(played: Repertoire) -> None:
    log = played("mcp_servers").log
    added, drawn = log.all(ToolCompleted)
    assert (added.kind, added.mcp_server, added.mcp_tool, added.result) == ("mcp", "own", "add", "dispatched")
    assert added.output == "5"
    assert drawn.mcp_server == "far"
    assert [one.kind for one in log.all(ArtifactCreated)] == ["image"]
    assert log.one(ToolFailed).mcp_tool == "fail"
    assert log.one(ErrorToolUnavailable).tool_name == "mcp__gone"
