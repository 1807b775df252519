"""The client's half of ACP: what we ask, under which ids, and how questions are answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from runwire.agents.acp import frames as wire
from runwire.agents.dialect import Image

_ENCODER = msgspec.json.Encoder()
VERSION = 1
METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32000
_CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
_KEYS = ("api-key", "api_key", "apikey")
_ALLOW = ("allow_once", "allow_always")
_REJECT = ("reject_once", "reject_always")

Id = int | float | str | None


@dataclass(slots=True)
class Client:
    """Makes what is sent to the agent, and remembers what was asked."""

    cwd: str
    session_id: str | None = None
    auth_methods: Sequence[wire.AuthMethod] = ()
    is_authenticated: bool = False
    _next: int = 0
    _asked: dict[int, str] = field(default_factory=dict)
    _questions: dict[str, tuple[Id, Sequence[wire.Option]]] = field(default_factory=dict)

    def initialize(self) -> bytes:
        """The first words."""
        info = {"name": "runwire", "title": "Runwire", "version": "1"}
        return self._request(
            "initialize", {"protocolVersion": VERSION, "clientCapabilities": _CAPABILITIES, "clientInfo": info}
        )

    def authenticate(self, wanted: str | None) -> bytes | None:
        """Sign in as is wanted, else with a key of the environment's; None when there is no way without a person."""
        usable = [method.id for method in self.auth_methods if method.id and method.type != "terminal"]
        if wanted is not None and wanted in usable:
            usable = [wanted]
        by_key = [method for method in usable if any(key in method.lower() for key in _KEYS)]
        chosen = next(iter(by_key or usable), None)
        if chosen is None or self.is_authenticated:
            return None
        self.is_authenticated = True
        return self._request("authenticate", {"methodId": chosen})

    def new_session(self) -> bytes:
        """Begin a session in the workspace."""
        return self._request("session/new", {"cwd": self.cwd or "/", "mcpServers": []})

    def prompt(self, text: str, images: Sequence[Image]) -> bytes:
        """Ask for something."""
        blocks: list[object] = [{"type": "text", "text": text}]
        blocks += [{"type": "image", "mimeType": image.mime, "data": image.base64} for image in images]
        return self._request("session/prompt", {"sessionId": self.session_id or "", "prompt": blocks})

    def cancel(self) -> bytes:
        """Ask it to stop what it does."""
        return _line({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": self.session_id or ""}})

    def method_of(self, request_id: object) -> str:
        """What we had asked under an id; nothing when it is none of ours. An answer is taken once."""
        return self._asked.pop(request_id, "") if isinstance(request_id, int) else ""

    # Questions.

    def heard(self, question_id: str, request_id: Id, options: Sequence[wire.Option]) -> None:
        """The agent has asked something."""
        self._questions[question_id] = (request_id, options)

    def answer(self, question_id: str, *, allowed: bool) -> tuple[bytes, bool] | None:
        """The answer to a question, and whether it lets the call go; None when nobody asked."""
        found = self._questions.pop(question_id, None)
        if found is None:
            return None
        request_id, options = found
        kinds = _ALLOW if allowed else _REJECT
        chosen = next((option for kind in kinds for option in options if option.kind == kind), None)
        if chosen is None:
            return _result(request_id, {"outcome": {"outcome": "cancelled"}}), False
        outcome = {"outcome": "selected", "optionId": chosen.option_id}
        return _result(request_id, {"outcome": outcome}), allowed

    def withdraw(self, question_id: str) -> bytes | None:
        """The answer to a question that nobody will answer any more."""
        found = self._questions.pop(question_id, None)
        return None if found is None else _result(found[0], {"outcome": {"outcome": "cancelled"}})

    def forget_questions(self) -> None:
        """What was asked is over."""
        self._questions.clear()

    def _request(self, method: str, params: Mapping[str, object]) -> bytes:
        self._next += 1
        self._asked[self._next] = method
        return _line({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})


def refusal(request_id: Id, method: str) -> bytes:
    """The answer to a request for something that we never offered."""
    error = {"code": METHOD_NOT_FOUND, "message": f"this client does not offer {method[:200]}"}
    return _line({"jsonrpc": "2.0", "id": request_id, "error": error})


def _result(request_id: Id, result: Mapping[str, object]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def _line(message: Mapping[str, object]) -> bytes:
    return _ENCODER.encode(message) + b"\n"
