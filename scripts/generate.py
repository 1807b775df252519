"""Write the JSON Schemas, the TypeScript types and the events page from the payload classes.

`python scripts/generate.py` writes them; `--check` writes nothing and fails naming what is stale.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from runwire.protocol.catalogue import CATALOGUE
from runwire.protocol.reference import reference
from runwire.protocol.schema import schema_for, schema_names
from runwire.protocol.typescript import typescript

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = Path("spec/schema/v1")


def generated(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield every generated file and what it must hold."""
    for name in schema_names():
        yield SCHEMAS / f"{name}.json", json.dumps(schema_for(name), indent=2, ensure_ascii=False) + "\n"
    yield Path("spec/types/v1.ts"), typescript()
    lines = (root / "spec/examples/v1.jsonl").read_text(encoding="utf-8").splitlines()
    examples = {example["type"]: example["data"] for example in map(json.loads, lines)}
    missing = sorted(CATALOGUE.keys() - examples.keys())
    if missing:
        raise SystemExit(f"error: spec/examples/v1.jsonl has no example of {', '.join(missing)}")
    yield Path("docs/reference/events.md"), reference(examples)


def stale(root: Path) -> list[str]:
    """Say which files differ from what the classes give, which are missing, and which should not be there."""
    wanted = dict(generated(root))
    found = [str(path) for path, text in wanted.items() if _text(root / path) != text]
    extra = [path.relative_to(root) for path in sorted((root / SCHEMAS).glob("*.json"))]
    return found + [f"{path} (no longer generated)" for path in extra if path not in wanted]


def write(root: Path) -> list[str]:
    """Write what is stale, remove what is no longer generated, and say which files changed."""
    changed = stale(root)
    wanted = dict(generated(root))
    for path, text in wanted.items():
        if _text(root / path) != text:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8", newline="\n")
    for path in (root / SCHEMAS).glob("*.json"):
        if path.relative_to(root) not in wanted:
            path.unlink()
    return changed


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail naming what is stale")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="the repository; default: this one")
    options = parser.parse_args()
    changed = stale(options.root) if options.check else write(options.root)
    for name in changed:
        print(f"stale: {name}" if options.check else f"wrote {name}", file=sys.stderr)
    if options.check and changed:
        print("hint:  run python scripts/generate.py and commit what it writes", file=sys.stderr)
    return 1 if options.check and changed else 0


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
