"""One answer, written as OpenAI's Responses would stream it."""

from collections.abc import Callable, Iterator, Mapping

from runwire.testing.model_wires import Answer, Failure, ServedCall, event_frame, pieces_of

_Json = dict[str, object]
_Events = Iterator[tuple[str, _Json]]


def responses_frames(answer: Answer, *, model: str, serial: int = 1) -> Iterator[bytes]:
    """The frames of a Responses stream, the closing one included; `serial` tells one answer of a server from another."""
    response: _Json = {"id": f"resp_{serial}", "object": "response", "model": model, "status": "in_progress"}
    items: list[_Json] = []
    parts: list[Callable[[str, int], Iterator[tuple[str, _Json]]]] = []
    if answer.thinking:
        parts.append(lambda item_id, index: _reasoning(answer.thinking, item_id, index))
    if answer.text:
        parts.append(lambda item_id, index: _message(answer.text, item_id, index))
    parts.extend(_calling(call) for call in answer.calls)

    def events() -> _Events:
        yield "response.created", {"response": {**response, "output": []}}
        for index, part in enumerate(parts):
            for name, body in part(f"item_{serial}_{index}", index):
                if name == "response.output_item.done":
                    items.append(_object(body["item"]))
                yield name, body
        yield _closing(answer, {**response, "output": items})

    for number, (name, body) in enumerate(events()):
        yield event_frame({"type": name, "sequence_number": number, **body})


def responses_mid_failure(failure: Failure) -> bytes:
    """An error in the middle of a Responses stream."""
    error = {"code": failure.code or failure.kind, "message": failure.message}
    return event_frame({"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "error": error}})


def _closing(answer: Answer, response: _Json) -> tuple[str, _Json]:
    used = answer.usage
    response["usage"] = {
        "input_tokens": used.input_tokens,
        "input_tokens_details": {"cached_tokens": used.cache_read_tokens},
        "output_tokens": used.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input_tokens + used.output_tokens,
    }
    cut_by = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(answer.stop)
    if cut_by is None:
        return "response.completed", {"response": {**response, "status": "completed"}}
    return "response.incomplete", {
        "response": {**response, "status": "incomplete", "incomplete_details": {"reason": cut_by}}
    }


def _message(text: str, item_id: str, index: int) -> _Events:
    where = {"item_id": item_id, "output_index": index, "content_index": 0}
    item: _Json = {"id": item_id, "type": "message", "role": "assistant"}
    yield "response.output_item.added", _at(index, {**item, "status": "in_progress", "content": []})
    yield "response.content_part.added", {**where, "part": {"type": "output_text", "text": "", "annotations": []}}
    for piece in pieces_of(text):
        yield "response.output_text.delta", {**where, "delta": piece}
    part = {"type": "output_text", "text": text, "annotations": []}
    yield "response.output_text.done", {**where, "text": text}
    yield "response.content_part.done", {**where, "part": part}
    yield "response.output_item.done", _at(index, {**item, "status": "completed", "content": [part]})


def _reasoning(text: str, item_id: str, index: int) -> _Events:
    where = {"item_id": item_id, "output_index": index, "summary_index": 0}
    item: _Json = {"id": item_id, "type": "reasoning"}
    yield "response.output_item.added", _at(index, {**item, "summary": []})
    yield "response.reasoning_summary_part.added", {**where, "part": {"type": "summary_text", "text": ""}}
    for piece in pieces_of(text):
        yield "response.reasoning_summary_text.delta", {**where, "delta": piece}
    part = {"type": "summary_text", "text": text}
    yield "response.reasoning_summary_text.done", {**where, "text": text}
    yield "response.reasoning_summary_part.done", {**where, "part": part}
    yield "response.output_item.done", _at(index, {**item, "summary": [part]})


def _calling(call: ServedCall) -> Callable[[str, int], _Events]:
    kind, field, delta = (
        ("custom_tool_call", "input", "response.custom_tool_call_input")
        if call.is_freeform
        else ("function_call", "arguments", "response.function_call_arguments")
    )

    def events(item_id: str, index: int) -> _Events:
        where = {"item_id": item_id, "output_index": index}
        item: _Json = {"id": item_id, "type": kind, "call_id": call.call_id, "name": call.name}
        yield "response.output_item.added", _at(index, {**item, "status": "in_progress", field: ""})
        for piece in pieces_of(call.arguments):
            yield f"{delta}.delta", {**where, "delta": piece}
        yield f"{delta}.done", {**where, field: call.arguments}
        yield "response.output_item.done", _at(index, {**item, "status": "completed", field: call.arguments})

    return events


def _at(index: int, item: _Json) -> _Json:
    return {"output_index": index, "item": item}


def _object(value: object) -> _Json:
    return dict(value) if isinstance(value, Mapping) else {}
