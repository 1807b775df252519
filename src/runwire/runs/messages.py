"""Steering: what people say to a run that is at work. It waits in a row until the loop takes it, before its next turn."""

from typing import Literal

import apsw

from runwire.errors import InvalidContent, RunFinished
from runwire.journal.bell.topics import control
from runwire.journal.effects import together
from runwire.journal.records import Effect
from runwire.runs.errors import NotSteerable
from runwire.runs.hosting import Ground
from runwire.runs.rows.messages import insert_message
from runwire.runs.rows.queue import active_run, find_entry


class Messages:
    """Takes what is said to runs."""

    def __init__(self, *, ground: Ground) -> None:
        """Keep it in the journal's store."""
        self._ground = ground

    async def say(self, run_id: str, text: str, *, by: str, also: Effect | None = None) -> None:
        """Let the run hear a text before its next turn; one that is over hears nothing any more."""
        if not text.strip():
            raise InvalidContent("there is nothing in the message", hint="say something")
        info = await self._ground.journal.reader.run(run_id)
        kind = info.story.run.kind
        if kind is not None and kind != "agent_loop":
            raise NotSteerable(run_id, kind=kind)
        clean, now_ns = self._ground.journal.redactor.redact_text(text), self._ground.clock.now_ns()

        def effect(db: apsw.Connection) -> None:
            if find_entry(db, run_id) is None:
                raise RunFinished(run_id)
            insert_message(db, run_id, clean, by, "message", now_ns)

        await self._ground.journal.write(together(also, effect) or effect)
        self._ground.journal.signal(control(run_id))

    def rejection(self, task_id: str, run_id: str, text: str, *, by: str) -> Effect:
        """A row for the task's active run, that a patch was rejected; without one it waits for whoever takes `run_id` up.

        It rides in the transaction of the rejection; signal `control` of the active run afterwards.
        """
        clean, now_ns = self._ground.journal.redactor.redact_text(text), self._ground.clock.now_ns()
        kind: Literal["rejection"] = "rejection"
        return lambda db: insert_message(db, active_run(db, task_id) or run_id, clean, by, kind, now_ns)
