"""Agno's own virtual environment, made once in the cache from pinned requirements."""

import hashlib
import subprocess
import venv
from pathlib import Path

from bench.figures import say

REQUIREMENTS = Path(__file__).resolve().parent.parent / "agno-requirements.txt"


def interpreter(cache: Path) -> Path:
    """The Python of an environment that holds exactly the pinned requirements; makes it when it is not there."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    home = cache / f"agno-{digest}"
    python = home / "bin" / "python"
    complete = home / "complete"
    if not complete.exists():
        say("  installing Agno into its own environment (once)")
        venv.create(home, with_pip=True, clear=True)
        install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r")
        subprocess.run([str(python), *install, str(REQUIREMENTS)], check=True)
        complete.touch()
    return python
