"""The runner of the native loop: it carries out what the machine wants done, and tells it what came of that."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import assert_never

from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.host import Ended, Failed, Past, RunHost
from runwire.ids import Ids
from runwire.native.calling import Calling
from runwire.native.errors import ModelFault
from runwire.native.loop import simulated
from runwire.native.loop.effects import (
    CallModel,
    Checkpoint,
    Effect,
    Emit,
    Finish,
    InvokeTools,
    Listen,
    Pause,
)
from runwire.native.loop.inputs import Answered, Began, Heard, Input, ModelFailed
from runwire.native.loop.recover import recover, unsettled, wanted
from runwire.native.loop.state import Image, Message, Rules, State, Text
from runwire.native.loop.step import rewrite_of, step
from runwire.native.models.model import Model, ModelCall, Models
from runwire.native.prompt import system_prompt
from runwire.native.streaming import Answer, stream_answer
from runwire.native.tools.schema import spec_of
from runwire.native.tools.tool import Toolbox, Toolset
from runwire.protocol.events.error import ErrorToolUnavailable
from runwire.protocol.events.experimental import AssistantThinkingDelta

_NS_PER_MS = 1_000_000

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How failures of a model are waited out. `rng` gives numbers from 0 to 1."""

    rng: Callable[[], float]
    sleep: Sleep = asyncio.sleep
    max_attempts: int = 3

    async def wait(self, pause: Pause) -> None:
        """Wait as long as the machine asked for, or up to half of that less, so that runs do not return together."""
        await self.sleep(pause.delay_s * (0.5 + self.rng() / 2) if pause.jitter else pause.delay_s)


class AgentLoop:
    """Executes runs of kind `agent_loop`: a model, tools, and nothing that a crash could take away."""

    def __init__(self, *, models: Models, toolbox: Toolbox, clock: Clock, ids: Ids, pacing: Pacing) -> None:
        self._models = models
        self._toolbox = toolbox
        self._clock = clock
        self._ids = ids
        self._pacing = pacing

    async def run(self, host: RunHost) -> Ended:
        """Work until the model is done, the budget is spent, or nothing more can be done."""
        facts = host.facts
        asked = facts.model or ""
        rule = rewrite_of(asked, facts.rewrites)
        try:
            model = self._models.model(asked if rule is None else rule.to)
        except ModelFault as fault:
            return Failed(fault.code, fault.message, fault.retriable)
        async with AsyncExitStack() as stack:
            try:
                toolset = await stack.enter_async_context(self._toolbox.open(host))
            except RunwireError as wrong:
                # Its workspace is gone, say: that is the run's end and nobody's mistake.
                return Failed(wrong.code, wrong.message)
            hearing = Hearing(host=host, model=model, models=self._models, clock=self._clock, ids=self._ids)
            loop = Loop(host=host, hearing=hearing, toolset=toolset, clock=self._clock, pacing=self._pacing)
            return await loop.run()


class Loop:
    """One run of the loop. `state` is where it stands."""

    def __init__(self, *, host: RunHost, hearing: "Hearing", toolset: Toolset, clock: Clock, pacing: Pacing) -> None:
        self._host = host
        self._hearing = hearing
        self._toolset = toolset
        self._pacing = pacing
        self._calling = Calling(host=host, toolset=toolset, clock=clock)
        self.rules = _rules(host, hearing.model, toolset, pacing.max_attempts)
        self.state = State()

    async def run(self) -> Ended:
        """Take up the run from its log and carry it to its end."""
        await self._take_up()
        inputs: deque[Input] = deque([Began()])
        while inputs:
            self.state, effects = step(self.state, inputs.popleft(), self.rules)
            for effect in effects:
                if isinstance(effect, Finish):
                    return effect.ended
                answer = await self._carry_out(effect)
                if answer is not None:
                    inputs.append(answer)
        raise RuntimeError("the loop wants nothing more and has not ended")

    async def _take_up(self) -> None:
        host = self._host
        past = await host.past()
        left = unsettled(past, host.facts.run_id)
        if left:
            # Whoever handed us the run should have closed these. A call that began is never begun again by itself.
            await host.emit(*left)
            past = await host.past()
        self.state = recover(past, self.rules, await self._bodies(past))
        known = {
            one.payload.tool_name
            for one in past
            if one.run_id == host.facts.run_id and isinstance(one.payload, ErrorToolUnavailable)
        }
        for missing in self._toolset.unavailable:
            if missing.asked_for and missing.tool_name not in known:
                host.emit(ErrorToolUnavailable(tool_name=missing.tool_name, reason=missing.reason))

    async def _bodies(self, past: Sequence[Past]) -> dict[str, bytes]:
        bodies = {}
        for artifact_id in wanted(past):
            # One that was pruned is told without its body.
            with suppress(RunwireError):
                _, bodies[artifact_id] = await self._host.body(artifact_id)
        return bodies

    async def _carry_out(self, effect: Effect) -> Input | None:
        match effect:
            case Emit():
                stored = self._host.emit(*effect.payloads)
                if effect.barrier:
                    await stored
            case CallModel():
                return await self._hearing.ask(effect, self.state.answered)
            case InvokeTools():
                # The calls belong to the turn that is just over.
                return await self._calling.act(effect.calls, max(0, self.state.turn - 1))
            case Listen():
                said = await self._host.said()
                return Heard(said=tuple(said), task_spent_micros_usd=self._host.spent())
            case Checkpoint():
                await self._host.checkpoint()
            case Pause():
                await self._pacing.wait(effect)
            case Finish():
                raise AssertionError("the end is not carried out")
            case _:
                assert_never(effect)
        return None


