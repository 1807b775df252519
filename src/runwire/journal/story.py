"""A run's story: both folds of its events, as one value that is kept beside the log and can always be told again."""

import msgspec

from runwire.protocol.catalogue import CATALOGUE, decode_payload
from runwire.protocol.envelope import data_of, occurred_at_of, type_of
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import MalformedPayload, Opaque, Payload
from runwire.protocol.state.pane import PaneState
from runwire.protocol.state.pane import concerns as concerns_pane
from runwire.protocol.state.pane import fold as fold_pane
from runwire.protocol.state.run import RunState
from runwire.protocol.state.run import concerns as concerns_run
from runwire.protocol.state.run import fold as fold_run


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """What the events of a run add up to."""

    run: RunState = RunState()
    pane: PaneState = PaneState()

    @property
    def finished(self) -> bool:
        """Whether a terminal event has been told."""
        return self.run.finished


TOLD = frozenset(cls for name, cls in CATALOGUE.items() if concerns_run(name) or concerns_pane(name))
"""The payloads that can change a story. The others need not be told."""

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Story)


def tell(story: Story, payload: Payload | Opaque, occurred_ns: int) -> Story:
    """The story with one more event; the same object when the event changes nothing."""
    run = fold_run(story.run, payload, occurred_ns)
    pane = fold_pane(story.pane, payload, occurred_ns)
    if run is story.run and pane is story.pane:
        return story
    return Story(run=run, pane=pane)


def retell(story: Story, stored: bytes) -> Story:
    """The story with one more stored event. Most change nothing and are not even decoded."""
    event_type = type_of(stored)
    if not (concerns_run(event_type) or concerns_pane(event_type)):
        return story
    try:
        payload = decode_payload(event_type, data_of(stored))
    except MalformedPayload:
        # A later release may have stored a shape that this one cannot read: it is shown, but tells us nothing.
        return story
    return tell(story, payload, nanoseconds(occurred_at_of(stored)))


def encode_story(story: Story) -> bytes:
    """The bytes that a run's row keeps."""
    return _ENCODER.encode(story)


def decode_story(stored: bytes) -> Story:
    """What `encode_story` has written."""
    return _DECODER.decode(stored)
