"""What a prompt to an ACP agent has used. Agents differ in what they count as input; the sum that they give tells which."""

from runwire.agents.acp import frames as wire
from runwire.agents.dialect import Usage
from runwire.agents.money import count, micros


class Spent:
    """The money of a session, which is told as a total."""

    def __init__(self) -> None:
        """Nothing is spent yet."""
        self._micros = 0
        self.is_told = False
        """Whether the agent says what it costs at all."""

    def so_far(self, cost: wire.Cost | None) -> int:
        """What was spent since the last time; only dollars are money here."""
        if cost is None or cost.currency != "USD":
            return 0
        self.is_told = True
        total = micros(cost.amount) or 0
        more = max(0, total - self._micros)
        self._micros = max(total, self._micros)
        return more


def usage_of(result: wire.Result, spent: Spent) -> Usage | None:
    """The tokens of a prompt; None when nothing is said of them."""
    cost = 0 if spent.is_told else None
    tokens = result.usage
    if tokens is None:
        quota = result.meta.quota if result.meta else None
        counted = quota.token_count if quota else None
        if counted is None:
            return None
        return Usage(
            input_tokens=count(counted.input_tokens), output_tokens=count(counted.output_tokens), cost_micros_usd=cost
        )
    given, answered, thought = count(tokens.input_tokens), count(tokens.output_tokens), count(tokens.thought_tokens)
    read, written = count(tokens.cached_read_tokens), count(tokens.cached_write_tokens)
    total = count(tokens.total_tokens)
    is_beside = total in {given + answered + read + written, given + answered + thought + read + written}
    if is_beside or read > given:
        given += read + written
    if thought and total == given + answered + thought:
        answered += thought
    return Usage(input_tokens=given, output_tokens=answered, cached_input_tokens=min(read, given), cost_micros_usd=cost)
