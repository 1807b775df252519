"""What a scene of the demonstration is: a task, the files that it finds, and what its model will say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Turn = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One task of the demonstration."""

    name: str
    title: str
    prompt: str
    files: Mapping[str, str]
    turns: Sequence[Turn]
    children: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    policy: Mapping[str, object] | None = None
    budget_micros_usd: int | None = None
    experimental: Sequence[str] = ()
    max_turns: int | None = None


def says(text: str, *tools: Turn, cost: int = 900, tokens: tuple[int, int] = (1_800, 120), **more: object) -> Turn:
    """A turn that is written as somebody would write it, and what it wants done."""
    usage = {"input": tokens[0], "output": tokens[1]}
    settled = {"delay_ms": 400, "pace_ms": 40, "usage": usage, "cost_micros_usd": cost}
    return {"text": text, "tools": list(tools), **settled, **more}


def use(name: str, **given: object) -> Turn:
    """One call of a tool."""
    return {"name": name, "input": given}


def todo(*done: str, now: str = "", then: Sequence[str] = ()) -> Turn:
    """A list of what is to be done, and how far it has come."""
    todos = [{"content": one, "status": "completed"} for one in done]
    todos += [{"content": now, "status": "in_progress"}] if now else []
    todos += [{"content": one, "status": "pending"} for one in then]
    return use("todo_write", todos=todos)
