"""The glass pane: what one frame after another means for the state of an agent, by the canonical names of its frames.

| name                                             | state                                                                |
|--------------------------------------------------|----------------------------------------------------------------------|
| turn_start, message_start                        | working                                                              |
| message_update, message_end, turn_end,           | working, but for an error, which only another turn or message lifts  |
| tool_execution_start / _update / _end            |                                                                      |
| error                                            | error                                                                |
| agent_end                                        | done, but for an error of work that nobody cancelled                 |
| none                                             | unchanged                                                            |

While the agent waits for a decision it is blocked, whatever else it says.
"""

from collections.abc import Sequence

from runwire.protocol.events.agent import AgentState

MESSAGE_START = "message_start"
MESSAGE_UPDATE = "message_update"
MESSAGE_END = "message_end"
TURN_START = "turn_start"
TURN_END = "turn_end"
TOOL_START = "tool_execution_start"
TOOL_UPDATE = "tool_execution_update"
TOOL_END = "tool_execution_end"
AGENT_END = "agent_end"
ERROR = "error"

NAMES = (
    MESSAGE_START,
    MESSAGE_UPDATE,
    MESSAGE_END,
    TURN_START,
    TURN_END,
    TOOL_START,
    TOOL_UPDATE,
    TOOL_END,
    AGENT_END,
    ERROR,
)
_LIFTS_ERROR = frozenset({TURN_START, MESSAGE_START})
_NONE = "-"


class Pane:
    """The state of one agent, frame by frame."""

    def __init__(self) -> None:
        self._state: AgentState = "idle"
        self._is_blocked = False
        self.malformed = 0
        """How many frames nothing understood."""

    @property
    def state(self) -> AgentState:
        """What the agent is doing."""
        return "blocked" if self._is_blocked else self._state

    def step(self, names: Sequence[str], *, is_blocked: bool, is_cancelled: bool = False) -> AgentState:
        """Take the names of the next frame, and whether the agent waits for a decision after it, or was cancelled."""
        if self._is_blocked and not is_blocked and self._state in {"idle", "blocked"}:
            self._state = "working"
        self._is_blocked = is_blocked
        for name in names:
            self._state = "done" if is_cancelled and name == AGENT_END else _after(self._state, name)
        return self.state


def shown(raw_type: str, names: Sequence[str], state: AgentState) -> str:
    """One frame as a line: what it calls itself, its canonical names or a dash, and the state after it."""
    return f"{_cell(raw_type)}\t{'+'.join(names) or _NONE}\t{state}"


def _after(state: AgentState, name: str) -> AgentState:
    match name:
        case "error":
            return "error"
        case "agent_end":
            return "error" if state == "error" else "done"
        case _:
            return "error" if state == "error" and name not in _LIFTS_ERROR else "working"


def _cell(raw_type: str) -> str:
    """A name that keeps to its column, whatever an agent calls its frames."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in raw_type[:128])
    return clean or _NONE
