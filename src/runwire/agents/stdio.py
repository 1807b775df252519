"""Executes the runs of an agent that is a program, spoken with over stdio."""

import base64
from collections.abc import Sequence

from runwire.agents.dialect import Image
from runwire.agents.launching import Launcher, NotInstalled
from runwire.agents.profile import Profile
from runwire.agents.visiting import Patience, Visit
from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.host import Ended, Failed, RunHost
from runwire.protocol.events.user import UserAttachment

GONE = "the agent ended together with the worker that it ran under: it cannot be answered any more, nor go on"


class StdioExecutor:
    """Executes runs of one agent."""

    def __init__(self, *, profile: Profile, launcher: Launcher, clock: Clock, patience: Patience) -> None:
        """Drive the agent of a profile."""
        self._profile = profile
        self._launcher = launcher
        self._clock = clock
        self._patience = patience

    async def run(self, host: RunHost) -> Ended:
        """Have the agent answer the run's prompt."""
        if not host.facts.fresh:
            return Failed("agent_gone", GONE, retriable=True)
        try:
            async with self._launcher.launch(self._profile, host) as started:
                visit = Visit(
                    host=host,
                    started=started,
                    speaker=self._profile.speak(started.telling),
                    clock=self._clock,
                    patience=self._patience,
                )
                return await visit.hold(host.facts.prompt, await images_of(host))
        except NotInstalled as missing:
            return Failed("agent_not_installed", f"{missing}; to get it: {self._profile.install}")
        except RunwireError as wrong:
            return Failed(wrong.code, wrong.message)


async def images_of(host: RunHost) -> Sequence[Image]:
    """The pictures that came with the run's prompt."""
    found: list[Image] = []
    for one in await host.past():
        if one.run_id == host.facts.run_id and isinstance(one.payload, UserAttachment) and one.payload.kind == "image":
            _, body = await host.body(one.payload.artifact_id)
            found.append(Image(one.payload.mime, base64.b64encode(body).decode()))
    return found
