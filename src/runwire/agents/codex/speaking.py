"""Speaking with `codex app-server`: a greeting, a thread, one turn at a time, and answers to what it asks."""

from collections.abc import Mapping, Sequence

import msgspec

from runwire.agents.codex import frames as wire
from runwire.agents.codex.app_server import AppServerDialect
from runwire.agents.dialect import Cancelled, Image, Telling
from runwire.host import Answer, Failed

_ENCODER = msgspec.json.Encoder()
_TURN = msgspec.json.Decoder(wire.TurnResult)
_NO_SUCH_METHOD = -32601

APPROVALS = "untrusted"
"""It asks before whatever is not known to be harmless, so that our policy decides."""
SANDBOX = "danger-full-access"
"""It confines nothing by itself: it runs inside our confinement already."""


class CodexSpeaker(AppServerDialect):
    """Understands `codex app-server` and speaks it. `session` may name the `thread` to go on with, and the `model`."""

    def __init__(self, telling: Telling) -> None:
        super().__init__(telling)
        self._sent = 0
        self._pending: dict[wire.RequestId, str] = {}
        self._is_threaded = False
        self._is_busy = False
        self._is_interrupted = False
        self._refusal = ""

    @property
    def ready(self) -> bool:
        """Whether there is a thread, and no turn that is not over; or none can be had, which a prompt will show."""
        return bool(self._refusal) or (self._is_threaded and not self._is_busy)

    def hello(self) -> None:
        """Greet it; the thread is asked for when it has answered."""
        client = {"name": "runwire", "title": "Runwire", "version": "1"}
        self._request("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for a turn."""
        if self._refusal:
            self.teller.leg_ends(Failed("rejected", self._refusal))
            return
        self._is_busy, self._is_interrupted = True, False
        given: list[dict[str, object]] = [{"type": "text", "text": text}]
        given += [{"type": "image", "url": f"data:{image.mime};base64,{image.base64}"} for image in images]
        self._request("turn/start", {"threadId": self.thread, "input": given})

    def answer(self, question_id: str, answer: Answer) -> None:
        """Let it do what it asks, or not; with `stop` the turn ends as well."""
        request_id = self.holding.take(question_id)
        if request_id is None:
            return
        self._send({"id": request_id, "result": {"decision": decision(answer)}})
        self.holding.decided(question_id, answer)

    def cancel(self, by: str, reason: str) -> bool:
        """Interrupt the turn, as soon as it has a name."""
        self.teller.cancelling = Cancelled(by, reason)
        self._is_interrupted = True
        self._interrupt()
        return True

    def responded(self, frame: wire.Frame) -> None:
        """One of our requests was answered."""
        asked = self._pending.pop(frame.id, "") if frame.id is not None else ""
        if frame.error is not None:
            self._refused(asked, frame.error.message)
        elif asked == "initialize":
            self._send({"method": "initialized"})
            self._ask_for_thread()
        elif asked in {"thread/start", "thread/resume"}:
            self.threaded(frame.result)
            self._is_threaded = bool(self.thread)
        elif asked == "turn/start":
            self._turned(frame.result)

    def unasked(self, request_id: wire.RequestId) -> None:
        """Say that nobody here can do it, so that it does not wait for an answer."""
        message = "this client does not do that"
        self._send({"id": request_id, "error": {"code": _NO_SUCH_METHOD, "message": message}})

    def turn_over(self) -> None:
        """Another turn may be asked for."""
        self._is_busy = False

    def _ask_for_thread(self) -> None:
        session = self.teller.telling.session
        wished: dict[str, object] = {
            "approvalPolicy": session.get("approval_policy", APPROVALS),
            "sandbox": session.get("sandbox", SANDBOX),
        }
        if cwd := self.teller.telling.cwd:
            wished["cwd"] = cwd
        if model := session.get("model"):
            wished["model"] = model
        if self.thread:
            self._request("thread/resume", {"threadId": self.thread, **wished})
        else:
            self._request("thread/start", wished)

    def _turned(self, result: msgspec.Raw) -> None:
        try:
            told = _TURN.decode(result)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if told.turn is not None and told.turn.id and self._is_busy:
            self.turn = told.turn.id
            if self._is_interrupted:
                self._interrupt()

    def _refused(self, asked: str, message: str) -> None:
        if asked == "turn/interrupt":
            # The turn was over by itself; how, it says, or has said.
            return
        why = message or f"{asked or 'a request'} was refused"
        if asked == "turn/start":
            self._is_busy = False
            self.teller.leg_ends(Failed("rejected", why))
        elif asked:
            self._refusal = why

    def _interrupt(self) -> None:
        if self.thread and self.turn and self._is_busy:
            self._is_interrupted = False
            self._request("turn/interrupt", {"threadId": self.thread, "turnId": self.turn})

    def _request(self, method: str, params: Mapping[str, object]) -> None:
        self._sent += 1
        self._pending[self._sent] = method
        self._send({"id": self._sent, "method": method, "params": params})

    def _send(self, message: Mapping[str, object]) -> None:
        self.teller.reply(_ENCODER.encode(message) + b"\n")


def decision(answer: Answer) -> str:
    """An answer in the words of Codex. It is for this once: what reaches farther is kept by us, and can be taken back."""
    if answer.allowed:
        return "accept"
    return "cancel" if answer.stop else "decline"
