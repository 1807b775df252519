"""The one place where secrets are taken out: of payloads before they are stored, of artifact bodies, of log lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from runwire.journal.redaction.document import Document
from runwire.journal.redaction.placeholder import placeholder
from runwire.journal.redaction.scanner import Scanner, compile_shapes, known_spellings
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.shapes import SHAPES
from runwire.journal.redaction.sieve import Sieve
from runwire.journal.redaction.splicing import splice
from runwire.journal.redaction.stream import StreamRedactor


@dataclass(frozen=True, slots=True)
class _Lens:
    """Everything made ready for one set of known values."""

    values: tuple[KnownValue, ...]
    kinds: Mapping[str, str]
    sieve: Sieve
    scanner: Scanner


class Redactor:
    """Takes out what is secret: known values, well-known shapes, members with telling names.

    Redacting twice changes nothing more, and the same secret has the same placeholder every time.
    """

    def __init__(self, secrets: SecretSet) -> None:
        """Follow `secrets`: what is registered there counts from the next call on."""
        self._secrets = secrets
        self._shapes = compile_shapes(SHAPES)
        self._lens = self._focus(secrets.values, (), {})

    def redact(self, data: bytes) -> bytes:
        """Redact an encoded payload and list in it what was redacted; a clean one comes back as the same object."""
        return self.redact_all((data,)).get(0, data)

    def redact_all(self, payloads: Sequence[bytes]) -> Mapping[int, bytes]:
        """Redact many encoded payloads at once; return only those that change: their numbers, and what they become."""
        lens = self._refocused()
        suspected = lens.sieve.suspected(payloads)
        if not suspected:
            return {}

        def redact_text(text: str) -> str:
            return _counted(lens.scanner, text)[0]

        # Each step is taken for all before the next: a short loop runs much faster than a long one.
        splices = [None if places is None else splice(payloads[number], places) for number, places in suspected.items()]
        texts = iter([redact_text(text) for each in splices if each is not None for text in each.texts])
        found: dict[int, bytes] = {}
        for number, each in zip(suspected, splices, strict=True):
            redacted = None if each is None else each.joined(list(islice(texts, len(each.texts))))
            if redacted is None:
                redacted = Document(payloads[number], redact_text).redacted()
            if redacted is not payloads[number]:
                found[number] = redacted
        return found

    def redact_text(self, text: str) -> str:
        """Redact one whole text, exactly as a stream of its pieces would be."""
        return _counted(self._scanner(), text)[0]

    def redact_body(self, body: bytes, *, is_text: bool) -> tuple[bytes, int]:
        """Redact the body of an artifact; say how many secrets were in it. Of bytes that are no text only known values."""
        if is_text:
            text = body.decode("utf-8", "surrogateescape")
            redacted, replaced = _counted(self._scanner(), text)
            return (redacted.encode("utf-8", "surrogateescape"), replaced) if replaced else (body, 0)
        found = self._refocused().sieve.known_values(body)
        if not found:
            return body, 0
        pieces: list[bytes] = []
        position = 0
        for start, end, kind in found:
            pieces += (body[position:start], placeholder(kind).encode())
            position = end
        return b"".join((*pieces, body[position:])), len(found)

    def stream(self) -> StreamRedactor:
        """Begin the redaction of a text that will arrive in pieces."""
        return StreamRedactor(self._scanner)

    def contains_known_value(self, data: bytes) -> str | None:
        """The kind of the first known value in the bytes, bare or inside JSON; None if there is none."""
        found = self._refocused().sieve.known_values(data)
        return found[0][2] if found else None

    def scrub(self, text: str) -> str:
        """Redact a log line or an error message."""
        return self.redact_text(text)

    def _scanner(self) -> Scanner:
        lens = self._lens
        return lens.scanner if lens.values is self._secrets.values else self._refocused().scanner

    def _refocused(self) -> _Lens:
        """What is ready for the values that are known now."""
        lens, values = self._lens, self._secrets.values
        if lens.values is not values:
            # Values are only ever added, so the spellings of the others need not be found again.
            lens = self._lens = self._focus(values, lens.values, lens.kinds)
        return lens

    def _focus(self, values: tuple[KnownValue, ...], ready: tuple[KnownValue, ...], kinds: Mapping[str, str]) -> _Lens:
        kinds = known_spellings(values[len(ready) :], kinds)
        return _Lens(values, kinds, Sieve(kinds, self._shapes), Scanner(kinds, self._shapes))


def _counted(scanner: Scanner, text: str) -> tuple[str, int]:
    """The text without its secrets, and how many there were. All of it is here, so one look decides."""
    hits = scanner.hits(text)
    if not hits:
        return text, 0
    spans = scanner.examine(text, 0, hits, None, final=True).spans
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += (text[position : span.start], placeholder(span.kind))
        position = span.end
    return "".join((*pieces, text[position:])), len(spans)
