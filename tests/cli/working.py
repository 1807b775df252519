"""Scripts and folders for commands that have something done."""

import json
from pathlib import Path
from typing import Any

import msgspec

from runwire.protocol.envelope import decode_envelope, type_of
from runwire.protocol.lifecycle import check
from tests.cli.program import Ended, Shell


def script(folder: Path, *turns: dict[str, Any], name: str = "script.json") -> str:
    """Write a script and return the model that plays it."""
    (folder / name).write_text(json.dumps({"turns": list(turns)}))
    return f"scripted:{folder / name}"


def sh(command: str) -> dict[str, Any]:
    """A turn that wants one command."""
    return {"tools": [{"name": "shell_exec", "input": {"command": command}}]}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    """A turn that wants one edit."""
    return {"tools": [{"name": "edit_file", "input": {"path": path, "old_text": old, "new_text": new}}]}


def done(text: str = "Done.") -> dict[str, Any]:
    """A turn that is the last."""
    return {"text": text}


def workspace(shell: Shell, **files: str) -> Path:
    """A folder to work in."""
    folder = shell.home / "workspace"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def envelopes(ended: Ended) -> list[bytes]:
    """What `run --json` has printed; it must be a whole log that breaks no rule."""
    lines = ended.out.splitlines()
    assert list(check(map(decode_envelope, lines))) == []
    return lines


def types(lines: list[bytes]) -> list[str]:
    """What happened, by name."""
    return [type_of(line) for line in lines]


def rows(ended: Ended) -> list[dict[str, Any]]:
    """What a command with --json has printed, line by line."""
    return [msgspec.json.decode(line) for line in ended.out.splitlines()]
