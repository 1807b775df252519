"""Money of a task: what its runs have spent together. The ceiling spans all of them, whichever took up which."""

from runwire.journal.journal import Journal
from runwire.runs.errors import BudgetLowered
from runwire.runs.task import Task

_RUNS_MAX = 100_000


async def spent_by_others(journal: Journal, task: Task, run_id: str | None = None) -> int:
    """Micro-dollars that the task's runs have cost, all but the one named, and the runs that it was branched from."""
    runs = await journal.reader.runs("task_id = ? AND run_id IS NOT ?", (task.task_id, run_id), _RUNS_MAX)
    return task.inherited_cost_micros_usd + sum(info.story.run.cost_micros_usd for info in runs)


def raised(task: Task, budget_micros_usd: int | None) -> int | None:
    """The ceiling that holds from now on; None leaves it as it is, and one that is lower is refused."""
    current = task.budget_micros_usd
    if budget_micros_usd is None or budget_micros_usd == current:
        return None
    # Without a ceiling anything is less than before.
    if current is not None and budget_micros_usd < current:
        raise BudgetLowered(budget_micros_usd, current=current)
    return budget_micros_usd
