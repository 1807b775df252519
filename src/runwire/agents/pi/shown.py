"""The lines of pi in the glass pane."""

from collections.abc import Mapping
from types import MappingProxyType

from runwire.agents import glasspane as gp
from runwire.agents.dialect import Seen
from runwire.agents.pi import lines as wire

AGENT_START = Seen("agent_start")
AGENT_END = Seen("agent_end", (gp.AGENT_END,))
AGENT_RESTS = Seen("agent_end")
SETTLED = Seen("agent_settled")
SETTLED_AS_END = Seen("agent_settled", (gp.AGENT_END,))
TURN_START = Seen("turn_start", (gp.TURN_START,))
TURN_END = Seen("turn_end", (gp.TURN_END,))
MESSAGE_START = Seen("message_start", (gp.MESSAGE_START,))
MESSAGE_START_ASIDE = Seen("message_start")
MESSAGE_UPDATE = Seen("message_update", (gp.MESSAGE_UPDATE,))
MESSAGE_UPDATE_ASIDE = Seen("message_update")
MESSAGE_END = Seen("message_end", (gp.MESSAGE_END,))
MESSAGE_END_ASIDE = Seen("message_end")
MESSAGE_FAILED = Seen("message_end", (gp.MESSAGE_END, gp.ERROR))
TOOL_START = Seen("tool_execution_start", (gp.TOOL_START,))
TOOL_UPDATE = Seen("tool_execution_update", (gp.TOOL_UPDATE,))
TOOL_END = Seen("tool_execution_end", (gp.TOOL_END,))
RETRY_START = Seen("auto_retry_start")
RETRY_END = Seen("auto_retry_end")
COMPACTION_START = Seen("compaction_start")
COMPACTION_END = Seen("compaction_end")
RESPONSE = Seen("response")
EXTENSION_UI = Seen("extension_ui_request")

ASIDE: Mapping[type, Seen] = MappingProxyType(
    {
        wire.Session: Seen("session"),
        wire.QueueUpdate: Seen("queue_update"),
        wire.EntryAppended: Seen("entry_appended"),
        wire.ThinkingLevelChanged: Seen("thinking_level_changed"),
        wire.SessionInfoChanged: Seen("session_info_changed"),
        wire.SummaryRetry: Seen("summarization_retry_scheduled"),
        wire.SummaryAttempt: Seen("summarization_retry_attempt_start"),
        wire.SummaryDone: Seen("summarization_retry_finished"),
        wire.BashUpdate: Seen("bash_execution_update"),
        wire.ExtensionError: Seen("extension_error", (gp.ERROR,)),
    }
)
"""Lines that change nothing."""
