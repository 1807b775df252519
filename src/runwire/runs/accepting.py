"""Whether a task can be taken: its agent, its model and its policy must be there, and its budget must be countable."""

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from runwire.native.errors import ModelFault
from runwire.native.models.catalogue import Catalogue, absolute_name
from runwire.runs.errors import AgentUnknown, ModelUnknown, PriceUnknown, TaskInvalid
from runwire.runs.policy import read_policy
from runwire.runs.task import NewTask


class Acceptance:
    """Looks at a task before it is kept."""

    def __init__(self, *, agents: Collection[str], models: Catalogue, cwd: Path) -> None:
        """Know these agents and models; files are named as seen from `cwd`."""
        self._agents = agents
        self._models = models
        self._cwd = cwd

    def accept(self, new: NewTask) -> NewTask:
        """The task, with its model named so that every worker understands it; or a refusal that says what is missing."""
        if new.agent not in self._agents:
            raise AgentUnknown(new.agent)
        if new.policy is not None:
            read_policy(new.policy)
        if new.kind != "agent_loop":
            return new
        if new.model is None:
            raise TaskInvalid("an agent needs a model, such as anthropic:claude-sonnet-4-5", field="model")
        try:
            name = absolute_name(new.model, cwd=self._cwd)
            # The key may be where the work is done, and not here.
            self._models.check(name, with_key=False)
        except ModelFault as fault:
            raise ModelUnknown(new.model, str(fault)) from fault
        if new.budget_micros_usd is not None and not self._models.is_priced(name):
            raise PriceUnknown(new.model)
        return replace(new, model=name)
