"""What a person does to a run from here: decide, review, steer, end. Each asks first where something is lost."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import msgspec
from textual.app import App

from runwire.client.answers import Approval, Artifact
from runwire.client.client import Client
from runwire.client.render.harmless import one_line
from runwire.errors import RunwireError
from runwire.tui.dialogs import Ask, Choice, Choose, Question, Reply
from runwire.tui.pager import TEXT_MAX, Pager, diff_lines, text_lines
from runwire.tui.rows import Piece

_SCOPES = ("once", "session", "task", "always")
_MORE = 200


class Deed(Protocol):
    """Something that can be done to a run; the patches are those under the cursor, if any."""

    def __call__(self, run_id: str, patches: Sequence[str] = ()) -> Awaitable[None]: ...


class Deeds:
    """Everything that a key can do to a run. What goes wrong is told, and nothing else happens."""

    def __init__(self, app: App[None], client: Client) -> None:
        """Ask on `app`, act by way of `client`."""
        self._app = app
        self._client = client

    def named(self, name: str) -> Deed:
        """The deed of that name."""
        deeds: dict[str, Deed] = {
            "approve": self.approve,
            "deny": self.deny,
            "diff": self.diff,
            "apply": self.apply,
            "reject": self.reject,
            "revert": self.revert,
            "cancel": self.cancel,
            "say": self.say,
        }
        return deeds[name]

    async def do(self, name: str, run_id: str, patches: Sequence[str] = ()) -> None:
        """Do it; a refusal of the gateway is shown with its hint."""
        try:
            await self.named(name)(run_id, patches)
        except RunwireError as error:
            hint = f" ({one_line(error.hint)})" if error.hint else ""
            self._tell(f"{one_line(error.message)}{hint}", bad=True)

    # Decisions

    async def approve(self, run_id: str, patches: Sequence[str] = ()) -> None:  # noqa: ARG002 - as every deed
        """Let what the run asks for happen."""
        asked = await self._pending(run_id)
        if asked is None:
            return
        prompt = "the answer, as a JSON object" if asked.needs_person else "a word for the log, if you like"
        reply = await self._ask(
            Question(
                title=f"Approve {one_line(asked.tool_name or 'this')}?",
                deed="approve",
                about=_asked_lines(asked),
                prompt=prompt,
                needed=asked.needs_person,
                options=() if asked.needs_person else _SCOPES,
            )
        )
        if reply is None:
            return
        if not asked.needs_person:
            await self._client.approve(asked.approval_id, comment=reply.text or None, scope=reply.option)
        elif (answer := _object(reply.text)) is not None:
            await self._client.approve(asked.approval_id, edited_input=answer)
        else:
            self._tell("that is no JSON object, so nothing was answered", bad=True)
            return
        self._tell("approved")

    async def deny(self, run_id: str, patches: Sequence[str] = ()) -> None:  # noqa: ARG002 - as every deed
        """Do not let it happen."""
        asked = await self._pending(run_id)
        if asked is None:
            return
        options = ("and let the run go on", "and end the run")
        question = Question(
            title=f"Deny {one_line(asked.tool_name or 'this')}?",
            deed="deny",
            about=_asked_lines(asked),
            prompt="why, for the agent and the log",
            options=options,
        )
        reply = await self._ask(question)
        if reply is not None:
            await self._client.deny(asked.approval_id, comment=reply.text or None, stop=reply.option == options[1])
            self._tell("denied")

    # Changes

    async def diff(self, run_id: str, patches: Sequence[str] = ()) -> None:
        """Show the patches under the cursor, or else all that the run has changed."""
        texts = [await _text(self._client.artifact_bytes(patch)) for patch in patches]
        text = "\n".join(texts) if texts else await _text(self._client.patch(run_id))
        if not text.strip():
            # Nothing was applied: what was proposed is then what there is to see.
            proposed = await self._patches(run_id, "proposed")
            text = "\n".join([await _text(self._client.artifact_bytes(patch.id)) for patch in proposed])
        if not text.strip():
            self._tell("it has changed nothing")
            return
        title = f"diff of {', '.join(patches)}" if patches else f"diff of {run_id}"
        await self._app.push_screen_wait(Pager(title, diff_lines(text)))

    async def apply(self, run_id: str, patches: Sequence[str] = ()) -> None:
        """Write proposed patches into their workspace."""
        chosen = await self._chosen(run_id, patches, "proposed", "Apply which patch?")
        if chosen and await self._confirmed("Apply", chosen, "apply", None) is not None:
            if len(chosen) > 1:
                # Several files of one change: all of them or none.
                await self._client.apply_all(run_id, [patch.id for patch in chosen])
            else:
                await self._client.apply(chosen[0].id)
            self._tell(f"applied {_paths(chosen)}")

    async def reject(self, run_id: str, patches: Sequence[str] = ()) -> None:
        """Refuse proposed patches."""
        await self._each(run_id, patches, ("Reject", "proposed", "rejected"), self._reject_one)

    async def revert(self, run_id: str, patches: Sequence[str] = ()) -> None:
        """Take applied patches back."""
        await self._each(run_id, patches, ("Revert", "applied", "reverted"), self._revert_one)

    # The run itself

    async def cancel(self, run_id: str, patches: Sequence[str] = ()) -> None:  # noqa: ARG002 - as every deed
        """End the run."""
        run = await self._client.run(run_id)
        if run.finished:
            self._tell(f"it is over already: {run.status}", bad=True)
            return
        about = [("What it is doing is stopped. Its log and its changes stay.", "")]
        question = Question(title="Cancel this run?", deed="cancel the run", about=about, prompt="why, for the log")
        reply = await self._ask(question)
        if reply is not None:
            await self._client.cancel(run, reason=reply.text or None)
            self._tell("cancelled")

    async def say(self, run_id: str, patches: Sequence[str] = ()) -> None:  # noqa: ARG002 - as every deed
        """Say something to the run."""
        run = await self._client.run(run_id)
        if run.finished:
            self._tell(f"it is over and hears nothing more: {run.status}", bad=True)
            return
        question = Question(
            title="Say to the agent", deed="say it", prompt="before its next turn it hears…", needed=True
        )
        reply = await self._ask(question)
        if reply is not None:
            await self._client.say(run, reply.text)
            self._tell("said")

    async def _pending(self, run_id: str) -> Approval | None:
        found = (await self._client.approvals(run_id=run_id)).data
        waiting = [msgspec.json.decode(raw, type=Approval) for raw in found]
        if not waiting:
            self._tell("it asks for nothing", bad=True)
            return None
        # The oldest is what the agent waits for first.
        choices = [Choice(one.approval_id, f"{one.tool_name}  {one.summary}") for one in reversed(waiting)]
        key = await self._choose("Which question?", choices)
        return next((one for one in waiting if one.approval_id == key), None)

    async def _patches(self, run_id: str, status: str) -> list[Artifact]:
        found = (await self._client.artifacts(run_id=run_id, kind="patch", status=status, limit=str(_MORE))).data
        patches = [msgspec.json.decode(raw, type=Artifact) for raw in reversed(found)]
        return [patch for patch in patches if patch.reverted_at is None]

    async def _chosen(self, run_id: str, patches: Sequence[str], status: str, title: str) -> list[Artifact]:
        standing = await self._patches(run_id, status)
        if pointed := [patch for patch in standing if patch.id in patches]:
            return pointed
        if not standing:
            self._tell(f"none of its patches is {status}", bad=True)
            return []
        choices = [Choice(patch.id, f"{patch.target_path or patch.id}  {patch.summary}") for patch in standing]
        key = await self._choose(title, choices)
        return [patch for patch in standing if patch.id == key]

    async def _each(
        self,
        run_id: str,
        patches: Sequence[str],
        words: tuple[str, str, str],
        act: Callable[[Artifact, str | None], Awaitable[None]],
    ) -> None:
        verb, status, done = words
        chosen = await self._chosen(run_id, patches, status, f"{verb} which patch?")
        if not chosen:
            return
        reply = await self._confirmed(verb, chosen, verb.lower(), "why, for the log")
        if reply is not None:
            for patch in chosen:
                await act(patch, reply.text or None)
            self._tell(f"{done} {_paths(chosen)}")

    async def _reject_one(self, patch: Artifact, reason: str | None) -> None:
        await self._client.reject(patch.id, reason=reason)

    async def _revert_one(self, patch: Artifact, reason: str | None) -> None:
        await self._client.revert(patch.id, reason=reason)

    async def _confirmed(self, verb: str, chosen: Sequence[Artifact], deed: str, prompt: str | None) -> Reply | None:
        about: list[Piece] = []
        for patch in chosen:
            about += diff_lines((await _text(self._client.artifact_bytes(patch.id))).rstrip("\n"))
        return await self._ask(Question(title=f"{verb} {_paths(chosen)}?", deed=deed, about=about, prompt=prompt))

    async def _ask(self, question: Question) -> Reply | None:
        return await self._app.push_screen_wait(Ask(question))

    async def _choose(self, title: str, choices: Sequence[Choice]) -> str | None:
        """Which of several; the only one where there is but one."""
        return choices[0].key if len(choices) == 1 else await self._app.push_screen_wait(Choose(title, choices))

    def _tell(self, text: str, *, bad: bool = False) -> None:
        self._app.notify(text, severity="error" if bad else "information", markup=False)


def _asked_lines(asked: Approval) -> list[Piece]:
    """The question in full: what, why, and the exact input."""
    lines = [*text_lines(asked.summary), *((line, "warn") for line, _ in text_lines(asked.policy_reason))]
    for name, value in (asked.input or {}).items():
        shown = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value)).decode()
        first, *more = text_lines(shown)
        lines += [(f"{one_line(name)}: {first[0]}", "bold"), *((f"  {line}", "bold") for line, _ in more)]
    return lines


def _paths(patches: Sequence[Artifact]) -> str:
    return one_line(", ".join(patch.target_path or patch.id for patch in patches), 120)


def _object(text: str) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


async def _text(pieces: AsyncGenerator[bytes]) -> str:
    """The beginning of a text that comes in pieces; no more than can be shown is fetched."""
    body = bytearray()
    async with aclosing(pieces):
        async for piece in pieces:
            body += piece
            if len(body) > TEXT_MAX:
                break
    return body.decode("utf-8", "replace")
