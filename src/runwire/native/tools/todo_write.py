"""todo_write: keep a list of what is to be done."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.todo import Todo, TodoWriteUpdated


class TodoItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing to be done."""

    content: Annotated[str, Meta(min_length=1, max_length=2000, description="What is to be done.")]
    status: Annotated[Literal["pending", "in_progress", "completed"], Meta(description="Where it stands.")] = "pending"


class TodoWriteInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole list."""

    todos: Annotated[list[TodoItem], Meta(max_length=200, description="All of the list; it replaces the former one.")]


@dataclass(frozen=True, slots=True)
class TodoWrite:
    """Writes the agent's own list."""

    name: ClassVar[str] = "todo_write"
    kind: ClassVar[str] = "todo"
    about: ClassVar[str] = (
        "Write down what is to be done and where it stands, so that people see it. Replaces the whole list."
    )
    Input: ClassVar[type[TodoWriteInput]] = TodoWriteInput
    effects: ClassVar[Effects] = frozenset()

    def ask(self, given: TodoWriteInput, context: ToolContext) -> AskParts:  # noqa: ARG002 - the signature of every tool
        """Say how long the list is."""
        return AskParts(summary=_summary(given))

    async def run(self, given: TodoWriteInput, context: ToolContext) -> ToolResult:
        """Tell the list."""
        todos = [Todo(content=item.content, status=item.status) for item in given.todos]
        context.host.emit(TodoWriteUpdated(tool_call_id=context.tool_call_id, todos=todos))
        return ToolResult(summary=_summary(given), output=_summary(given))


def _summary(given: TodoWriteInput) -> str:
    done = sum(item.status == "completed" for item in given.todos)
    return f"{len(given.todos)} to do, {done} done"