class Hearing:
    """Puts questions of one run to its model, and counts what the answers cost."""

    def __init__(self, *, host: RunHost, model: Model, models: Models, clock: Clock, ids: Ids) -> None:
        self.model = model
        self._host = host
        self._models = models
        self._clock = clock
        self._ids = ids
        self._images: dict[str, bytes] = {}
        self._system: dict[bool, str] = {}

    async def ask(self, call: CallModel, ordinal: int) -> Answered | ModelFailed:
        """Call the model and listen until it is done or fails."""
        began_ns = self._clock.now_ns()
        try:
            question = await self._question(call, ordinal)
            answer = await stream_answer(self.model.stream(question), host=self._host, turn=call.turn)
        except ModelFault as fault:
            cost = 0 if fault.usage is None else self._models.price(self.model, fault.usage) or 0
            self._host.spend(cost)
            return ModelFailed(error=fault, cost_micros_usd=cost)
        duration_ms = max(0, self._clock.now_ns() - began_ns) // _NS_PER_MS
        return self._answered(call, answer, duration_ms)

    def _answered(self, call: CallModel, answer: Answer, duration_ms: int) -> Answered:
        stop, parts, unparsed = answer.stop, answer.parts, ""
        if call.simulated and call.purpose == "turn":
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            calls, unparsed = simulated.read(text, lambda: self._ids.new("call"))
            parts = (*parts, *calls)
        cost = stop.cost_micros_usd
        if cost is None:
            cost = self._models.price(self.model, stop.usage) or 0
        self._host.spend(cost)
        return Answered(
            parts=parts,
            usage=stop.usage,
            cost_micros_usd=cost,
            duration_ms=duration_ms,
            stop_reason=stop.reason,
            unparsed=unparsed,
            task_spent_micros_usd=self._host.spent(),
        )

    async def _question(self, call: CallModel, ordinal: int) -> ModelCall:
        able = self.model.capabilities
        return ModelCall(
            messages=call.messages,
            system=self._told_first(call),
            tools=() if call.simulated else call.tools,
            images=await self._seen(call.messages) if able.images else {},
            max_output_tokens=able.max_output_tokens,
            thinking=able.thinking and self._host.may_emit(AssistantThinkingDelta.type),
            ordinal=ordinal,
            attempt=call.attempt,
        )

    def _told_first(self, call: CallModel) -> str:
        asks_in_text = call.simulated and bool(call.tools)
        text = self._system.get(asks_in_text)
        if text is None:
            text = self._system[asks_in_text] = system_prompt(self._host.facts, call.tools, asks_in_text=asks_in_text)
        return text

    async def _seen(self, messages: Sequence[Message]) -> dict[str, bytes]:
        """The bytes of every picture in the conversation that is still there."""
        shown = {part.artifact_id for message in messages for part in message.parts if isinstance(part, Image)}
        for artifact_id in shown - self._images.keys():
            with suppress(RunwireError):
                _, self._images[artifact_id] = await self._host.body(artifact_id)
        return {artifact_id: body for artifact_id, body in self._images.items() if artifact_id in shown}


def _rules(host: RunHost, model: Model, toolset: Toolset, max_attempts: int) -> Rules:
    facts, able = host.facts, model.capabilities
    return Rules(
        provider=model.provider,
        model=model.name,
        asked=facts.model or "",
        rewrites=facts.rewrites,
        tools=tuple(spec_of(tool) for tool in toolset.tools),
        has_tools=able.tool_use,
        sees_images=able.images,
        window_tokens=able.window_tokens,
        max_turns=facts.max_turns,
        max_attempts=max_attempts,
        budget_micros_usd=facts.budget_micros_usd,
        spent_before_micros_usd=facts.spent_before_micros_usd,
        may_emit=host.may_emit,
    )
