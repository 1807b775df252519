"""What a model wrote, made fit for us: text without halves of characters, arguments that are an object, ids that are ours."""

import re
from collections.abc import Iterable

import msgspec

from runwire.ids import Ids
from runwire.native.loop.state import Assistant, Call, Message

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_arguments(call_id: str, name: str, text: str) -> Call:
    """The call that the model wrote; arguments that are no JSON object are kept as they are, to be told as an error."""
    try:
        # No text at all is how some servers write a call without arguments.
        given = msgspec.json.decode(text.encode() if text.strip() else b"{}", type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Call(call_id, name, {}, malformed=text)
    return Call(call_id, name, given)


class Mender:
    """Joins characters that a provider cut in two: JSON escapes can split one over two pieces of a stream.

    Half a character cannot be stored, so one whose other half never comes is shown as U+FFFD.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The text that is whole by now."""
        text = self._held + text
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return _whole(text)

    def end(self) -> str:
        """What is left when nothing more comes."""
        held, self._held = self._held, ""
        return _whole(held)


def _whole(text: str) -> str:
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class CallIds:
    """Ids for the calls of one answer: the provider's where they are good, ours where they are not.

    Local servers number calls anew in each answer, or give none; in a run each call has an id of its own.
    """

    def __init__(self, *, ids: Ids, messages: Iterable[Message]) -> None:
        self._ids = ids
        self._taken = {
            part.call_id
            for message in messages
            if isinstance(message, Assistant)
            for part in message.parts
            if isinstance(part, Call)
        }

    def take(self, given: str | None) -> str:
        """The id that a call with this one goes by."""
        if given is None or given in self._taken or not _CALL_ID.fullmatch(given):
            given = self._ids.new("call")
        self._taken.add(given)
        return given
