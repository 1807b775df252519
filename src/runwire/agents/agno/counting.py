"""What a run has used. Newer releases tell it call by call, all of them in the end, as a sum over all legs of the run."""

from dataclasses import dataclass, field

from msgspec import Struct

from runwire.agents.agno.frames import Answered, Metrics
from runwire.agents.dialect import Usage
from runwire.agents.money import NOTHING, added, count, micros

RUNS_MAX = 4096
"""So many runs are counted apart at once."""


class _Run(Struct):
    counted: Usage = NOTHING
    by_call: bool = False
    """Whether its calls of the model were told one by one."""
    from_start: bool = False


@dataclass(slots=True)
class Counting:
    """Keeps what has been counted of every run, so that no token is counted twice."""

    runs: dict[str, _Run] = field(default_factory=dict)

    def begins(self, run_id: str | None) -> None:
        """A run is seen from its beginning."""
        self._run(run_id).from_start = True

    def call(self, run_id: str | None, told: Answered) -> Usage:
        """What one call of the model used."""
        usage = _usage(told, told.model, told.model_provider)
        run = self._run(run_id)
        run.by_call = True
        run.counted = added(run.counted, usage, 0)
        return usage

    def whole(self, run_id: str | None, told: Metrics | None, model: str | None, provider: str | None) -> Usage | None:
        """What a run used beyond what was counted of it; None when that is nothing, or belongs to a leg not seen here."""
        run = self._run(run_id)
        if told is None or (run.by_call and not run.from_start):
            return None
        usage, before = _usage(told, model, provider), run.counted
        cost = usage.cost_micros_usd
        rest = Usage(
            input_tokens=max(0, usage.input_tokens - before.input_tokens),
            output_tokens=max(0, usage.output_tokens - before.output_tokens),
            cached_input_tokens=max(0, usage.cached_input_tokens - before.cached_input_tokens),
            cost_micros_usd=None if cost is None else max(0, cost - (before.cost_micros_usd or 0)),
        )
        run.counted = added(before, rest, rest.cost_micros_usd or 0)
        return rest if rest.input_tokens or rest.output_tokens or rest.cost_micros_usd else None

    def _run(self, run_id: str | None) -> _Run:
        found = self.runs.get(run_id or "")
        if found is None:
            if len(self.runs) >= RUNS_MAX:
                del self.runs[next(iter(self.runs))]
            found = self.runs[run_id or ""] = _Run()
        return found


def _usage(told: Answered | Metrics, model: str | None, provider: str | None) -> Usage:
    given, cached = count(told.input_tokens), count(told.cache_read_tokens)
    held = cached + count(told.cache_write_tokens)
    # Agno hands on what the provider counts: Anthropic counts what a cache holds beside the input, others within.
    if held and (held > given or "claude" in (model or "").lower() or (provider or "").lower() == "anthropic"):
        given += held
    return Usage(
        input_tokens=given,
        output_tokens=count(told.output_tokens),
        cached_input_tokens=cached,
        cost_micros_usd=micros(told.cost) if isinstance(told, Metrics) else None,
    )
