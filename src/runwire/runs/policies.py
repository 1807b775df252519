"""Which policies hold for a task: its own and the gateway's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from runwire.errors import ConfigInvalid, InvalidContent
from runwire.runs.hosting import Terms
from runwire.runs.policy import Bounds, HookSpec, Policy, bounds, read_policy, require_hook
from runwire.runs.task import Task

_KNOWN_MAX = 1024
_EVERYBODY = ""


class Policies:
    """Reads the policies of tasks once each. The gateway's holds for every task beside the task's own."""

    def __init__(
        self,
        *,
        configured: object,
        hooks: Sequence[Mapping[str, object]],
        approval_timeout_s: float | None,
        max_turns: int,
        allow_unconfined: bool,
    ) -> None:
        """Take what the operator has set: a policy or None, hooks, and what holds where no policy speaks."""
        try:
            self._configured = None if configured is None else read_policy(configured)
        except InvalidContent as wrong:
            raise ConfigInvalid("policy", str(wrong)) from wrong
        try:
            self._hooks = tuple(msgspec.convert(hook, HookSpec) for hook in hooks)
            for hook in self._hooks:
                require_hook(hook)
        except (InvalidContent, msgspec.ValidationError) as wrong:
            raise ConfigInvalid("hooks", str(wrong)) from wrong
        self._approval_timeout_s = approval_timeout_s
        self._max_turns = max_turns
        self._allow_unconfined = allow_unconfined
        self._known: dict[str, tuple[tuple[Policy, ...], Bounds]] = {}

    def of(self, task: Task) -> tuple[Policy, ...]:
        """The policies that hold for a task, its own first."""
        return self._read(task)[0]

    def bounds(self, task: Task) -> Bounds:
        """What the policies of a task settle beside single calls."""
        return self._read(task)[1]

    def _read(self, task: Task) -> tuple[tuple[Policy, ...], Bounds]:
        # A task's settings never change, and every call of its runs asks for them.
        name = _EVERYBODY if task.policy is None and task.max_turns is None else task.task_id
        known = self._known.get(name)
        if known is None:
            own = None if task.policy is None else read_policy(task.policy)
            found = tuple(one for one in (own, self._configured) if one is not None) or (Policy(),)
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            known = self._known[name] = (found, self._settled(task, found))
        return known

    def _settled(self, task: Task, found: Sequence[Policy]) -> Bounds:
        settled = bounds(
            found, approval_timeout_s=self._approval_timeout_s, max_turns=task.max_turns or self._max_turns
        )
        return replace(
            settled,
            allow_unconfined=settled.allow_unconfined or self._allow_unconfined,
            hooks=(*self._hooks, *settled.hooks),
        )

    def terms(self, task: Task) -> Terms:
        """What an executor is told of them."""
        settled = self.bounds(task)
        return Terms(
            auto_apply=settled.auto_apply,
            allow_unconfined=settled.allow_unconfined,
            allow_hosts=settled.allow_hosts,
            allow_network=settled.allow_network,
            max_turns=settled.max_turns,
            rewrites=settled.models,
        )


def names_commands(given: object) -> bool:
    """Whether a policy that somebody sent would have the runtime run commands of theirs, outside of any sandbox."""
    return any(hook.command is not None for hook in read_policy(given).hooks)
