"""One conversation with an editor: prompts that become runs of one task, and the run that is told now."""

import asyncio
from collections.abc import Mapping

import msgspec

from runwire.acp.ending import answer_of, answered
from runwire.acp.following import Audience, Following
from runwire.acp.peer import Peer
from runwire.acp.prompting import Said
from runwire.acp.refusals import INVALID_PARAMS, INVALID_REQUEST, Refusal
from runwire.acp.updates import Answered, Mode, Modes, Titled
from runwire.client.answers import Run, Task
from runwire.client.client import Client
from runwire.errors import GatewayError, RunwireError
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta
from runwire.protocol.events.run import RunResumedFromEvent

# A prompt that was cancelled is answered after so long, also when the run has not come to its end.
_FAREWELL_S = 10.0
_CONFLICT = 409
_THINKING = [AssistantThinkingDelta.type, AssistantThinkingComplete.type]
MODES = [
    Mode("default", "Default", "Reads, writes and runs commands in its sandbox; asks before it uses the network."),
    Mode("ask", "Ask", "Asks before it writes, runs a command or uses the network."),
    Mode("read_only", "Read only", "Reads, and does nothing else."),
    Mode("trust", "Trust", "Asks for nothing."),
]


class Session:
    """A conversation. Its task is made by the first prompt, and every later one goes on from the end of the last run."""

    def __init__(
        self,
        *,
        client: Client,
        peer: Peer,
        tasks: asyncio.TaskGroup,
        session_id: str,
        wishes: Mapping[str, object],
        root: str,
    ) -> None:
        """Hold the conversation `session_id` about `root`; `wishes` are what its task is to be like."""
        self.session_id = session_id
        self.task_id: str | None = None
        self._client = client
        self._tasks = tasks
        self._wishes = dict(wishes)
        self._audience = Audience(client=client, peer=peer, session_id=session_id, root=root)
        self._following: Following | None = None
        self._telling: asyncio.Task[None] | None = None
        self._prompts: set[asyncio.Event] = set()
        """The prompts that are dealt with now; each is set when it is cancelled."""

    # What may happen without asking

    def modes(self) -> Modes:
        """The modes there are, and the one in use."""
        policy = self._wishes.get("policy")
        return Modes(policy if isinstance(policy, str) else "default", MODES)

    def set_mode(self, mode_id: str) -> None:
        """Choose what may happen without asking. What a task may do never changes, so this comes before its first prompt."""
        if mode_id not in {mode.id for mode in MODES}:
            known = ", ".join(mode.id for mode in MODES)
            raise Refusal(INVALID_PARAMS, f"there is no mode {mode_id[:64]!r}", f"choose one of {known}")
        if self.task_id is not None and mode_id != self.modes().current_mode_id:
            what = "the mode of a conversation is settled by its first prompt"
            raise Refusal(INVALID_PARAMS, what, "begin a new one to work in another mode")
        self._wishes["policy"] = mode_id

    # Prompts

    async def prompt(self, said: Said) -> Answered:
        """Have something done, and tell it until it is done. One that is cancelled is answered so, whatever happens."""
        cancelled = asyncio.Event()
        self._prompts.add(cancelled)
        work = self._tasks.create_task(self._carry_out(said, cancelled))
        giving_up = self._tasks.create_task(cancelled.wait())
        try:
            await asyncio.wait({work, giving_up}, return_when=asyncio.FIRST_COMPLETED)
            if cancelled.is_set():
                await asyncio.wait({work}, timeout=_FAREWELL_S)
        finally:
            self._prompts.discard(cancelled)
            giving_up.cancel()
        if cancelled.is_set():
            run = None if self._following is None else self._following.run
            return Answered("cancelled") if run is None else answered(run, "cancelled")
        outcome = work.result()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _carry_out(self, said: Said, cancelled: asyncio.Event) -> Answered | Exception:
        """What came of a prompt. A failure is returned, because it is nobody's but the prompt's."""
        try:
            following, heard_before = await self._begin(said)
            if cancelled.is_set():
                await following.stop()
            await following.over.wait()
            if following.heard == heard_before and following.is_completed:
                # It came to its end just as this was said to it.
                following = await self._taken_up(following)
                await following.over.wait()
            if following.failure is not None:
                return following.failure
            return answer_of(following.run, following.telling)
        except (RunwireError, Refusal) as failure:
            return failure

    async def _begin(self, said: Said) -> tuple[Following, int]:
        """The run that deals with a prompt: the one that is alive and hears it, or a new one; and what it had heard before."""
        current = self._following
        if current is None or current.over.is_set():
            latest = None if self.task_id is None else await self._latest(self.task_id)
            if latest is None or latest.finished:
                return self._follow(await self._start(latest, said), ours=True), -1
            # Somebody else has made it go on meanwhile.
            current = self._follow(latest, ours=False)
        heard_before = current.heard
        if await self._hears(current, said):
            return current, heard_before
        await current.over.wait()
        return await self._begin(said)

    async def _hears(self, following: Following, said: Said) -> bool:
        """Say it to a run that is alive; one that ends, or that could not see what is attached, does not hear it."""
        if following.stopping or said.attachments:
            return False
        try:
            await self._client.say(following.run, said.text)
        except GatewayError as error:
            if error.status != _CONFLICT:
                raise
            return False
        self._audience.said[said.text] += 1
        return True

    async def _taken_up(self, ended: Following) -> Following:
        """Go on with a run that is over, in one that hears first what waits. Another prompt may have done so already."""
        if self._following is ended:
            run = await self._client.resume(ended.run)
            if self._following is ended:
                return self._follow(run, ours=False)
        return self._following or ended

    async def _start(self, latest: Run | None, said: Said) -> Run:
        if latest is not None:
            return await self._client.go_on(latest, said.text, attachments=said.attachments)
        wishes = {**self._wishes, "prompt": said.text, "session_id": self.session_id, "attachments": said.attachments}
        task = await self._client.create_task(wishes)
        if task.latest_run is None:
            raise RunwireError("the gateway made the task but started no run", hint="look into the gateway's log")
        self.task_id = task.task_id
        await self._audience.tell(Titled(task.title))
        return task.latest_run

    async def _latest(self, task_id: str) -> Run | None:
        """The last run of the conversation; those that did a part of the work for another do not count."""
        listing = await self._client.runs(task_id=task_id)
        runs = (msgspec.json.decode(one, type=Run) for one in listing.data)
        return next((run for run in runs if run.parent_run_id is None), None)

    def _follow(self, run: Run, *, ours: bool) -> Following:
        following = self._following = Following(self._audience, run, ours=ours)
        self._telling = self._tasks.create_task(following.follow())
        return following

    # The end

    def cancel(self) -> None:
        """End what is done now. Who waits for it is answered soon."""
        for cancelled in self._prompts:
            cancelled.set()
        if self._following is not None:
            self._tasks.create_task(self._following.stop())

    async def close(self) -> None:
        """End what is done now, and see it end."""
        self.cancel()
        if self._following is not None:
            await self._following.over.wait()

    def leave(self) -> None:
        """Tell nothing more. What is done goes on; a prompt that waits for it is in the way."""
        if self._prompts:
            what = "a prompt of this session is being dealt with"
            raise Refusal(INVALID_REQUEST, what, "wait for its answer, or cancel it")
        if self._telling is not None:
            self._telling.cancel()

    # The past

    async def take_up(self, task: Task, *, tell: bool) -> None:
        """Go on with a conversation: with `tell`, all of it is told. A run that is alive is told from now on."""
        self.task_id = task.task_id
        if task.policy is not None:
            self._wishes["policy"] = task.policy
        latest = await self._latest(task.task_id)
        if latest is None:
            return
        if tell:
            for run_id, through in await self._chain(latest.run_id):
                await Following(self._audience, await self._client.run(run_id), ours=False).replay(through)
        if tell or not latest.finished:
            following = self._follow(latest, ours=False)
            await following.synced.wait()
            if following.failure is not None:
                raise following.failure

    async def _chain(self, run_id: str) -> list[tuple[str, int]]:
        """The runs that a run goes on from, the first one first, each with the last of its events that counts."""
        found: list[tuple[str, int]] = []
        while True:
            page = await self._client.read(run_id, limit=1)
            first = bytes(page.data[0]) if page.data else b""
            payload = decode_payload(type_of(first), data_of(first)) if first else None
            if not isinstance(payload, RunResumedFromEvent):
                return found[::-1]
            run_id = payload.from_run_id
            found.append((run_id, payload.from_sequence))


def wishes_for(settings: Mapping[str, object], cwd: str, servers: Mapping[str, object]) -> dict[str, object]:
    """What the task of a conversation about `cwd` is to be like."""
    workspace = {"path": cwd, "mode": settings.get("mode", "in_place")}
    rest = {name: value for name, value in settings.items() if name != "mode"}
    return {**rest, "workspace": workspace, "mcp_servers": servers, "experimental": _THINKING}
