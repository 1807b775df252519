"""What a driven agent is doing, beyond what the other families can say."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from runwire.protocol.payload import Payload

LATE = "late: "
"""How the error of a line begins that was understood, and came when everything was over."""

AgentState = Literal["idle", "working", "blocked", "done", "error"]


class AgentStateChanged(Payload):
    """The agent is in another state than before."""

    type: ClassVar[str] = "agent.state_changed"

    from_: AgentState = msgspec.field(name="from")
    to: AgentState
    reason: str = ""


class AgentUnparsed(Payload):
    """The agent wrote a line that no dialect understands, or one that came after its end."""

    type: ClassVar[str] = "agent.unparsed"

    raw: Annotated[str, Meta(description="The line as it came.")]
    error: Annotated[str, Meta(description="Why it was not understood.")]
