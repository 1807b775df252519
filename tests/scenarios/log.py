"""The log of a run, as a test reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, run_id_of, sequence_of, type_of
from runwire.protocol.payload import Opaque, Payload

P = TypeVar("P", bound=Payload)


@dataclass(frozen=True, slots=True)
class Log:
    """Every stored event of one run."""

    envelopes: Sequence[bytes]

    @property
    def run_id(self) -> str:
        """Whose log it is."""
        return run_id_of(self.envelopes[0])

    @property
    def types(self) -> list[str]:
        """What happened, by name."""
        return [type_of(envelope) for envelope in self.envelopes]

    @property
    def payloads(self) -> list[Payload | Opaque]:
        """What happened."""
        return [decode_payload(type_of(envelope), data_of(envelope)) for envelope in self.envelopes]

    def all(self, kind: type[P]) -> list[P]:
        """Every event of a kind."""
        return [payload for payload in self.payloads if isinstance(payload, kind)]

    def one(self, kind: type[P]) -> P:
        """The only event of a kind."""
        (found,) = self.all(kind)
        return found

    def sequence(self, kind: type[Payload]) -> int:
        """Where the first event of a kind stands."""
        return next(sequence_of(one) for one in self.envelopes if type_of(one) == kind.type)

    def without(self, *kinds: str) -> list[str]:
        """What happened, by name, some names left out; a `*` at the end stands for any."""
        return [one for one in self.types if not any(_fits(one, kind) for kind in kinds)]


def _fits(name: str, kind: str) -> bool:
    return name.startswith(kind[:-1]) if kind.endswith("*") else name == kind
