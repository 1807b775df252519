"""Edited inputs, looked at before they are taken: they must fit the tool and what policy allows."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from runwire.errors import InvalidBody, InvalidContent
from runwire.host import Effects, ToolAsk
from runwire.journal.journal import Journal
from runwire.runs.approval import Approval
from runwire.runs.errors import EditDenied
from runwire.runs.policies import Policies
from runwire.runs.policy import decide
from runwire.runs.rows.tasks import find_task
from runwire.runs.shellwords import read
from runwire.runs.surroundings import Surroundings, place_of

ReadAsk = Callable[[Approval, Mapping[str, object]], ToolAsk | None]
"""The ask of an approval's tool for another input; None when only its run could make it, an error when it does not fit."""


class PolicedEdits:
    """Reads edited inputs by the tools that are known here and the policies of the task."""

    def __init__(self, *, journal: Journal, read_ask: ReadAsk, policies: Policies, surroundings: Surroundings) -> None:
        """Let tools read inputs through `read_ask`."""
        self._journal = journal
        self._read_ask = read_ask
        self._policies = policies
        self._surroundings = surroundings

    async def read(self, approval: Approval, edited: Mapping[str, object]) -> ToolAsk:
        """The ask with this input; one that does not fit the tool is an InvalidBody, one that may not be is EditDenied."""
        if approval.body.fixed and edited != approval.body.input:
            raise EditDenied("the agent takes no other input than its own")
        try:
            ask = self._read_ask(approval, edited)
        except (ValueError, InvalidContent) as wrong:
            raise InvalidBody(f"edited_input: {wrong}") from wrong
        ask = ask or likeness(approval, edited)
        task = await self._journal.reader.query(lambda db: find_task(db, approval.asker.task_id))
        if task is not None:
            place = place_of(self._surroundings, approval.asker.workspace, self._policies.bounds(task))
            reading = None if ask.argv_text is None else read(ask.argv_text)
            decision = decide(self._policies.of(task), ask, reading, place)
            if decision.action == "deny":
                raise EditDenied(decision.reason)
        return ask


def likeness(approval: Approval, edited: Mapping[str, object]) -> ToolAsk:
    """The ask that a run would most likely make of this input. The run itself decides about the real one again."""
    body = approval.body
    effects: Effects = frozenset(one for one in ("reads", "writes", "executes", "network") if one in body.effects)
    return ToolAsk(
        tool_call_id=body.tool_call_ids[0],
        tool_name=body.tool_name,
        kind=body.kind,
        turn_index=0,
        input=edited,
        effects=effects,
        summary=body.summary,
        paths=tuple(_paths(edited)),
        hosts=tuple(_hosts(edited)),
        argv_text=_command(edited) if "executes" in effects and body.kind != "mcp" else None,
        needs_person=body.needs_person,
        recheck=lambda other: likeness(approval, other),
    )


def _command(edited: Mapping[str, object]) -> str | None:
    match edited.get("command"), edited.get("args"):
        case str(command), _:
            return command
        case None, list(args) if all(isinstance(one, str) for one in args):
            return shlex.join(["git", *(str(one) for one in args)])
    return None


def _paths(edited: Mapping[str, object]) -> Iterator[str]:
    several = edited.get("edits")
    for one in (edited, *(several if isinstance(several, list) else ())):
        if isinstance(one, Mapping) and isinstance(path := one.get("path"), str):
            yield path


def _hosts(edited: Mapping[str, object]) -> Iterator[str]:
    url = edited.get("url")
    if isinstance(url, str):
        try:
            host = urlsplit(url).hostname
        except ValueError:
            return
        if host is not None:
            yield host


def read_by_tool(approval: Approval, edited: Mapping[str, object]) -> ToolAsk | None:
    """Refuse an input that the tool would not take. What it would do with it, only its run can say."""
    if approval.asker.agent != "native":
        # Tools of other agents may have the same names; what those take, only their run can say.
        return None
    # Not at the top: the tools are loaded with it, and few answers edit anything.
    from runwire.native.tools.catalogue import input_shapes
    from runwire.native.tools.schema import read_input

    tool = next((one for one in input_shapes() if one.name == approval.body.tool_name), None)
    if tool is not None:
        read_input(tool, edited)
    return None
