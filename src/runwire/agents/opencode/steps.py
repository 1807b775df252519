"""The steps of an opencode session: each is one call of the model, with the tools that it asked for."""

from runwire.agents.opencode import parts
from runwire.agents.opencode.parts import Part
from runwire.agents.telling import Teller


class Steps:
    """Tells of steps. A step that begins while another is open means that the other was given up and is tried again."""

    def __init__(self, teller: Teller) -> None:
        """Tell of steps."""
        self._teller = teller
        self._bill = parts.Bill()
        self.last_reason: str | None = None
        """Why the last step stopped; None while one is open."""
        self._has_text = False
        self._refused: dict[str, int] = {}

    def begin(self) -> None:
        """The model is called."""
        if self._teller.is_in_turn and self.last_reason is None:
            self._teller.turn_fails("retried", "the model was called again before it had answered", will_retry=True)
        self.last_reason = None
        self._has_text = False
        self._teller.turn_begins()

    def said(self) -> None:
        """There was text in this step."""
        self._has_text = True

    def finish(self, part: Part) -> None:
        """The model has answered, and its tools are done."""
        teller = self._teller
        if teller.outcome is None:
            used = self._bill.usage(part)
            if used is not None:
                teller.use(used)
            self.last_reason = part.reason or "unknown"
        if part.reason == "stop" and self._has_text and teller.is_in_turn:
            teller.final()
        teller.turn_ends(parts.stop_of(part.reason))

    def call_id(self, call_id: str) -> str:
        """What a call is known by. One that was refused is over; the same id names another one after it."""
        again = self._refused.get(call_id, 0)
        return call_id if not again else f"{call_id}~{again + 1}"

    def wants(self, part: Part) -> None:
        """The model asks for a call. What became of it is not known."""
        self._teller.proposes(parts.call_of(part, self.call_id(part.call_id)))

    def tool(self, part: Part) -> None:
        """A call has ended, which may be the first that was heard of it."""
        teller, call_id = self._teller, self.call_id(part.call_id)
        call = parts.call_of(part, call_id)
        refusal = parts.refusal_of(part)
        if refusal and not teller.tools.is_open(call_id):
            teller.tool_blocked(call, refusal)
            self._refused[part.call_id] = self._refused.get(part.call_id, 0) + 1
            return
        teller.tool_begins(call)
        todos = parts.todos_of(part, call_id)
        if todos is not None:
            teller.say(todos)
        self.show(part, call_id)
        teller.say(*parts.bodies_of(part, call_id))
        teller.tool_ends(call_id, parts.ending_of(part))

    def show(self, part: Part, call_id: str) -> None:
        """A command shows all that it has printed so far, or the end of it."""
        state = part.state
        if part.tool == "bash" and state is not None and state.metadata is not None:
            self._teller.tool_shows(call_id, parts.printed(state.metadata.output))
