"""The frames of an ACP agent in the glass pane."""

from runwire.agents import glasspane as gp
from runwire.agents.dialect import Seen

MESSAGE = Seen("session/update/agent_message_chunk", (gp.MESSAGE_UPDATE,))
THOUGHT = Seen("session/update/agent_thought_chunk", (gp.MESSAGE_UPDATE,))
USER = Seen("session/update/user_message_chunk", (gp.MESSAGE_UPDATE,))
PLANNED = Seen("session/update/plan")
USED = Seen("session/update/usage_update")
TOOL_CALL = Seen("session/update/tool_call", (gp.TOOL_START,))
TOOL_CALL_WHOLE = Seen("session/update/tool_call", (gp.TOOL_START, gp.TOOL_END))
TOOL_UPDATE = Seen("session/update/tool_call_update", (gp.TOOL_UPDATE,))
TOOL_END = Seen("session/update/tool_call_update", (gp.TOOL_END,))
PERMISSION = Seen("session/request_permission")
RESPONSE = Seen("response")
RESPONSES = {name: Seen(f"response/{name}") for name in ("initialize", "authenticate", "session/new")}
ANSWERED = Seen("response/session/prompt", (gp.MESSAGE_END, gp.TURN_END, gp.AGENT_END))
GAVE_UP = Seen("response/session/prompt", (gp.MESSAGE_END, gp.TURN_END, gp.ERROR, gp.AGENT_END))
ERROR = Seen("error")
FAILED = Seen("error", (gp.ERROR, gp.AGENT_END))

QUIET = {
    name: Seen(f"session/update/{name}")
    for name in (
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "notice",
        "compaction_update",
        "compaction_summary_chunk",
        "plan_update",
        "plan_removed",
        "subagent_update",
        "session_message",
        "session_message_chunk",
    )
}
