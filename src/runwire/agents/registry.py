"""Which agents there are, which of them are here, and in which version. Looks when it is asked, and starts no work."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from runwire.agents.coverage import event_types
from runwire.agents.profile import Profile
from runwire.agents.profiles import configured
from runwire.agents.versions import ASKING_S, Versions
from runwire.config import AgentSettings
from runwire.workspace.environment import child_environment

NATIVE = "native"
SERVED = "agno"
"""The dialect of agents that are not started but called."""
_AT_A_TIME = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of an agent without looking."""

    name: str
    aliases: Sequence[str] = ()
    """Other names that a task may give it."""
    dialect: str
    driven: str
    """How it is spoken to."""
    asks: bool
    """Whether it asks for permission by itself."""
    survives_restart: bool
    """Whether it can be answered after the process that drove it is gone."""
    autospawn: bool = False
    event_types: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a look has shown of an agent."""

    known: Known
    installed: bool
    version: str | None = None
    place: str = ""
    """Its program, or its address."""
    to_do: str = ""
    """What a person does to get it, when it is not here."""


class _Info(msgspec.Struct):
    """What an AgentOS says of itself."""

    agno_version: str | None = None


class Registry:
    """Looks for agents."""

    def __init__(
        self, *, version: str, agents: Mapping[str, AgentSettings], environ: Mapping[str, str], versions: Versions
    ) -> None:
        """Know our own agent in its version, and others by the names that tasks give them; `environ` is a worker's."""
        self._version = version
        self._agents = agents
        self._environ = environ
        self._versions = versions

    def known(self) -> Sequence[Known]:
        """Every agent, our own first. Nothing is looked at."""
        return [_OURS, *(_known(*other) for other in self._others())]

    async def look(self) -> Sequence[Found]:
        """Every agent as it is here and now, within seconds."""
        # Loading every driver takes a moment, which is not the loop's.
        others = await asyncio.to_thread(lambda: [(_known(*one), one[2]) for one in self._others()])
        seats = asyncio.Semaphore(_AT_A_TIME)

        async def look_at(known: Known, settings: AgentSettings) -> Found:
            async with seats:
                if settings.url is not None and known.dialect == SERVED:
                    return await _look_at_server(known, settings.url)
                return await self._look_at_program(known, settings)

        async with asyncio.TaskGroup() as group:
            looking = [group.create_task(look_at(*other)) for other in others]
        ours = Found(known=_OURS, installed=True, version=self._version)
        return [ours, *(task.result() for task in looking)]

    def _others(self) -> Iterator[tuple[str, Sequence[str], AgentSettings]]:
        """Each agent once, by its longest name."""
        short = {name.partition(":")[2] for name in self._agents}
        for name, settings in self._agents.items():
            if name not in short:
                yield name, tuple(filter(None, (name.partition(":")[2],))), settings

    async def _look_at_program(self, known: Known, settings: AgentSettings) -> Found:
        profile = _profile(known.name, settings)
        program = await asyncio.to_thread(_find, profile, self._environ)
        if program is None:
            return Found(known=known, installed=False, to_do=profile.install)
        version = await self._versions.of((program, *_script(profile), *profile.version), profile.set_env)
        return Found(known=known, installed=True, version=version, place=program)


_OURS = Known(
    name=NATIVE,
    dialect=NATIVE,
    driven="in process",
    asks=True,
    survives_restart=True,
    event_types=event_types(NATIVE),
)


def _known(name: str, aliases: Sequence[str], settings: AgentSettings) -> Known:
    dialect = settings.dialect or name
    served = dialect == SERVED
    profile = None if served else _profile(name, settings)
    return Known(
        name=name,
        aliases=aliases,
        dialect=dialect,
        driven="HTTP/SSE" if profile is None else profile.about,
        asks=profile is None or profile.asks,
        survives_restart=profile is None or profile.resumes,
        autospawn=settings.autospawn,
        # Driven, some speak another dialect than the one that their own stream is written in.
        event_types=event_types(dialect) if profile is None else event_types(dialect, profile.dialect),
    )


def _profile(name: str, settings: AgentSettings) -> Profile:
    return configured(name.partition(":")[2] or name, settings)


def _find(profile: Profile, environ: Mapping[str, str]) -> str | None:
    seen = {**child_environment(environ, {}, known=()), **profile.set_env}
    found = shutil.which(profile.command[0], path=seen.get("PATH"))
    return None if found is None else os.path.abspath(found)


def _script(profile: Profile) -> Iterator[str]:
    """The file that the program is to read, where the program is an interpreter: that is who has the version."""
    for word in profile.command[1:]:
        if not (os.path.isabs(word) and os.path.isfile(word)):
            return
        yield word


async def _look_at_server(known: Known, url: str) -> Found:
    # Not at the top: few have such an agent.
    import httpx2

    base = url.rstrip("/")
    try:
        async with (
            asyncio.timeout(ASKING_S),
            httpx2.AsyncClient(trust_env=False, timeout=ASKING_S) as client,
        ):
            info = await client.get(f"{base}/info")
            if info.status_code == 200:
                version = msgspec.json.decode(info.content, type=_Info).agno_version
                return Found(known=known, installed=True, version=version, place=url)
            # Releases before 2.9 tell nothing of themselves but that they live.
            health = await client.get(f"{base}/health")
            if health.status_code == 200:
                return Found(known=known, installed=True, place=url)
            reason = f"it answers {health.status_code}"
    except (httpx2.HTTPError, OSError, TimeoutError) as wrong:
        reason = str(wrong) or "it does not answer"
    except msgspec.DecodeError:
        reason = "it answers, but is no AgentOS"
    return Found(known=known, installed=False, place=url, to_do=f"start the AgentOS at {url}: {reason}")
