"""Write docs/reference/config.md and errors.md from the code. With --check, only say whether they are up to date."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta

from runwire import errors
from runwire.config import ONLY_IN_FILE, AgentSettings, Config, environment_name

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOT_IN_FILE = {"data", "token"}
# Rooms that have leaves of their own on the tree of errors; importing them hangs those up.
LEAVES = (
    "runwire.workspace.errors",
    "runwire.native.errors",
    "runwire.runs.errors",
    "runwire.gateway.agno.errors",
)


def config_page() -> str:
    """Every setting with its default and meaning."""
    kinds = get_type_hints(Config, include_extras=True)
    rows = [
        f"| `{field.name}` | {_variable(field.name)} | {_default(field)} | {_description(kinds[field.name])} |"
        for field in msgspec.structs.fields(Config)
    ]
    return "\n".join(
        [
            "# Settings",
            "",
            "Generated from `runwire/config.py` by `make generate`.",
            "",
            "Defaults < `config.toml` in the data directory < environment < options of the command. In the file a list is an array,",
            "in the environment its parts are separated by commas. An unknown key in the file is an error. "
            + " and ".join(f"`{key}`" for key in sorted(NOT_IN_FILE)),
            "cannot stand in the file, and tables can stand nowhere else.",
            "",
            "| setting | environment | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Agents",
            "",
            "`[agents.NAME]` tells of an agent of somebody else's. Tasks name it `NAME`, and also `acp:NAME` or `agno:NAME` where that is its",
            "dialect. A table with the name of a known agent changes how that one is run.",
            "",
            "| setting | default | meaning |",
            "|---|---|---|",
            *_agent_rows(),
            "",
        ]
    )


def _agent_rows() -> Iterator[str]:
    kinds = get_type_hints(AgentSettings, include_extras=True)
    for field in msgspec.structs.fields(AgentSettings):
        yield f"| `{field.name}` | {_default(field)} | {_description(kinds[field.name])} |"


def errors_page() -> str:
    """Every error with its status and what to do."""
    for module in LEAVES:
        import_module(module)
    rows = [
        f"| `{kind.code}` | {kind.status} | {_sentence(kind)} | {vars(kind).get('hint', 'see the hint of the answer')} |"
        for kind in _descendants(errors.RunwireError)
        if kind is not errors.GatewayError
    ]
    return "\n".join(
        [
            "# Errors",
            "",
            "Generated from `runwire/errors.py` and the `errors.py` of its rooms by `make generate`.",
            "",
            "The gateway answers every failure in one shape. Programs match `code`; `message` and `hint` are for people and may be reworded.",
            "",
            "```json",
            '{"error":{"code":"run_not_found","message":"…","hint":"…","request_id":"req_…","details":{}}}',
            "```",
            "",
            "| code | status | what happened | what to do |",
            "|---|--:|---|---|",
            *rows,
            "",
        ]
    )


def _descendants(kind: type[errors.RunwireError]) -> Iterator[type[errors.RunwireError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)


def _sentence(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _variable(key: str) -> str:
    return "" if key in ONLY_IN_FILE else f"`{environment_name(key)}`"


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if field.required:
        return "the system's place for application data"
    if value is None or value == () or value is NODEFAULT:
        return ""
    return f"`{int(value) if isinstance(value, float) and value.is_integer() else value}`"


def _description(kind: object) -> str:
    notes = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next(note.description for note in reversed(notes) if isinstance(note, Meta) and note.description)


def main() -> int:
    """Write the pages, or compare them."""
    pages = {"config.md": config_page(), "errors.md": errors_page()}
    if "--check" not in sys.argv[1:]:
        for name, text in pages.items():
            (REFERENCE / name).write_text(text, "utf-8")
        return 0
    stale = [name for name, text in pages.items() if (REFERENCE / name).read_text("utf-8") != text]
    for name in stale:
        print(f"error: docs/reference/{name} is stale\nhint:  make generate", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
