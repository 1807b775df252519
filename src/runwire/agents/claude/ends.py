"""What a prompt to Claude Code has used, and how it ended."""

import re

from runwire.agents.claude import lines as wire
from runwire.agents.dialect import Cancelled, Outcome, Usage
from runwire.agents.money import added, count, micros
from runwire.agents.telling import Teller
from runwire.host import Failed, Finished
from runwire.protocol.events.cost import CostBudgetExceeded

_RETRIABLE = frozenset({408, 429, 500, 502, 503, 504, 529})
_BUDGET = re.compile(r"\(\$([\d.]{1,32})\)")
_SUMMARY_MAX = 200


class Bill:
    """Counts a prompt. A line tells what a call was given, but only partial messages tell what it answered; the result
    tells all of it, so the last turn gets what no other has."""

    def __init__(self, teller: Teller) -> None:
        """Count for a teller."""
        self._teller = teller
        self._leg = Usage(cost_micros_usd=0)
        self._cost = 0
        """What has been told of the money since the process began."""

    def leg_begins(self) -> None:
        """Another prompt: tokens are counted anew, money is not."""
        self._leg = Usage(cost_micros_usd=0)

    def asked(self, usage: wire.Usage) -> None:
        """A call of the model has been given this much. What it says of the answer is a guess and not counted."""
        cached = count(usage.cache_read_input_tokens)
        given = count(usage.input_tokens) + cached + count(usage.cache_creation_input_tokens)
        self._count(Usage(input_tokens=given, cached_input_tokens=cached))

    def answered(self, usage: wire.Usage) -> None:
        """A call of the model has answered this much."""
        self._count(Usage(output_tokens=count(usage.output_tokens)))

    def settled(self, usage: wire.Usage | None, total_cost_usd: wire.Number) -> None:
        """All that the prompt has used, and what the process has cost so far."""
        usage = usage or wire.Usage()
        cached = count(usage.cache_read_input_tokens)
        given = count(usage.input_tokens) + cached + count(usage.cache_creation_input_tokens)
        cost = max(0, (micros(total_cost_usd) or 0) - self._cost)
        rest = Usage(
            input_tokens=max(0, given - self._leg.input_tokens),
            output_tokens=max(0, count(usage.output_tokens) - self._leg.output_tokens),
            cached_input_tokens=max(0, cached - self._leg.cached_input_tokens),
            cost_micros_usd=cost,
        )
        if rest != Usage(cost_micros_usd=0):
            self._count(rest)

    def is_due(self, usage: wire.Usage | None) -> bool:
        """Whether a prompt has used anything."""
        return usage is not None and bool(count(usage.input_tokens) or count(usage.output_tokens))

    def _count(self, usage: Usage) -> None:
        teller = self._teller
        if teller.outcome is not None:
            return
        cost = usage.cost_micros_usd
        if cost is None:
            # What it will say in the end is not known yet; what we know of prices keeps budgets awake until then.
            price = teller.telling.price
            cost = (price(teller.provider, teller.model, usage) if price is not None else None) or 0
        self._cost += cost
        self._leg = added(self._leg, usage, cost)
        teller.use(
            Usage(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_input_tokens=usage.cached_input_tokens,
                cost_micros_usd=cost,
            )
        )


def outcome_of(message: wire.Result, teller: Teller) -> Outcome:
    """How a prompt ended. An error may call itself a success; what says so is `is_error`."""
    if not message.is_error and not message.subtype.startswith("error"):
        return Finished((message.result or "")[:_SUMMARY_MAX])
    reason = message.terminal_reason or ""
    if reason.startswith("aborted") or (teller.cancelling is not None and message.subtype == "error_during_execution"):
        return teller.cancelling or Cancelled()
    errors = [error for error in message.errors or () if isinstance(error, str)]
    text = message.result or "; ".join(errors) or "Claude Code failed"
    code = reason if reason not in {"", "completed"} else message.subtype.removeprefix("error_")
    status = message.api_error_status
    return Failed("api_error" if code in {"", "success"} else code, text, retriable=status in _RETRIABLE)


def overspent(teller: Teller, message: wire.Result) -> None:
    """Tell of a budget that Claude Code itself was given, and that is spent."""
    if message.subtype != "error_max_budget_usd" or teller.money.overspent:
        return
    found = next((hit for error in message.errors or () if (hit := _BUDGET.search(str(error)))), None)
    try:
        budget = micros(float(found[1])) if found else None
    except ValueError:
        budget = None
    if budget is not None:
        spent = micros(message.total_cost_usd) or 0
        teller.say(CostBudgetExceeded(cumulative_cost_micros_usd=spent, task_budget_micros_usd=budget, action="halted"))
