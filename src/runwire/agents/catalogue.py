"""Who speaks which dialect: one line an agent."""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import cast

from runwire.agents.dialect import Dialect, Telling
from runwire.agents.errors import AgentUnknown

Make = Callable[[Telling], Dialect]

# Loaded when they are asked for: a command that reads one agent's stream has no use for the others.
_DIALECTS: Mapping[str, str] = MappingProxyType(
    {
        "zot": "runwire.agents.zot.dialect:ZotDialect",
        "pi": "runwire.agents.pi.dialect:PiDialect",
        "gemini": "runwire.agents.gemini.dialect:gemini",
        "claude": "runwire.agents.claude.dialect:ClaudeDialect",
        "acp": "runwire.agents.acp.dialect:AcpDialect",
        "codex": "runwire.agents.codex.dialect:codex",
        "opencode": "runwire.agents.opencode.dialect:opencode",
        "agno": "runwire.agents.agno.dialect:AgnoDialect",
    }
)
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "claude-code": "claude",
        "codex-app-server": "codex",
        "codex-exec": "codex",
        "gemini-cli": "gemini",
        "gemini-acp": "acp",
        "opencode-acp": "acp",
        "opencode-run": "opencode",
        "opencode-serve": "opencode",
    }
)
_VERSION = re.compile(r"-v?\d[\w.+-]*\Z", re.ASCII)
_FAMILIES = ("acp", "agno")
"""Agents that are named `family:name`: one dialect, many of them."""


def names() -> tuple[str, ...]:
    """The dialects that are understood."""
    return tuple(_DIALECTS)


def dialect_of(agent: str) -> str:
    """The name of the dialect that an agent of this name speaks; a name that nobody knows is an AgentUnknown."""
    # A release may stand behind the name, as in `pi-0.87.1`: every dialect reads all of its releases.
    name = _VERSION.sub("", agent)
    name = _ALIASES.get(name, name)
    family = name.partition(":")[0]
    if family in _FAMILIES:
        name = family
    if name not in _DIALECTS:
        raise AgentUnknown(agent, known=names())
    return name


def make_dialect(agent: str, telling: Telling) -> Dialect:
    """A dialect that understands a stream of this agent."""
    module, _, name = _DIALECTS[dialect_of(agent)].partition(":")
    make = cast("Make", getattr(import_module(module), name))
    return make(telling)
