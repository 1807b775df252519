"""Questions of a run, put to the person at the editor. The first answer wins, wherever it is given."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from runwire.acp.insisting import insist, say
from runwire.acp.peer import Dismissed, Peer
from runwire.acp.requests import Permitted
from runwire.acp.telling import Telling
from runwire.acp.updates import AgentThought, Option, Question, Text
from runwire.client.client import Client
from runwire.client.render.blocks import Approval
from runwire.errors import GatewayError

OPTIONS = [
    Option("once", "Allow", "allow_once"),
    Option("session", "Allow in this session", "allow_always"),
    Option("always", "Always allow", "allow_always"),
    Option("reject", "Reject", "reject_once"),
]


class Asking:
    """Keeps every open question of one run before the person, and no other."""

    def __init__(
        self, *, client: Client, peer: Peer, session_id: str, telling: Telling, stopping: Callable[[], bool]
    ) -> None:
        """Answer by way of `client`; `stopping` says whether the run is about to end anyway."""
        self._client = client
        self._peer = peer
        self._session_id = session_id
        self._telling = telling
        self._stopping = stopping
        self._open: dict[str, asyncio.Task[None]] = {}

    def settle(self, pending: Sequence[Approval], tasks: asyncio.TaskGroup) -> None:
        """Ask what is not asked yet, and take back what somebody else has answered."""
        wanted = {one.approval_id: one for one in pending}
        for answered in self._open.keys() - wanted.keys():
            self._open.pop(answered).cancel()
        for approval_id, approval in wanted.items():
            if approval_id not in self._open:
                self._open[approval_id] = tasks.create_task(self._ask(approval))

    async def _ask(self, approval: Approval) -> None:
        approval_id = approval.approval_id
        if await self._wants_words(approval_id):
            note = f"{approval.summary}\nAnswer with `runwire approve {approval_id} --edit FILE`.\n"
            update = AgentThought(Text(note), approval_id)
            await self._peer.notify("session/update", {"sessionId": self._session_id, "update": update})
            return
        question = Question(self._session_id, self._telling.asked_about(approval), OPTIONS)
        try:
            answer = await self._peer.ask("session/request_permission", question, Permitted)
        except Dismissed as why:
            say(f"the editor does not ask ({why}); `runwire approve {approval_id}` answers")
            return
        await self._decide(approval_id, answer.outcome.option_id if answer.outcome.outcome == "selected" else None)

    async def _wants_words(self, approval_id: str) -> bool:
        """Whether it asks for an answer in words, and not for a yes."""
        try:
            return (await self._client.approval(approval_id)).needs_person
        except GatewayError:
            return False

    async def _decide(self, approval_id: str, option: str | None) -> None:
        match option:
            case "once" | "session" | "always":
                call = partial(self._client.approve, approval_id, scope=option)
            case None if self._stopping():
                # Questions go with the run.
                return
            case None:
                call = partial(self._client.deny, approval_id, comment="dismissed in the editor")
            case _:
                call = partial(self._client.deny, approval_id)
        await insist(call, f"the answer to {approval_id} was not taken")
