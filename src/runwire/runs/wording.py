"""Rules of grants in one line each, for whoever is about to make one."""

from collections.abc import Sequence

from runwire.runs.approval import Approval, Scope
from runwire.runs.grants import CommandRule, GrantRule

ONCE = "this call only"


def allowed(rule: GrantRule, approval: Approval, scope: Scope) -> str:
    """What an approval of this scope would allow from now on."""
    session = approval.asker.session_id
    reach = {
        "session": "in this task, which has no session" if session is None else f"in the session {session}",
        "task": "in this task",
        "always": f"for {approval.asker.agent} in this workspace, until it is revoked",
    }
    return f"{in_words(rule)}, {reach[scope]}"


def not_allowed(approval: Approval) -> str:
    """Why no approval of this call reaches further than the call."""
    if approval.body.needs_person:
        return "the agent asks a person, and asks again the next time"
    if approval.redacted:
        return "its input holds a secret, and a rule would have to keep it"
    return "no rule could be trusted to mean calls like this one and nothing else"


def in_words(rule: GrantRule) -> str:
    """What a rule is good for."""
    parts = []
    if rule.argv is not None:
        place = f"in {rule.cwd}" if rule.cwd else "at the root of the workspace"
        parts.append(f"run {_listed([_command(one) for one in rule.argv])} {place}")
    if rule.paths is not None:
        verb = "write" if "writes" in rule.effects else "read"
        parts.append(f"{verb} {_listed(rule.paths)}")
    if rule.hosts is not None:
        methods = f"{', '.join(rule.methods)} " if rule.methods else ""
        parts.append(f"send {methods}requests to {_listed(rule.hosts)}")
    return f"{rule.tool} may {' and '.join(parts) or 'be called with any input'}"


def _command(rule: CommandRule) -> str:
    return f"`{' '.join(rule.argv)}{' …' if rule.more else ''}`"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
