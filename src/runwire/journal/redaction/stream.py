"""Redaction of a text that arrives in pieces."""

from collections.abc import Callable

from runwire.journal.redaction.placeholder import placeholder
from runwire.journal.redaction.scanner import LEFT_CONTEXT, Scan, Scanner, Span


class StreamRedactor:
    """Releases text as soon as it cannot be part of a secret any more.

    The released pieces, joined, are the redacted text, however it was cut. What is held back is the shortest end that a
    secret could still need; the body of a secret that has been recognised is dropped, not held.
    """

    __slots__ = ("_base", "_carried", "_scanner", "_window", "replaced")

    def __init__(self, scanner: Callable[[], Scanner]) -> None:
        """Ask `scanner` at every piece, so that a secret counts as soon as it is registered."""
        self._scanner = scanner
        # Text that has been released stays in the window as far as it is the left context of what follows.
        self._window = ""
        self._base = 0
        self._carried: Span | None = None
        self.replaced = 0
        """How many placeholders have been released."""

    @property
    def held(self) -> str:
        """The text that has not been released and is not known to be secret."""
        covered = self._carried.end if self._carried else 0
        return self._window[max(self._base, covered) :]

    def feed(self, text: str) -> str:
        """Take the next piece; return what is free to go, with placeholders where secrets were."""
        window = self._window + text
        base = self._base
        scanner = self._scanner()
        hits = scanner.hits(window)
        if hits or self._carried is not None:
            return self._settle(scanner.examine(window, base, hits, self._carried, final=False))
        cut = scanner.certain(window, base)
        kept = cut - LEFT_CONTEXT
        if kept > 0:
            self._window = window[kept:]
            self._base = LEFT_CONTEXT
        else:
            self._window = window
            self._base = cut
        return window[base:cut]

    def close(self) -> str:
        """End the text: release all that was held back. The next piece begins another text."""
        scanner = self._scanner()
        scan = scanner.examine(self._window, self._base, scanner.hits(self._window), self._carried, final=True)
        rest = self._settle(scan)
        self._window = ""
        self._base = 0
        return rest

    def _settle(self, scan: Scan) -> str:
        """Release what lies before the frontier and keep what lies behind it."""
        out: list[str] = []
        position, closed, carried = self._base, -1, None
        for span in scan.spans:
            if span.start >= scan.frontier:
                break
            # A secret that began before this window has its placeholder already.
            if span.start >= self._base:
                out += (scan.text[position : span.start], placeholder(span.kind))
                self.replaced += 1
            if span.open_bodies or span.end > scan.frontier:
                carried = span
                break
            position = closed = span.end
        if carried is None:
            out.append(scan.text[position : scan.frontier])
        self._keep(scan, closed, carried)
        return "".join(out)

    def _keep(self, scan: Scan, closed: int, carried: Span | None) -> None:
        # What follows a secret begins a word, whatever the secret's last letter was: its placeholder ends with a bracket.
        kept = max(0, closed, scan.frontier - LEFT_CONTEXT)
        self._window = scan.text[kept:]
        self._base = scan.frontier - kept
        if carried is not None:
            carried.shift(-kept)
        self._carried = carried
