"""One batch of tool calls: every permission is asked at once, readers run together, writers one after another."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from msgspec import Struct

from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.host import Effects, Go, No, RunHost, Stopped, ToolAsk, ToolEnd, ToolInputInvalid, Verdict
from runwire.journal.artifact import ArtifactMeta, NewArtifact, is_text
from runwire.native.loop import told
from runwire.native.loop.inputs import Acted
from runwire.native.loop.state import Call, Image, Text, Told
from runwire.native.tools.schema import read_input
from runwire.native.tools.tool import AnyTool, AskParts, ToolResult, Toolset
from runwire.protocol.events.error import ErrorToolUnavailable
from runwire.protocol.events.tool import ToolInvoked

_NS_PER_MS = 1_000_000
_TOGETHER: Effects = frozenset({"reads", "network"})
_SUMMARY_MAX = 200
INVALID_INPUT = "invalid_input"

log = logging.getLogger(__name__)


class _Denied(Exception):
    """A person denied a call and ended the run with it."""


class Ready(Struct, frozen=True):
    """A call that is understood."""

    tool: AnyTool
    ask: ToolAsk

    @property
    def alone(self) -> bool:
        """Whether it changes things, so that it must not run beside others that do."""
        return not self.ask.effects <= _TOGETHER


class Refused(Struct, frozen=True):
    """A call that cannot even be asked about."""

    ask: ToolAsk
    code: str
    message: str


class Calling:
    """Carries out the calls of one run."""

    def __init__(self, *, host: RunHost, toolset: Toolset, clock: Clock) -> None:
        self._host = host
        self._toolset = toolset
        self._clock = clock
        self._tools = {tool.name: tool for tool in toolset.tools}
        self._said: set[str] = set()

    async def act(self, calls: Sequence[Call], turn: int) -> Acted:
        """Run calls of one answer; what the model is told of each comes back in their order."""
        if len(calls) == 1:
            one, end = await self.run_one(calls[0], turn)
            return Acted((one,), isinstance(end, No) and end.stop)
        batch = _Batch(self, [self._prepare(call, turn) for call in calls])
        stop = await batch.run()
        return Acted(tuple(batch.told[call.call_id] for call in calls if call.call_id in batch.told), stop)

    async def run_one(self, call: Call, turn: int) -> tuple[Told, ToolEnd | No]:
        """Run a single call and say also how it ended."""
        prepared = self._prepare(call, turn)
        if isinstance(prepared, Refused):
            return await self.refuse(prepared)
        verdict = await self._host.permit(prepared.ask)
        if isinstance(verdict, No):
            return blocked(call.call_id, verdict), verdict
        return await self.run(prepared, verdict)

    async def permit(self, ready: Ready) -> Verdict:
        """Ask whether a call may happen."""
        return await self._host.permit(ready.ask)

    async def refuse(self, refused: Refused) -> tuple[Told, ToolEnd]:
        """Tell of a call that makes no sense: it fails without anybody being asked."""
        ask = refused.ask
        self._host.emit(
            ToolInvoked(
                tool_call_id=ask.tool_call_id, tool_name=ask.tool_name, kind=ask.kind, turn_index=ask.turn_index
            )
        )
        end = ToolEnd(
            outcome="failed",
            duration_ms=0,
            summary=refused.message[:_SUMMARY_MAX],
            output=None,
            code=refused.code,
            message=refused.message,
        )
        await self._host.settle(ask, end)
        return await self._tell(ask, end, "", ()), end

    async def cancelled(self, ready: Ready) -> Told:
        """Tell of a call that was let go and is stopped because another was denied and the run with it."""
        end = ToolEnd(
            outcome="cancelled", duration_ms=0, summary=ready.ask.summary, output=None, message=told.STOPPED_BY_DENIAL
        )
        await self._host.settle(ready.ask, end)
        return await self._tell(ready.ask, end, "", ())

    async def run(self, ready: Ready, go: Go) -> tuple[Told, ToolEnd]:
        """Run a call that may happen, and store how it ended."""
        ask = ready.ask
        context = self._toolset.context(ask.tool_call_id, ask.turn_index)
        began_ns = self._clock.now_ns()
        try:
            given = read_input(ready.tool, go.input)
            result = await ready.tool.run(given, context)
        except (RunwireError, ToolInputInvalid) as wrong:
            code = wrong.code if isinstance(wrong, RunwireError) else INVALID_INPUT
            result = ToolResult(summary=str(wrong), output="", outcome="failed", code=code)
        except Exception:
            # A tool's own mistake must not take the run with it: the model may find another way.
            log.exception("the tool %s broke in run %s", ask.tool_name, self._host.facts.run_id)
            result = ToolResult(summary="the tool broke", output="", outcome="failed", code="internal_error")
        duration_ms = max(0, self._clock.now_ns() - began_ns) // _NS_PER_MS
        end, images = await self._end(ask, result, duration_ms)
        await self._host.settle(ask, end)
        note = "" if go.changed_by is None else told.changed(go.changed_by, go.input)
        return await self._tell(ask, end, note, images), end

    async def _end(self, ask: ToolAsk, result: ToolResult, duration_ms: int) -> tuple[ToolEnd, Sequence[Image]]:
        """The end of a call, with whatever it leaves behind. Output that is too long for an event is an artifact."""
        output, drafts = result.output, [] if result.artifact is None else [result.artifact]
        artifact_id = result.kept_artifact_id
        told_by = artifact_id is not None
        if result.artifact is not None:
            artifact_id = result.artifact.artifact.artifact_id
            told_by = is_text(result.artifact.artifact.meta.mime)
        long = len(output) > told.OUTPUT_MAX
        if long and not told_by:
            meta = ArtifactMeta(mime="text/plain", summary=result.summary, produced_by_tool_call_id=ask.tool_call_id)
            draft = await self._host.draft(NewArtifact("tool_result_blob", meta), output.encode(errors="replace"))
            drafts.append(draft)
            artifact_id = draft.artifact.artifact_id
        failed = result.outcome != "completed"
        end = ToolEnd(
            outcome=result.outcome,
            duration_ms=duration_ms,
            summary=result.summary,
            output=None if long else output,
            code=result.code,
            message=result.summary if failed else "",
            limit=result.limit,
            result=result.result,
            drafts=(*drafts, *result.images),
            result_artifact_id=artifact_id,
        )
        images = [Image(one.artifact.artifact_id, one.artifact.meta.mime) for one in result.images]
        return end, images

    async def _tell(self, ask: ToolAsk, end: ToolEnd, note: str, images: Sequence[Image]) -> Told:
        outcome = told.of_end(end)
        artifact_id = told.wants_body(outcome)
        body = None
        if artifact_id is not None:
            # The artifact is there once its event is; its stored body is what a rebuilt conversation will show.
            await self._host.emit()
            _, body = await self._host.body(artifact_id)
        text = self._host.redact(note + told.text_of(outcome, body))
        return Told(ask.tool_call_id, told.parts_of(text, images), told.is_error(outcome))

    def _prepare(self, call: Call, turn: int) -> Ready | Refused:
        tool = self._tools.get(call.name)
        if tool is None:
            return self._without_tool(call, turn)
        if call.malformed is not None:
            message = f"the arguments are no JSON object: {call.malformed[:_SUMMARY_MAX]}"
            return Refused(_bare_ask(call, tool.kind, turn), INVALID_INPUT, message)
        try:
            return Ready(tool, self._ask(tool, call, call.input, turn))
        except ToolInputInvalid as wrong:
            return Refused(_bare_ask(call, tool.kind, turn), INVALID_INPUT, str(wrong))
        except RunwireError as wrong:
            return Refused(_bare_ask(call, tool.kind, turn), wrong.code, wrong.message)

    def _without_tool(self, call: Call, turn: int) -> Refused:
        ask = _bare_ask(call, "unknown", turn)
        for missing in self._toolset.unavailable:
            if call.name == missing.tool_name or call.name.startswith(f"{missing.tool_name}__"):
                if not missing.asked_for and missing.tool_name not in self._said:
                    self._said.add(missing.tool_name)
                    self._host.emit(ErrorToolUnavailable(tool_name=missing.tool_name, reason=missing.reason))
                return Refused(ask, "tool_unavailable", f"{call.name} cannot be used: {missing.reason}")
        return Refused(ask, "unknown_tool", f"there is no tool {call.name}")

    def _ask(self, tool: AnyTool, call: Call, given: Mapping[str, object], turn: int) -> ToolAsk:
        parts: AskParts = tool.ask(read_input(tool, given), self._toolset.context(call.call_id, turn))
        return ToolAsk(
            tool_call_id=call.call_id,
            tool_name=tool.name,
            kind=tool.kind,
            turn_index=turn,
            input=given,
            effects=tool.effects if parts.effects is None else parts.effects,
            summary=parts.summary,
            paths=parts.paths,
            hosts=parts.hosts,
            argv_text=parts.argv_text,
            timeout_ms=parts.timeout_ms,
            mcp_server=parts.mcp_server,
            mcp_tool=parts.mcp_tool,
            recheck=lambda other: self._ask(tool, call, other, turn),
        )


class _Batch:
    """Several calls of one answer, each in a task of its own."""

    def __init__(self, calling: Calling, prepared: Sequence[Ready | Refused]) -> None:
        self._calling = calling
        self._prepared = prepared
        self._denied = False
        self.told: dict[str, Told] = {}

    async def run(self) -> bool:
        """Carry all of them out; True when a denial ended the run."""
        try:
            async with asyncio.TaskGroup() as group:
                await self._begin(group)
        except BaseExceptionGroup as several:
            others = several.split(_Denied)[1]
            if others is not None:
                raise _cause(others) from None
        return self._denied

    async def _begin(self, group: asyncio.TaskGroup) -> None:
        before: asyncio.Event | None = None
        for one in self._prepared:
            if isinstance(one, Refused):
                self.told[one.ask.tool_call_id], _ = await self._calling.refuse(one)
                continue
            if not one.alone:
                group.create_task(self._carry_out(one, None, None))
                continue
            after = asyncio.Event()
            group.create_task(self._carry_out(one, before, after))
            before = after

    async def _carry_out(self, ready: Ready, before: asyncio.Event | None, after: asyncio.Event | None) -> None:
        """Run one call once it is allowed and, if it changes things, once those before it are over."""
        call_id = ready.ask.tool_call_id
        try:
            verdict = await self._calling.permit(ready)
            if isinstance(verdict, No):
                self.told[call_id] = blocked(call_id, verdict)
                if verdict.stop:
                    self._denied = True
                    raise _Denied
                return
            try:
                if before is not None:
                    await before.wait()
                self.told[call_id], _ = await self._calling.run(ready, verdict)
            except asyncio.CancelledError:
                # Who stops a whole run tells of its open calls; here only this batch is stopped.
                if self._denied and call_id not in self.told:
                    self.told[call_id] = await self._calling.cancelled(ready)
                raise
        finally:
            if after is not None:
                after.set()


def blocked(call_id: str, verdict: No) -> Told:
    """What the model is told of a call that was refused."""
    return Told(call_id, (Text(told.blocked(verdict.told)),), is_error=True)


def _bare_ask(call: Call, kind: str, turn: int) -> ToolAsk:
    """A call of which no more is known than that it was asked for."""

    def recheck(_: Mapping[str, object]) -> ToolAsk:
        raise ToolInputInvalid("the call was not understood, so no other arguments help")

    return ToolAsk(
        tool_call_id=call.call_id,
        tool_name=call.name,
        kind=kind,
        turn_index=turn,
        input=call.input,
        effects=frozenset(),
        summary=call.name,
        recheck=recheck,
    )


def _cause(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one exception that says why a batch broke off; being stopped beats any mistake."""
    stopped = several.subgroup(Stopped)
    found: BaseException = stopped if stopped is not None else several
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
