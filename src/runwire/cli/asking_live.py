"""Asking in place: the oldest open question under the run that waits for it, answered by one key."""

import asyncio

from runwire.cli.deciding import ANSWERS, decide
from runwire.cli.keys import Keys
from runwire.cli.live_view import KEYS_LINE, LiveView
from runwire.client.client import Client
from runwire.client.render.blocks import Approval
from runwire.errors import RunwireError


class LiveAsker:
    """Puts the questions of a live view to whoever sits there. Only what is on the screen can be answered."""

    def __init__(self, client: Client, view: LiveView, tasks: asyncio.TaskGroup) -> None:
        """Answer by way of `client`, in tasks of the view's own."""
        self._client = client
        self._view = view
        self._tasks = tasks
        self._asked: Approval | None = None
        self._sending = False
        self.editing = False
        """Whether the terminal belongs to an editor now."""
        self.keys = Keys(self.press)

    def look(self) -> None:
        """Put the oldest question up. This comes right before a paint, so that what can be answered can be seen."""
        pending = self._view.drawing.pending
        question = pending[0] if pending else None
        if question is self._asked:
            return
        # What was typed before the question could be seen is no answer to it.
        self.keys.forget()
        self._asked = question
        self._view.keys = KEYS_LINE if question is not None else ""

    def press(self, key: str) -> None:
        """Take a key."""
        question, answer = self._asked, key.lower()
        if question is None or self._sending or question.state != "pending":
            return
        if answer == "?":
            self._view.explain(question)
        elif answer in ANSWERS:
            self._sending = True
            self._view.keys = "  …"
            self._tasks.create_task(self._answer(question, answer))

    async def _answer(self, question: Approval, answer: str) -> None:
        if answer == "e":
            self._view.hide()
            self.keys.off()
            self.editing = True
        try:
            await decide(self._client, question.approval_id, answer, question.input)
        except RunwireError as error:
            self._view.remark(f"error: {error.message}\nhint:  {error.hint}")
        finally:
            self._sending = self.editing = False
            if self._asked is question:
                # Unless it was heard already that it is answered, it is asked again until it is.
                self._view.keys = KEYS_LINE
