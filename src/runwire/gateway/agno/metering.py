"""Tokens and times of a run, as Agno counts them. Pure."""

from runwire.gateway.agno.frames import Fields

_NS = 1_000_000_000


class Meter:
    """What a run has used so far."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._tokens = {"input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0}
        self._times: dict[str, float] = {}
        self.began_ns = 0

    def count(self, given: int, made: int, cached: int) -> None:
        """Add the tokens of a turn."""
        for name, count in zip(self._tokens, (given, made, cached), strict=True):
            self._tokens[name] += count

    def first_token(self, now_ns: int) -> None:
        """The model has said something; only the first time counts."""
        self._times.setdefault("time_to_first_token", (now_ns - self.began_ns) / _NS)

    def end(self, now_ns: int, duration_ms: object) -> None:
        """The run is over, after so long if it says so itself."""
        self._times["duration"] = duration_ms / 1000 if isinstance(duration_ms, int) else (now_ns - self.began_ns) / _NS

    def shown(self) -> Fields:
        """The object that Agno's clients know; zero counts are left out."""
        counted: Fields = {name: count for name, count in self._tokens.items() if count}
        total = self._tokens["input_tokens"] + self._tokens["output_tokens"]
        return counted | ({"total_tokens": total} if total else {}) | self._times
