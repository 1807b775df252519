"""Agents by the names that tasks give them. What drives them is loaded by those who carry runs out, and by nobody else."""

from collections.abc import Mapping, Sequence
from typing import get_args

import msgspec

from runwire.config import AgentSettings, Dialect
from runwire.runs.task import NewTask

NATIVE = "native"
# These say how an agent is spoken with, and not which one it is: each needs a table that does.
_FAMILIES = ("acp", "agno")


def named_agents(tables: Mapping[str, AgentSettings]) -> dict[str, AgentSettings]:
    """Every agent but our own by the names that tasks may give it: known ones, and those that have a table."""
    found = {name: AgentSettings(dialect=name) for name in get_args(Dialect) if name not in _FAMILIES}
    for name, settings in tables.items():
        found[name] = settings
        if settings.dialect in _FAMILIES:
            found[f"{settings.dialect}:{name}"] = settings
    return found


class NamedAgents:
    """The agents that tasks may name, as `runs.accepting.KnownAgents` promises."""

    def __init__(self, tables: Mapping[str, AgentSettings]) -> None:
        """Know the agents of these tables beside those that need none."""
        self._named = named_agents(tables)

    def names(self) -> Sequence[str]:
        """Our own first."""
        return (NATIVE, *self._named)

    def knows(self, agent: str) -> bool:
        """Whether a task may name it."""
        return agent == NATIVE or agent in self._named

    def needs_model(self, agent: str) -> bool:
        """Only our own agent has its model called by us."""
        return agent == NATIVE

    def needs_price(self, agent: str) -> bool:
        """Only our own agent has its money counted by us."""
        return agent == NATIVE

    def bounded(self, new: NewTask) -> NewTask:
        """Within the bounds of the agent's table."""
        settings = self._named.get(new.agent)
        if settings is None:
            return new
        return msgspec.structs.replace(
            new,
            timeout_s=settings.timeout_s if new.timeout_s is None else new.timeout_s,
            max_turns=settings.max_steps if new.max_turns is None else new.max_turns,
        )
