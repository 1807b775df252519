"""The files of the project as its rules see them."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "runwire"
TESTS = ROOT / "tests"
BENCH = ROOT / "bench"

_LEFT_OUT = {".git", ".venv", "node_modules", "__pycache__", "dist", "build", ".cache"}


def python_files(*rooms: Path) -> list[Path]:
    """Every Python file below the rooms."""
    return sorted(path for room in rooms for path in room.rglob("*.py") if not _LEFT_OUT.intersection(path.parts))


def kept_files() -> list[Path]:
    """Every file that git keeps or would keep; without git, every file that no tool has made."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        paths: Iterator[Path] = (ROOT / name for name in listed.stdout.split("\0") if name)
    else:
        paths = (path for path in ROOT.rglob("*") if not _LEFT_OUT.intersection(path.relative_to(ROOT).parts))
    return sorted(path for path in paths if path.is_file())


def text_of(path: Path) -> str | None:
    """What a file says, or None when it holds no text."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return None


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The name and the length in lines of every function in a file, decorators left out."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def shown(path: Path) -> str:
    """A path as a person would write it."""
    return path.relative_to(ROOT).as_posix()
