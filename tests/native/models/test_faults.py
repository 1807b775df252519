"""Errors of providers mean the same, whoever words them."""

from datetime import UTC, datetime

import pytest

from runwire.native.models.faults import MESSAGE_MAX, answered, retry_after_s, status_of_kinds


@pytest.mark.parametrize(
    ("status", "message", "kinds", "code", "retriable"),
    [
        (400, "This model's maximum context length is 128000 tokens.", (), "context_overflow", False),
        (400, "x", ("context_length_exceeded",), "context_overflow", False),
        (400, "the request exceeds the available context size, try increasing it", (), "context_overflow", False),
        (400, "registry.ollama.ai/library/gemma:latest does not support tools", (), "capability_missing", False),
        (404, "No endpoints found that support tool use.", (), "capability_missing", False),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            (),
            "capability_missing",
            False,
        ),
        (400, "Tools are not supported by this model", (), "capability_missing", False),
        (400, "filtered", ("content_filter",), "model_refused", False),
        (402, "pay first", (), "rate_limited", False),
        (408, "timeout", (), "model_unreachable", True),
        (409, "conflict", (), "model_unreachable", True),
        (501, "not implemented", (), "bad_request", False),
        (502, "", (), "model_unreachable", True),
        (None, "broke", (), "model_unreachable", True),
    ],
)
def test_an_error_has_one_meaning(
    status: int | None, message: str, kinds: tuple[str, ...], code: str, retriable: bool
) -> None:
    fault = answered(status, message, kinds=kinds)
    assert (fault.code, fault.retriable, fault.status) == (code, retriable, status)
    assert fault.message


def test_a_long_message_is_cut() -> None:
    assert len(answered(500, "x" * 100_000).message) == MESSAGE_MAX


@pytest.mark.parametrize(
    ("kinds", "status"),
    [(("overloaded_error",), 529), (("502", "x"), 502), (("x",), None), ((), None), (("Rate_Limit_Exceeded",), 429)],
)
def test_an_error_in_a_stream_has_the_status_it_would_have_had(kinds: tuple[str, ...], status: int | None) -> None:
    assert status_of_kinds(kinds) == status


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "99999999"}, 3600.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 16 Nov 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 16 Nov 2026 00:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 15 Nov 2026 00:00:00 GMT"}, 0.0),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(headers, now=datetime(2026, 11, 16, tzinfo=UTC)) == wait_s
