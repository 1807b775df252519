"""What is said to `opencode serve`: requests as values, to be sent by whoever has a connection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from runwire.agents.dialect import Image
from runwire.host import Answer


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. A body is sent as JSON."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    body: Mapping[str, object] | None = None


EVENTS = Request("GET", "/event")
"""The stream of events; to be open before anything is asked."""


def new_session(title: str = "") -> Request:
    """Make a session. The answer's `id` names it."""
    return Request("POST", "/session", {"title": title} if title else {})


def prompt(session: str, text: str, images: Sequence[Image] = (), *, model: str | None = None) -> Request:
    """Ask for something, and do not wait for it. A model is named `provider/name` or `provider:name`."""
    parts: list[dict[str, object]] = [{"type": "text", "text": text}]
    parts += [
        {"type": "file", "mime": image.mime, "url": f"data:{image.mime};base64,{image.base64}"} for image in images
    ]
    body: dict[str, object] = {"parts": parts}
    if model:
        provider, _, name = model.partition("/" if "/" in model else ":")
        body["model"] = {"providerID": provider, "modelID": name}
    return Request("POST", f"/session/{_segment(session)}/prompt_async", body)


def abort(session: str) -> Request:
    """Stop what the session does."""
    return Request("POST", f"/session/{_segment(session)}/abort")


def summarize(session: str, *, provider: str, model: str) -> Request:
    """Shorten the conversation."""
    path = f"/session/{_segment(session)}/summarize"
    return Request("POST", path, {"providerID": provider, "modelID": model})


def reply(permission: str, answer: Answer) -> Request:
    """Answer a permission that was asked for: once, always for the session, or not."""
    body: dict[str, object] = {"reply": word(answer)}
    if not answer.allowed and answer.told:
        body["message"] = answer.told
    return Request("POST", f"/permission/{_segment(permission)}/reply", body)


def answers(question: str, chosen: Sequence[Sequence[str]]) -> Request:
    """Answer questions to a person: of each, what was chosen."""
    return Request("POST", f"/question/{_segment(question)}/reply", {"answers": [list(one) for one in chosen]})


def refusal(question: str) -> Request:
    """Leave questions to a person without an answer."""
    return Request("POST", f"/question/{_segment(question)}/reject")


def word(answer: Answer) -> str:
    """An answer in the words of opencode."""
    if not answer.allowed:
        return "reject"
    return "once" if answer.scope == "once" else "always"


def _segment(text: str) -> str:
    return quote(text, safe="")
