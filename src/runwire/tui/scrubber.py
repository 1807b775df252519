"""Where one stands in a run, on one line. Pure."""

from dataclasses import dataclass

from rich.text import Text

from runwire.client.render.text import duration
from runwire.clock import parse_rfc3339
from runwire.protocol.envelope import occurred_at_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in a run, and what is going on there."""

    row: int
    rows: int
    envelope: bytes | None
    began: str
    alive: bool
    following: bool
    playing: bool
    speed: float


def scrubber(place: Place, width: int) -> Text:
    """A sign, the part that is behind, and the figures."""
    figures = f" {place.row + 1 if place.rows else 0}/{place.rows}{_passed(place)}"
    if place.playing:
        sign, look = f"▶ {place.speed:g}x ", "green"
    elif place.alive:
        sign, look = ("● live ", "green") if place.following else ("● live, end follows ", "yellow")
    else:
        sign, look = f"■ {place.speed:g}x space plays ", "dim"
    room = max(4, width - len(sign) - len(figures))
    behind = room if place.rows <= 1 else round(room * place.row / (place.rows - 1))
    line = Text(no_wrap=True, overflow="crop")
    line.append(sign, style=look)
    line.append("━" * behind, style="cyan")
    line.append("─" * (room - behind), style="dim")
    line.append(figures)
    return line


def _passed(place: Place) -> str:
    if place.envelope is None:
        return ""
    try:
        passed_ns = parse_rfc3339(occurred_at_of(place.envelope)) - parse_rfc3339(place.began)
    except ValueError:
        return ""
    return f"  {duration(max(0, passed_ns))}"
