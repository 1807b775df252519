"""Write which events each agent's stream becomes: src/runwire/agents/coverage.py and docs/reference/agents.md.

Nothing is claimed that was not recorded: other agents are told from the streams in tests/transcripts, our own from the logs in
spec/fixtures. `python scripts/coverage.py` writes; `--check` writes nothing and fails naming what is stale.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runwire.agents.profile import Profile
from runwire.agents.profiles import known, profile_of
from runwire.protocol.catalogue import CATALOGUE, STABILITY, Stability

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.agents.coverage import DIALECTS, emitted  # noqa: E402 - the root is no package path of its own

MODULE = Path("src/runwire/agents/coverage.py")
PAGE = Path("docs/reference/agents.md")
_HEADINGS: Mapping[Stability, str] = {
    "core": "What every reader can rely on",
    "artifact": "What rests on artifacts",
    "experimental": "Only for tasks that ask for it by name",
    "extension": "Runwire's own",
}
_MODULE_HEAD = '''\
"""Which events the stream of each agent becomes, as recorded ones show. Written by `make generate`, never by hand."""

from collections.abc import Mapping
from types import MappingProxyType

_AGENTS: Mapping[str, str] = MappingProxyType(
    {
'''
_MODULE_TAIL = '''\
    }
)


def event_types(*dialects: str) -> tuple[str, ...]:
    """The types of events that agents of these dialects were seen to cause, in the order of the protocol."""
    return tuple(name for name, agents in _AGENTS.items() if not set(dialects).isdisjoint(agents.split()))
'''
_PAGE_HEAD = """\
# Agents and their events

Generated from the recorded streams in `tests/transcripts` and the logs in `spec/fixtures` by `make generate`; nothing is claimed that was
not recorded. `GET /hecate/v1/agents` answers with the same table as `event_types`, `runwire agents` with what is installed here.

A column is a dialect: `acp` stands for every agent that speaks the Agent Client Protocol, `agno` for every one on an AgentOS. `●` is an event that
the agent's own stream becomes. An empty cell was never seen. An agent that is driven over ACP tells what stands under `acp`, too. Beside these, Runwire
tells of what it does itself in the run of any agent that it drives: the decisions of people and policies (`approval.*`), what became of the files of the workspace (`tool.edit.*`, `artifact.*`), money that runs
out (`cost.budget_*`) and what was lost with a worker (`gap.*`).
"""
_DRIVEN = """
## How they are driven

Beside the few harmless variables that every command sees, an agent sees those of its own; beside its workspace it writes its own folders. `[agents.NAME]` adds to
both. *Asks*: whether it asks for permission by itself; one that does not is held by its walls alone.

| agent | driven | asks | sees | writes | to get it |
|---|---|:-:|---|---|---|
"""
_FOREIGN = """
## What only one agent tells

Kept as it came, in a namespace of its own.

"""


def generated() -> Iterator[tuple[Path, str]]:
    """Yield both files and what they must hold."""
    cells = emitted()
    own = sorted({name for types in cells.values() for name in types} - CATALOGUE.keys())
    rows = {name: [one for one in DIALECTS if name in cells[one]] for name in (*CATALOGUE, *own)}
    lines = [f'        "{name}": "{" ".join(agents)}",\n' for name, agents in rows.items() if agents]
    yield MODULE, _MODULE_HEAD + "".join(lines) + _MODULE_TAIL
    yield PAGE, _page(rows)


def _page(rows: Mapping[str, list[str]]) -> str:
    parts = [_PAGE_HEAD]
    for level, heading in _HEADINGS.items():
        cells = {name: agents for name, agents in rows.items() if STABILITY.get(name) == level}
        parts += [
            f"\n## {heading}\n\n",
            *_table({f"[`{name}`](events.md#{_anchor(name)})": cells[name] for name in cells}),
        ]
    foreign = {f"`{name}`": agents for name, agents in rows.items() if name not in STABILITY}
    if foreign:
        parts += [_FOREIGN, *_table(foreign)]
    parts += [_DRIVEN, *(_driven(profile_of(name)) for name in known())]
    return "".join(parts)


def _table(rows: Mapping[str, list[str]]) -> Iterator[str]:
    yield f"| event | {' | '.join(DIALECTS)} |\n"
    yield f"|---|{':-:|' * len(DIALECTS)}\n"
    for shown, agents in rows.items():
        marks = ("●" if one in agents else " " for one in DIALECTS)
        yield f"| {shown} | {' | '.join(marks)} |\n"


def _driven(profile: Profile) -> str:
    cells = (
        f"`{profile.name}`",
        profile.about,
        "yes" if profile.asks else "no",
        _words(profile.environment),
        _words(profile.state),
        profile.install if "`" in profile.install or "://" in profile.install else f"`{profile.install}`",
    )
    return f"| {' | '.join(cells)} |\n"


def _words(words: Sequence[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def _anchor(name: str) -> str:
    """Where a heading of the events page is found."""
    return name.replace(".", "")


def main() -> int:
    """Write the files, or compare them."""
    stale = {path: text for path, text in generated() if _text(ROOT / path) != text}
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"error: {path} is stale\nhint:  make generate", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        (ROOT / path).write_text(text, "utf-8")
    return 0


def _text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
