"""Grants: decisions that stand. Each is good for one agent in one workspace, for what its rule says and for nothing else."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import apsw
from msgspec import Struct, structs

from runwire.clock import Clock
from runwire.errors import Conflict
from runwire.host import ToolAsk
from runwire.journal.journal import Journal
from runwire.journal.records import Effect
from runwire.runs.commands import covered, rule_for
from runwire.runs.errors import PermissionNotFound
from runwire.runs.matching import seen_from
from runwire.runs.rows import grants as rows
from runwire.runs.rows.grants import GrantRow
from runwire.runs.shellwords import Reading, Segment

GrantScope = Literal["session", "task", "always"]
# What a shell tool takes beside its text; anything else could change what the text does.
_SHELL_INPUT = frozenset({"command", "cwd", "timeout_s", "args"})
_HARMLESS_METHODS = ("GET", "HEAD")


class CommandRule(Struct, frozen=True, kw_only=True):
    """One command that may run: these words, and further ones behind them only if `more`."""

    argv: list[str]
    more: bool = False


class GrantRule(Struct, frozen=True, kw_only=True):
    """What a grant is good for. A list that is null does not matter for the tool; every call must fit all others."""

    tool: str
    effects: list[str]
    argv: list[CommandRule] | None = None
    cwd: str = ""
    """Where the commands may run, seen from the workspace; empty: at its root."""
    paths: list[str] | None = None
    """Exact paths, or folders as `folder/**`."""
    hosts: list[str] | None = None
    methods: list[str] | None = None


class Grant(Struct, frozen=True, kw_only=True):
    """A decision that stands until it is revoked."""

    grant_id: str
    agent: str
    workspace: str
    scope: GrantScope
    scope_id: str | None
    rule: GrantRule
    made_by: str
    approval_id: str | None
    created_ns: int
    revoked_ns: int | None = None
    used: int = 0


class Asker(Struct, frozen=True, kw_only=True):
    """Who wants to do something, and where: what grants are keyed by."""

    agent: str
    workspace: str
    task_id: str
    session_id: str | None


class GrantRevoked(Conflict):
    """The grant that would have allowed this was revoked. Nobody outside hears of it: the call is asked about instead."""


def propose(ask: ToolAsk, reading: Reading | None, workspace: str) -> GrantRule | None:
    """The narrowest rule that this call would fit; None when no rule could be trusted to mean it."""
    if ask.needs_person:
        return None
    effects: list[str] = sorted(ask.effects)
    if ask.argv_text is not None:
        if reading is None or not reading.plain or not ask.input.keys() <= _SHELL_INPUT:
            return None
        commands: dict[tuple[str, ...], CommandRule] = {}
        for segment in reading.segments:
            words, more = rule_for(segment.argv)
            commands[words] = CommandRule(argv=list(words), more=more)
        return GrantRule(
            tool=ask.tool_name, effects=effects, argv=list(commands.values()), cwd=_place(ask, reading, workspace)
        )
    if "executes" in ask.effects and ask.kind != "mcp":
        return None
    return GrantRule(
        tool=ask.tool_name,
        effects=effects,
        paths=[seen_from(workspace, path) for path in ask.paths] or None,
        hosts=[host.lower() for host in ask.hosts] or None,
        methods=_methods(ask.input),
    )


def widened(rule: GrantRule, scope: str) -> GrantRule:
    """The rule as it stands for a scope: a task or for ever, a file stands for the folder that it lies in."""
    if rule.paths is None or scope not in {"task", "always"}:
        return rule
    return structs.replace(rule, paths=list(dict.fromkeys(_folder(path) for path in rule.paths)))


def _folder(path: str) -> str:
    folder = posixpath.dirname(path)
    # The root of a workspace is no folder to give away for one file of it, and neither is anything outside.
    return path if folder in {"", ".", "/"} or path.startswith(("/", "..")) else f"{folder}/**"


def _place(ask: ToolAsk, reading: Reading, workspace: str) -> str:
    given = ask.input.get("cwd")
    start = given if isinstance(given, str) else ""
    place = seen_from(workspace, posixpath.join(start, reading.cwd))
    return "" if place == "." else place


def _methods(given: Mapping[str, object]) -> list[str] | None:
    method = given.get("method")
    if not isinstance(method, str):
        return None
    return list(_HARMLESS_METHODS) if method.upper() in _HARMLESS_METHODS else [method.upper()]


def fits(rule: GrantRule, ask: ToolAsk, workspace: str) -> bool:
    """Whether a call that is no shell text is what a rule speaks of."""
    if rule.tool != ask.tool_name or not ask.effects <= set(rule.effects) or rule.argv is not None or ask.argv_text:
        return False
    paths = [seen_from(workspace, path) for path in ask.paths]
    hosts = [host.lower() for host in ask.hosts]
    methods = _methods(ask.input)
    return (
        bool(paths) == (rule.paths is not None)
        and all(any(_is_at(path, allowed) for allowed in rule.paths or ()) for path in paths)
        and bool(hosts) == (rule.hosts is not None)
        and set(hosts) <= set(rule.hosts or ())
        and (methods is None) == (rule.methods is None)
        and set(methods or ()) <= set(rule.methods or ())
    )


def _is_at(path: str, allowed: str) -> bool:
    return path.startswith(allowed[:-2]) if allowed.endswith("/**") else path == allowed


def fits_segment(rule: GrantRule, ask: ToolAsk, segment: Segment, place: str) -> bool:
    """Whether one command of a shell text is what a rule speaks of."""
    return (
        rule.tool == ask.tool_name
        and ask.effects <= set(rule.effects)
        and rule.cwd == place
        and any(covered(tuple(command.argv), command.more, segment.argv) for command in rule.argv or ())
    )


def covering(
    grants: Sequence[Grant], ask: ToolAsk, reading: Reading | None, workspace: str, lets_pass: Callable[[Segment], bool]
) -> list[Grant] | None:
    """The grants that together allow a call, or None. Of a shell text every command needs one, or must need none."""
    if ask.argv_text is None:
        found = next((grant for grant in grants if fits(grant.rule, ask, workspace)), None)
        return None if found is None else [found]
    if reading is None or not reading.plain or not ask.input.keys() <= _SHELL_INPUT:
        return None
    place = _place(ask, reading, workspace)
    needed: dict[str, Grant] = {}
    for segment in reading.segments:
        grant = next((one for one in grants if fits_segment(one.rule, ask, segment, place)), None)
        if grant is not None:
            needed[grant.grant_id] = grant
        elif not lets_pass(segment):
            return None
    return list(needed.values()) or None


class Grants:
    """Keeps grants. They are made by approvals, in the transaction of the answer."""

    def __init__(self, *, journal: Journal, clock: Clock) -> None:
        """Keep grants in the journal's database."""
        self._journal = journal
        self._clock = clock

    async def live(self, asker: Asker) -> Sequence[Grant]:
        """The grants that stand for an agent, in a workspace, for its task and session."""

        def look(db: apsw.Connection) -> Sequence[GrantRow]:
            ground = rows.ground_of(db, asker.task_id, asker.workspace)
            return rows.live_grants(db, asker.agent, (ground, asker.workspace), (asker.task_id, asker.session_id))

        found = await self._journal.reader.query(look)
        return [_grant(row) for row in found]

    async def list(self) -> Sequence[Grant]:
        """Every grant that stands, oldest first."""
        return [_grant(row) for row in await self._journal.reader.query(rows.standing_grants)]

    async def revoke(self, grant_id: str) -> None:
        """Let a grant stand no longer; one that does not stand is a PermissionNotFound."""
        now_ns = self._clock.now_ns()

        def effect(db: apsw.Connection) -> None:
            if not rows.revoke_grant(db, grant_id, now_ns):
                raise PermissionNotFound(grant_id)

        await self._journal.write(effect)

    @staticmethod
    def use(grants: Sequence[Grant]) -> Effect:
        """Count one use of each grant in the transaction of the approval that it gives; refuse if one is revoked by now."""

        def effect(db: apsw.Connection) -> None:
            if not all(rows.count_use(db, grant.grant_id) for grant in grants):
                raise GrantRevoked()

        return effect


def _grant(row: GrantRow) -> Grant:
    return Grant(
        grant_id=row.grant_id,
        agent=row.agent,
        workspace=row.workspace,
        scope=row.scope,
        scope_id=row.scope_id,
        rule=rows.decode_rule(row.rule, GrantRule),
        made_by=row.made_by,
        approval_id=row.approval_id,
        created_ns=row.created_ns,
        revoked_ns=row.revoked_ns,
        used=row.used,
    )
