"""One answer, written as Gemini would stream it or give it whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from runwire.testing.model_wires import Answer, Failure, data_frame, pieces_of

_Json = dict[str, object]
_REASONS = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
}


def gemini_frames(answer: Answer, *, model: str, serial: int = 1) -> Iterator[bytes]:
    """The frames of a streamed answer; `serial` tells one answer of a server from another."""
    for part in _parts(answer, pieces_of):
        yield data_frame(_piece(answer, [part], model=model, serial=serial))
    yield data_frame(_piece(answer, [{"text": ""}], model=model, serial=serial, reason=_REASONS[answer.stop]))


def gemini_whole(answer: Answer, *, model: str, serial: int = 1) -> bytes:
    """The body of an answer that is not streamed."""
    parts = [*_parts(answer, lambda text: (text,) if text else ())] or [{"text": ""}]
    return msgspec.json.encode(_piece(answer, parts, model=model, serial=serial, reason=_REASONS[answer.stop]))


def gemini_failure(failure: Failure) -> bytes:
    """The body of an error of Gemini's."""
    status = _STATUSES.get(failure.status, "UNAVAILABLE")
    return msgspec.json.encode({"error": {"code": failure.status, "message": failure.message, "status": status}})


def gemini_mid_failure(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return b"data: " + gemini_failure(failure) + b"\n\n"


def _parts(answer: Answer, cut: Callable[[str], Iterable[str]]) -> Iterator[_Json]:
    for piece in cut(answer.thinking):
        yield {"text": piece, "thought": True}
    for piece in cut(answer.text):
        yield {"text": piece}
    for call in answer.calls:
        # Arguments are never streamed as text here, so what is no JSON cannot be said on this wire.
        arguments = msgspec.json.decode(call.arguments, type=dict[str, object])
        yield {"functionCall": {"id": call.call_id, "name": call.name, "args": arguments}}


def _piece(
    answer: Answer, parts: Sequence[Mapping[str, object]], *, model: str, serial: int, reason: str | None = None
) -> _Json:
    candidate: _Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    used = answer.usage
    usage = {
        "promptTokenCount": used.input_tokens,
        "candidatesTokenCount": used.output_tokens,
        "totalTokenCount": used.input_tokens + used.output_tokens,
        "cachedContentTokenCount": used.cache_read_tokens,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": f"response-{serial}",
    }
