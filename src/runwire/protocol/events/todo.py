"""The agent's own list of what is to be done."""

from typing import Annotated, ClassVar

from msgspec import Meta

from runwire.protocol.payload import Payload, Record


class Todo(Record):
    """One thing to be done."""

    content: str
    status: Annotated[str, Meta(description="pending, in_progress or completed.")]


class TodoWriteUpdated(Payload):
    """The list was written anew; it replaces the former one in full."""

    type: ClassVar[str] = "tool.todo_write.updated"

    tool_call_id: str
    todos: list[Todo]
