"""The agents that are programs: one line each, and what an operator's own table makes of one."""

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from runwire.agents.profile import Profile
from runwire.config import AgentSettings

# Loaded when they are asked for: few processes drive every agent.
_PROFILES: Mapping[str, str] = MappingProxyType(
    {
        "zot": "runwire.agents.zot.driving:PROFILE",
        "pi": "runwire.agents.pi.driving:PROFILE",
        "claude": "runwire.agents.claude.driving:PROFILE",
        "codex": "runwire.agents.codex.driving:PROFILE",
        "opencode": "runwire.agents.opencode.driving:PROFILE",
        "gemini": "runwire.agents.gemini.driving:PROFILE",
        "acp": "runwire.agents.acp.driving:PROFILE",
    }
)


def known() -> tuple[str, ...]:
    """The names that have a profile."""
    return tuple(_PROFILES)


def profile_of(name: str) -> Profile:
    """The profile of an agent, or of a family of them."""
    module, _, attribute = _PROFILES[name].partition(":")
    profile = getattr(import_module(module), attribute)
    if not isinstance(profile, Profile):
        raise TypeError(f"{module} defines no profile")
    return profile


def configured(name: str, settings: AgentSettings) -> Profile:
    """The profile of an agent as its operator wants it."""
    profile = profile_of(settings.dialect or name)
    return replace(
        profile,
        name=name,
        command=_command(profile, settings),
        install=_way_to_get(name, profile, settings),
        environment=(*profile.environment, *settings.env),
        set_env={**profile.set_env, **settings.set_env},
        state=(*profile.state, *settings.state),
        network=settings.network,
        model=settings.model,
    )


def _way_to_get(name: str, profile: Profile, settings: AgentSettings) -> str:
    """What to do when the program is not there."""
    if not settings.command:
        return profile.install
    return f"install {settings.command[0]}, or name it by its whole path in `command` of [agents.{name.rpartition(':')[2]}]"


def _command(profile: Profile, settings: AgentSettings) -> tuple[str, ...]:
    """The command of the table. One word is another place for the program; more are the whole command."""
    if not settings.command:
        return tuple(profile.command)
    first, *rest = settings.command
    program = os.path.expanduser(first)
    return (program, *rest) if rest else (program, *profile.command[1:])
