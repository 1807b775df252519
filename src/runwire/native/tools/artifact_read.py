"""artifact_read: look at an artifact of the task, such as a result that was too long to show."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from runwire.errors import NotFound
from runwire.host import Effects
from runwire.journal.artifact import is_text
from runwire.native.tools.outcome import failed, refused
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.artifact import ArtifactReferenced
from runwire.protocol.events.tool import ToolStarted

SHOWN_MAX_BYTES = 64 * 1024


class ArtifactReadInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look at."""

    artifact_id: Annotated[str, Meta(min_length=1, description="The artifact, such as art_01J….")]
    offset: Annotated[int, Meta(ge=0, description="Byte to begin at, for what did not fit before.")] = 0


@dataclass(frozen=True, slots=True)
class ArtifactRead:
    """Reads artifacts of the same task."""

    name: ClassVar[str] = "artifact_read"
    kind: ClassVar[str] = "file"
    about: ClassVar[str] = "Read an artifact of this task as text, 64 KiB at a time: use offset for what follows."
    Input: ClassVar[type[ArtifactReadInput]] = ArtifactReadInput
    effects: ClassVar[Effects] = frozenset({"reads"})

    def ask(self, given: ArtifactReadInput, context: ToolContext) -> AskParts:  # noqa: ARG002 - the signature of every tool
        """Say which artifact would be read."""
        return AskParts(summary=f"read {given.artifact_id}")

    async def run(self, given: ArtifactReadInput, context: ToolContext) -> ToolResult:
        """Read it and say that it was used."""
        try:
            artifact, body = await context.host.body(given.artifact_id)
        except NotFound as error:
            return refused(error)
        context.host.emit(
            ArtifactReferenced(
                artifact_id=artifact.artifact_id, by_event_id=await _started(context), relation="consumed"
            )
        )
        if not is_text(artifact.meta.mime):
            return failed("binary_artifact", f"{artifact.artifact_id} is {artifact.meta.mime}, which is no text")
        end = given.offset + SHOWN_MAX_BYTES
        text = body[given.offset : end].decode(errors="replace")
        if end < len(body):
            text += f"\n[bytes {given.offset} to {end} of {len(body)}; go on with offset {end}]"
        summary = f"{artifact.artifact_id}: {artifact.kind}, {len(body)} bytes"
        return ToolResult(summary=summary, output=text)


async def _started(context: ToolContext) -> str:
    """The event that says that this very call began."""
    for past in reversed(await context.host.past()):
        if isinstance(past.payload, ToolStarted) and past.payload.tool_call_id == context.tool_call_id:
            return past.event_id
    return ""
