"""spawn_agent: hand a part of the work to a run of its own."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.host import Effects
from runwire.native.tools.outcome import one_line
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult

NEEDS = ("run.child_started", "run.child_finished")
"""The types that a task must ask for to be offered this."""


class SpawnAgentInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the other one is to do."""

    prompt: Annotated[str, Meta(min_length=1, description="The whole task: it knows nothing of this conversation.")]


@dataclass(frozen=True, slots=True)
class SpawnAgent:
    """Starts a child run and waits for its end. The host tells of its beginning and its end."""

    name: ClassVar[str] = "spawn_agent"
    kind: ClassVar[str] = "agent"
    about: ClassVar[str] = (
        "Hand a self-contained part of the work to another agent in the same workspace and wait for its answer."
    )
    Input: ClassVar[type[SpawnAgentInput]] = SpawnAgentInput
    effects: ClassVar[Effects] = frozenset()

    def ask(self, given: SpawnAgentInput, context: ToolContext) -> AskParts:  # noqa: ARG002 - the signature of every tool
        """Say what the other one would do."""
        return AskParts(summary=one_line(f"spawn: {given.prompt}"))

    async def run(self, given: SpawnAgentInput, context: ToolContext) -> ToolResult:
        """Start it and report how it ended."""
        end = await context.host.spawn(context.host.facts.agent, given.prompt, context.tool_call_id)
        text = end.summary or f"{end.run_id} is {end.final_status}"
        if end.final_status != "completed":
            return ToolResult(
                summary=f"{end.run_id} {end.final_status}", output=text, outcome="failed", code="child_failed"
            )
        return ToolResult(summary=f"{end.run_id} completed", output=text)
