"""Whether a task can be taken: its agent, its model and its policy must be there, and its budget must be countable."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from runwire.errors import UnknownField
from runwire.host import Failed, ToolInputInvalid
from runwire.native.errors import ModelFault
from runwire.native.models.catalogue import Catalogue, absolute_name
from runwire.runs.errors import AgentUnknown, ModelUnknown, PriceUnknown, TaskInvalid
from runwire.runs.policy import read_policy
from runwire.runs.task import NewTask


class KnownAgents(Protocol):
    """Which agents there are, and what they ask of a task."""

    def names(self) -> Sequence[str]:
        """Every agent that a task may name."""
        ...

    def knows(self, agent: str) -> bool:
        """Whether a task may name it."""
        ...

    def needs_model(self, agent: str) -> bool:
        """Whether we call its model, so that the task must name one that we can call; others bring their own."""
        ...

    def needs_price(self, agent: str) -> bool:
        """Whether a budget can be counted only if we know what the model costs; others tell what they spend."""
        ...

    def bounded(self, new: NewTask) -> NewTask:
        """The task within the bounds that its agent has, where it sets none itself."""
        ...


class Acceptance:
    """Looks at a task before it is kept."""

    def __init__(self, *, agents: KnownAgents, models: Catalogue, cwd: Path) -> None:
        """Know these agents and models; files are named as seen from `cwd`."""
        self._agents = agents
        self._models = models
        self._cwd = cwd

    def accept(self, new: NewTask) -> NewTask:
        """The task, with its model named so that every worker understands it; or a refusal that says what is missing."""
        if not self._agents.knows(new.agent):
            raise AgentUnknown(new.agent, known=self._agents.names())
        if new.policy is not None:
            read_policy(new.policy)
        if new.kind != "agent_loop":
            _require_input(new)
            return new
        if not self._agents.needs_model(new.agent):
            return self._agents.bounded(new)
        if new.model is None:
            raise TaskInvalid("an agent needs a model, such as anthropic:claude-sonnet-4-5", field="model")
        try:
            name = absolute_name(new.model, cwd=self._cwd)
            # The key may be where the work is done, and not here.
            self._models.check(name, with_key=False)
        except ModelFault as fault:
            raise ModelUnknown(new.model, fault.message) from fault
        needs_price = new.budget_micros_usd is not None and self._agents.needs_price(new.agent)
        if needs_price and not self._models.is_priced(name):
            raise PriceUnknown(new.model)
        return replace(new, model=name)


def _require_input(new: NewTask) -> None:
    """Refuse what the one call of a run without a model would not take."""
    # Not at the top: every tool is loaded with it, and few gateways are asked for such a run.
    from runwire.native.direct import call_of
    from runwire.native.tools.catalogue import input_shapes
    from runwire.native.tools.schema import read_input

    call = call_of("run_", new.kind, new.input)
    if isinstance(call, Failed):
        raise TaskInvalid(call.message, field="input.operation")
    tool = next(one for one in input_shapes() if one.name == call.name)
    try:
        read_input(tool, call.input)
    except ToolInputInvalid as wrong:
        field = str(wrong).partition(":")[0]
        if "unknown field" in str(wrong):
            raise UnknownField(f"input.{field}") from wrong
        raise TaskInvalid(f"input.{wrong}", field=f"input.{field}") from wrong
