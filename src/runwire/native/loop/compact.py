"""When a conversation is too long for the window, and what is kept of it."""

import msgspec
from msgspec.structs import replace

from runwire.native.loop.state import Assistant, Call, Image, Message, Rules, State, Text, Told, User
from runwire.native.loop.told import fit

TRIGGER = 0.8
KEPT_EXCHANGES = 2
STOP_REASON = "compaction"

_IMAGE_TOKENS = 1_500
_RESULT_BYTES = 2_000
_REQUEST = (
    "The conversation above is about to be cut. Write what is needed to go on without it: the goal, what was done and "
    "found out, which files and commands matter, what is left to do. Use no tools; answer with the summary only."
)
_SUMMARY = "[Summary of the conversation so far, which was cut]\n"


def estimate(messages: tuple[Message, ...]) -> int:
    """Roughly how many tokens these messages take: a quarter of their bytes."""
    size = 0
    for message in messages:
        for part in message.parts:
            match part:
                case Image():
                    size += 4 * _IMAGE_TOKENS
                case Call():
                    size += len(part.name) + len(msgspec.json.encode(part.input))
                case _:
                    size += len(part.text.encode(errors="replace"))
    return size // 4


def expected(state: State) -> int:
    """Roughly how many tokens the next call takes: the newest one's, and what came since."""
    if state.last_input_tokens == 0:
        return estimate(state.messages)
    since = len(state.messages) - 1
    while since > 0 and not isinstance(state.messages[since], Assistant):
        since -= 1
    return state.last_input_tokens + estimate(state.messages[max(0, since) :])


def due(state: State, rules: Rules) -> bool:
    """Whether the window would be too full, and cutting would help."""
    return expected(state) > TRIGGER * rules.window_tokens and possible(state)


def possible(state: State) -> bool:
    """Whether there is anything to cut that was not cut just now."""
    return not state.compacted and _kept_from(state.messages) > 1


def request(messages: tuple[Message, ...], window_tokens: int) -> tuple[Message, ...]:
    """The conversation to summarise: long results shortened, and the middle left out when it still does not fit."""
    short = tuple(_shortened(message) for message in messages)
    while len(short) > 3 and estimate(short) > TRIGGER * window_tokens:
        # Results go together with the answer that asked for them, so cut from one answer to the next.
        later = [at for at, one in enumerate(short) if isinstance(one, Assistant) and at > 1]
        if not later:
            break
        short = (short[0], *short[later[0] :])
    return (*short, User((Text(_REQUEST),)))


def compacted(messages: tuple[Message, ...], summary: str) -> tuple[Message, ...]:
    """The conversation with everything but its beginning and its last exchanges replaced by the summary."""
    first = messages[0].parts if messages and isinstance(messages[0], User) else ()
    return (User((*first, Text(_SUMMARY + summary))), *messages[_kept_from(messages) :])


def _kept_from(messages: tuple[Message, ...]) -> int:
    answers = [at for at, one in enumerate(messages) if isinstance(one, Assistant)]
    if len(answers) > KEPT_EXCHANGES:
        return answers[-KEPT_EXCHANGES]
    # Too few exchanges to keep two: keep the newest when there is an older one, else none.
    return answers[-1] if len(answers) > 1 else len(messages)


def _shortened(message: Message) -> Message:
    if not isinstance(message, Told):
        return message
    parts = tuple(
        Text(fit(part.text, _RESULT_BYTES, None)) if isinstance(part, Text) else Text("[a picture]")
        for part in message.parts
    )
    return replace(message, parts=parts)
