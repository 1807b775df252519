"""pi: `--mode json` and `--mode rpc`, from 0.73 on. One JSON object a line, told apart by `type`.

What it tells of its work is the same in both. With rpc it also answers commands, and its extensions may ask.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, TypeVar

import msgspec

from runwire.agents.dialect import Cancelled, Image, Seen, Telling
from runwire.agents.pi import lines as wire
from runwire.agents.pi import shown
from runwire.agents.pi.asking import ASKS, SHOWS, closed
from runwire.agents.pi.hearing import HEARD, Hear, Hearing
from runwire.host import Answer, Failed, Finished

_HELLO, _OVER, _ABORT = "hello", "over", "abort"
_STATE = msgspec.json.Decoder(wire.State)
_TAKEN = msgspec.json.Decoder(wire.Taken)
_ENCODER = msgspec.json.Encoder()
_Told = TypeVar("_Told")


class PiDialect(Hearing):
    """Understands pi, and speaks its rpc: one prompt at a time."""

    def __init__(self, telling: Telling) -> None:
        super().__init__(telling)
        self._sent = 0
        self._is_busy = False

    # Hearing.

    def _response(self, message: wire.Response) -> Seen:
        match message.command:
            case "prompt":
                self._prompted(message)
            case "get_state" if message.success:
                self._state_told(message)
            case "abort" if message.success:
                if self._is_working and self.teller.outcome is None:
                    self.teller.cancelling = self.teller.cancelling or Cancelled()
            case _:
                pass
        return shown.RESPONSE

    def _prompted(self, message: wire.Response) -> None:
        teller = self.teller
        if message.success:
            if teller.outcome is None and not self._is_working and self._stop:
                # The last prompt has ended and nothing more was tried.
                self._settle()
            if teller.outcome is not None or not teller.begun:
                self._leg()
            if not self._is_working and _decoded(_TAKEN, message.data, wire.Taken()).disposition == "handled":
                # An extension took it: no model is asked, and nothing follows.
                teller.leg_ends(Finished())
        elif teller.telling.driven:
            if message.id == str(self._sent):
                self._is_busy = False
                teller.leg_ends(Failed("rejected", message.error or "the prompt was refused"))
        elif not self._is_working:
            self._is_rejected = message.error or "the prompt was refused"

    def _state_told(self, message: wire.Response) -> None:
        state = _decoded(_STATE, message.data, wire.State(is_streaming=True))
        if state.model is not None:
            self.teller.model = state.model.id or self.teller.model
            self.teller.provider = state.model.provider or self.teller.provider
        if message.id == _OVER and not state.is_streaming and not state.is_compacting:
            self._gave_up()

    def _extension_ui(self, message: wire.ExtensionUi) -> Seen:
        if message.method in ASKS:
            self._asking.ask(message)
            if self.teller.is_late:
                self._send(closed(message.id))
        elif message.method not in SHOWS:
            self.teller.unknown("method of an extension", message.method)
        return shown.EXTENSION_UI

    def _agent_failed(self) -> Seen:
        # One that tries again says so at once: if the answer to this comes first, it does not.
        self._send({"id": _OVER, "type": "get_state"})
        return super()._agent_failed()

    # Speaking.

    @property
    def ready(self) -> bool:
        """Whether the last prompt is over."""
        return not self._is_busy or self.teller.outcome is not None

    def hello(self) -> None:
        """Ask what it is doing, which also tells who will answer."""
        self._send({"id": _HELLO, "type": "get_state"})

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for something; not before the last prompt is over, for pi refuses a second one."""
        self._sent += 1
        self._is_busy = True
        self._leg()
        asked: dict[str, object] = {"id": str(self._sent), "type": "prompt", "message": text}
        if images:
            asked["images"] = [{"type": "image", "data": image.base64, "mimeType": image.mime} for image in images]
        self._send(asked)

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer an extension."""
        response = self._asking.response(question_id, answer)
        if response is not None:
            self._send(response)

    def cancel(self, by: str, reason: str) -> bool:
        """Abort; an extension that waits for an answer would keep it from stopping, so it is told that none comes."""
        self.teller.cancelling = Cancelled(by, reason)
        self._send({"id": _ABORT, "type": "abort"})
        for response in self._asking.close():
            self._send(response)
        return True

    def _send(self, message: dict[str, object] | dict[str, str]) -> None:
        self.teller.reply(_ENCODER.encode(message) + b"\n")

    _heard: ClassVar[Mapping[type, Hear]] = MappingProxyType(
        {**HEARD, wire.Response: _response, wire.ExtensionUi: _extension_ui}
    )


def _decoded(decoder: "msgspec.json.Decoder[_Told]", data: msgspec.Raw, otherwise: _Told) -> _Told:
    """What an answer carries, if it is what it should be."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return otherwise
