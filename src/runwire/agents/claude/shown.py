"""The lines of Claude Code in the glass pane."""

from runwire.agents import glasspane as gp
from runwire.agents.dialect import Seen

SYSTEM = {name: Seen(f"system/{name}") for name in ("init", "status", "api_retry", "thinking_tokens")}
MESSAGE_START = Seen("stream_event/message_start", (gp.TURN_START, gp.MESSAGE_START))
NEXT_MESSAGE_START = Seen("stream_event/message_start", (gp.TURN_END, gp.TURN_START, gp.MESSAGE_START))
BLOCK_DELTA = Seen("stream_event/content_block_delta", (gp.MESSAGE_UPDATE,))
BLOCK_DELTA_NONE = Seen("stream_event/content_block_delta")
BLOCK_STOP = Seen("stream_event/content_block_stop")
MESSAGE_DELTA = Seen("stream_event/message_delta")
MESSAGE_STOP = Seen("stream_event/message_stop")
ASSISTANT = {name: Seen("assistant", (name,)) for name in (gp.MESSAGE_END, gp.MESSAGE_UPDATE, gp.TOOL_START)}
API_ERROR = Seen("assistant", (gp.ERROR,))
USER_RESULT = Seen("user", (gp.TOOL_END,))
USER_REPLAY = Seen("user", (gp.MESSAGE_UPDATE,))
USER = Seen("user")
TOOL_PROGRESS = Seen("tool_progress", (gp.TOOL_UPDATE,))
CONTROL_REQUEST = Seen("control_request")
CONTROL_CANCEL = Seen("control_cancel_request")
CONTROL_RESPONSE = Seen("control_response")


def assistant(name: str, *, is_next: bool, ended: bool) -> Seen:
    """A line of the model that ends with what is named; `is_next` says that it begins a message, and ends a turn perhaps."""
    if not is_next:
        return ASSISTANT[name]
    return Seen("assistant", ((gp.TURN_END,) if ended else ()) + (gp.TURN_START, gp.MESSAGE_START, name))
