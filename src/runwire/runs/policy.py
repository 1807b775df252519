"""Policy: rules over tools, effects, paths, hosts and commands, and what follows from them. Pure; it asks nobody.

Deny beats ask beats allow. A rule that allows must fit everything that a call touches, one that asks or denies anything
of it. What no rule speaks of is decided by tool, then by effect, then by the preset. Several policies may hold at once: the
strictest wins.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from runwire.errors import InvalidBody, UnknownField
from runwire.host import ModelRewrite, ToolAsk
from runwire.runs.floor import Place, refusal
from runwire.runs.matching import fits_command, fits_host, fits_path, hosts_in, paths_in
from runwire.runs.shellwords import Reading, Segment

Action = Literal["allow", "ask", "deny"]
Preset = Literal["default", "ask", "read_only", "trust", "allow", "deny"]
EFFECTS = ("reads", "writes", "executes", "network")
_STRICTNESS: Mapping[str, int] = MappingProxyType({"allow": 0, "ask": 1, "deny": 2})
_PRESETS: Mapping[str, Mapping[str, Action]] = MappingProxyType(
    {
        "default": {"reads": "allow", "writes": "allow", "executes": "allow", "network": "ask"},
        "ask": {"reads": "allow", "writes": "ask", "executes": "ask", "network": "ask"},
        "read_only": {"reads": "allow", "writes": "deny", "executes": "deny", "network": "deny"},
        "trust": dict.fromkeys(EFFECTS, "allow"),
        "allow": dict.fromkeys(EFFECTS, "allow"),
        "deny": dict.fromkeys(EFFECTS, "deny"),
    }
)
# What these allow, nobody has allowed by name.
_BY_DEFAULT = frozenset({"preset:default", "preset:ask", "preset:read_only"})
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_Names = list[Annotated[str, Meta(min_length=1, max_length=1024)]]


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a policy. Lists hold globs; every list that is given must fit."""

    id: str = ""
    action: Action
    tools: _Names = []
    effects: list[Literal["reads", "writes", "executes", "network"]] = []
    paths: _Names = []
    hosts: _Names = []
    argv: _Names = []
    """Globs over each command of a shell text, its words joined by spaces."""
    reason: str = ""


class HookSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command or an address that sees tool calls before or after they happen."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    on: Literal["PreToolUse", "PostToolUse"]
    command: Annotated[list[str], Meta(min_length=1)] | None = None
    url: Annotated[str, Meta(pattern=r"^https?://")] | None = None
    tools: _Names = field(default_factory=lambda: ["*"])
    timeout_s: Annotated[float, Meta(gt=0, le=600)] = 10.0
    required: bool = False
    """Whether a call may not happen when the hook itself fails."""


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may happen by itself, what needs a person, and what never happens."""

    default: Preset = "default"
    rules: list[Rule] = []
    tools: dict[str, Action] = {}
    effects: dict[Literal["reads", "writes", "executes", "network"], Action] = {}
    auto_apply: bool | None = None
    approval_timeout_s: Annotated[float, Meta(gt=0)] | UnsetType | None = UNSET
    """How long an approval waits; null: for ever."""
    allow_unconfined: bool = False
    allow_hosts: _Names = []
    max_turns: Annotated[int, Meta(ge=1)] | None = None
    models: list[ModelRewrite] = []
    hooks: list[HookSpec] = []


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a call, which rule says so, and why."""

    action: Action
    policy_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What several policies together settle beside single calls."""

    auto_apply: bool
    approval_timeout_s: float | None
    allow_unconfined: bool
    allow_hosts: tuple[str, ...]
    allow_network: bool
    """Whether programs may use the network without being asked about."""
    max_turns: int
    models: tuple[ModelRewrite, ...]
    hooks: tuple[HookSpec, ...]


def read_policy(given: object) -> Policy:
    """A policy as a person wrote it: a preset's name or a table, in which `"shell_exec": "ask"` may stand for a rule.

    A key that means nothing is an UnknownField, a value that does not fit an InvalidBody.
    """
    if given is None:
        return Policy()
    if isinstance(given, str):
        if given not in get_args(Preset):
            unknown = InvalidBody(f"there is no policy {given[:64]!r}; there are {', '.join(get_args(Preset))}")
            unknown.details["field"] = "policy"
            raise unknown
        return msgspec.convert({"default": given}, Policy)
    if not isinstance(given, Mapping):
        raise InvalidBody("policy is neither a name nor an object")
    try:
        policy = msgspec.convert(_spelled_out(given), Policy)
    except msgspec.ValidationError as wrong:
        raise _misfit(wrong) from wrong
    for hook in policy.hooks:
        require_hook(hook)
    return policy


def _misfit(wrong: msgspec.ValidationError) -> InvalidBody | UnknownField:
    """Say which part of a policy is unknown or does not fit."""
    problem, _, place = str(wrong).partition(" - at `$")
    where = f"policy{place.rstrip('`')}"
    unknown = _UNKNOWN.fullmatch(problem)
    if unknown is not None:
        return UnknownField(f"{where}.{unknown[1]}")
    misfit = InvalidBody(f"policy: {wrong}")
    misfit.details["field"] = where
    return misfit


def require_hook(hook: HookSpec) -> None:
    """Refuse a hook that is neither a command nor an address, or both."""
    if (hook.command is None) == (hook.url is None):
        raise InvalidBody(f"policy: the hook {hook.name!r} needs either a command or a url")


def _spelled_out(given: Mapping[object, object]) -> dict[str, object]:
    fields = {field.name for field in msgspec.structs.fields(Policy)}
    table: dict[str, object] = {}
    tools: dict[str, object] = {}
    effects: dict[str, object] = {}
    for key, value in given.items():
        if not isinstance(key, str):
            raise InvalidBody("policy: a key is not text")
        if key in fields:
            table[key] = value
        elif isinstance(value, str) and value in _STRICTNESS:
            (effects if key in EFFECTS else tools)[key] = value
        else:
            raise UnknownField(f"policy.{key}")
    for name, short in (("tools", tools), ("effects", effects)):
        written = table.get(name, {})
        if short and isinstance(written, Mapping):
            table[name] = {**short, **written}
    return table


def bounds(policies: Sequence[Policy], *, approval_timeout_s: float | None, max_turns: int) -> Bounds:
    """What the policies settle together: the first is the most particular, the arguments hold where none speaks."""
    timeouts = [one.approval_timeout_s for one in policies if not isinstance(one.approval_timeout_s, UnsetType)]
    return Bounds(
        auto_apply=all(_auto_applies(one) for one in policies or [Policy()]),
        approval_timeout_s=timeouts[0] if timeouts else approval_timeout_s,
        allow_unconfined=any(one.allow_unconfined for one in policies),
        allow_hosts=tuple(dict.fromkeys(host for one in policies for host in one.allow_hosts)),
        allow_network=all(
            one.effects.get("network", _PRESETS[one.default]["network"]) == "allow" for one in policies or [Policy()]
        ),
        max_turns=min((one.max_turns for one in policies if one.max_turns is not None), default=max_turns),
        models=tuple(rewrite for one in policies for rewrite in one.models),
        hooks=tuple(hook for one in reversed(policies) for hook in one.hooks),
    )


def _auto_applies(policy: Policy) -> bool:
    if policy.auto_apply is not None:
        return policy.auto_apply
    return policy.default in {"default", "trust", "allow"}


def decide(policies: Sequence[Policy], ask: ToolAsk, reading: Reading | None, place: Place) -> Decision:
    """What is to become of a call: the strictest of what the policies say, and of what no policy can lift."""
    floor = refusal(ask, reading, place)
    if floor is not None:
        return Decision("deny", floor.policy_id, floor.reason)
    found = [_decided(policy, ask, reading, place) for policy in policies or [Policy()]]
    strictest = max(found, key=lambda decision: _STRICTNESS[decision.action])
    if strictest.action != "allow":
        return strictest
    if ask.needs_person:
        return Decision("ask", "agent", "the agent asks what only a person can answer")
    if ask.insists and all(decision.policy_id in _BY_DEFAULT for decision in found):
        return Decision("ask", "agent", "the agent asks before it does this")
    return strictest


def lets_pass(policies: Sequence[Policy], ask: ToolAsk, segment: Segment, place: Place) -> bool:
    """Whether one command of a shell text would be allowed if it stood alone."""
    return decide(policies, ask, Reading((segment,)), place).action == "allow"


def _decided(policy: Policy, ask: ToolAsk, reading: Reading | None, place: Place) -> Decision:
    matching = [rule for rule in policy.rules if _fits(rule, ask, reading, place)]
    by_tool = _by_tool(policy.tools, ask.tool_name)
    for action in ("deny", "ask", "allow"):
        rule = next((rule for rule in matching if rule.action == action), None)
        if rule is not None:
            decision = Decision(
                rule.action, f"rule:{rule.id or rule.action}", rule.reason or _said(rule.action, "a rule")
            )
            break
        if by_tool is not None and action == by_tool[1] == "deny":
            return Decision("deny", f"tools:{by_tool[0]}", f"{ask.tool_name} is denied by policy")
    else:
        decision = _unruled(policy, ask, by_tool, place)
    return _mistrusting(policy, ask, reading, decision)


def _unruled(policy: Policy, ask: ToolAsk, by_tool: tuple[str, Action] | None, place: Place) -> Decision:
    if by_tool is not None:
        return Decision(by_tool[1], f"tools:{by_tool[0]}", _said(by_tool[1], f"policy on {ask.tool_name}"))
    preset = _PRESETS[policy.default]
    found: list[Decision] = []
    for effect in (effect for effect in EFFECTS if effect in ask.effects):
        told = policy.effects.get(effect)
        action, policy_id = (told, f"effects:{effect}") if told else (preset[effect], f"preset:{policy.default}")
        if effect == "executes" and place.is_bare_for(ask) and policy.default == "default" and action == "allow":
            action, policy_id = "ask", "sandbox"
        found.append(Decision(action, policy_id, _said(action, f"policy on what {_EFFECT_TEXT[effect]}")))
    # What touches nothing is nobody's concern, unless everything has to be allowed by name.
    nothing = Decision("deny" if policy.default == "deny" else "allow", f"preset:{policy.default}", "policy")
    return max(found, key=_weight, default=nothing)


def _weight(decision: Decision) -> tuple[int, bool]:
    """How strict a decision is. What is allowed by default only weighs more than what is allowed by name."""
    return _STRICTNESS[decision.action], decision.action == "allow" and decision.policy_id in _BY_DEFAULT


_EFFECT_TEXT: Mapping[str, str] = MappingProxyType(
    {"reads": "reads", "writes": "writes", "executes": "runs programs", "network": "uses the network"}
)


def _said(action: Action, what: str) -> str:
    match action:
        case "allow":
            return f"allowed by {what}"
        case "ask":
            return f"{what} requires approval"
        case "deny":
            return f"denied by {what}"


def _mistrusting(policy: Policy, ask: ToolAsk, reading: Reading | None, decision: Decision) -> Decision:
    """A text that cannot be read may be what a rule denies or asks about, so a person looks at it."""
    if decision.action != "allow" or reading is None or reading.plain:
        return decision
    for rule in policy.rules:
        if rule.argv and rule.action != "allow" and _fits_tool(rule, ask):
            why = reading.doubts[0] if reading.doubts else "it is empty"
            return Decision("ask", f"rule:{rule.id or rule.action}", f"whether a rule fits cannot be told: {why}")
    return decision


def _by_tool(tools: Mapping[str, Action], name: str) -> tuple[str, Action] | None:
    if name in tools:
        return name, tools[name]
    found = [(key, action) for key, action in tools.items() if fnmatchcase(name, key)]
    return max(found, key=lambda one: _STRICTNESS[one[1]], default=None)


def _fits_tool(rule: Rule, ask: ToolAsk) -> bool:
    return not rule.tools or any(fnmatchcase(ask.tool_name, glob) for glob in rule.tools)


def _fits(rule: Rule, ask: ToolAsk, reading: Reading | None, place: Place) -> bool:
    """Whether a rule speaks of a call: all of it if the rule allows, any of it otherwise."""
    lenient = rule.action == "allow"
    paths = [*ask.paths, *([] if lenient else paths_in(reading))]
    hosts = [*ask.hosts, *([] if lenient else hosts_in(reading))]
    return (
        _fits_tool(rule, ask)
        and (not rule.effects or bool(ask.effects <= set(rule.effects) if lenient else ask.effects & set(rule.effects)))
        and (not rule.paths or _all_or_any((fits_path(rule.paths, one, place.workspace) for one in paths), lenient))
        and (not rule.hosts or _all_or_any((fits_host(rule.hosts, one) for one in hosts), lenient))
        and (not rule.argv or _fits_argv(rule.argv, reading, lenient))
    )


def _fits_argv(globs: Sequence[str], reading: Reading | None, lenient: bool) -> bool:
    if reading is None or (lenient and not reading.plain):
        return False
    segments = reading.segments if lenient else reading.suspects
    return _all_or_any((fits_command(globs, one, exactly=lenient) for one in segments), lenient)


def _all_or_any(found: Iterable[bool], lenient: bool) -> bool:
    """Everything, of which there must be something, or anything."""
    listed = list(found)
    return bool(listed) and (all(listed) if lenient else any(listed))
