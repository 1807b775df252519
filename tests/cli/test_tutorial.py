"""The tutorial works: every command in it is run, in its order, and shows what the page says it shows."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import Shell

_TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^@@(\d+) (\d+)$\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Step:
    """A command, and the lines that the page shows below it."""

    command: str
    shown: str


def _steps() -> list[_Step]:
    text = "".join(_BLOCK.findall(_TUTORIAL.read_text("utf-8")))
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [_Step(*(part.partition("\n")[::2])) for part in parts]


def _pattern(shown: str) -> str:
    """What the page shows as a pattern: an ellipsis stands for anything, a space for any number of them."""
    lines = [" +".join(map(re.escape, line.split(" "))) for line in shown.splitlines()]
    return "\n".join(lines).replace("…\n", "…").replace("…", "(?s:.*)") + r"\s*"


def test_every_command_of_the_tutorial_works_and_shows_what_it_says(shell: Shell) -> None:
    steps = _steps()
    lines = ["set -o pipefail"]
    for number, step in enumerate(steps):
        lines += [step.command, f"printf '@@{number} %d\\n' $?"]
    # Whatever the page has started ends with it, also when a command in the middle failed.
    lines += ["kill $(jobs -p) 2> /dev/null", "wait"]
    # A free port: another gateway may use the usual one.
    path = f"{Path(sys.executable).parent}:{shell.environment()['PATH']}"
    process = subprocess.Popen(
        ["bash", "-c", "\n".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell.environment({"PATH": path, "RUNWIRE_PORT": "0"}),
        cwd=shell.home,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=240)
    finally:
        # A gateway that outlived its shell would outlive the tests, too.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    pieces = _MARK.split(out)
    outputs, statuses = pieces[0::3], pieces[2::3]
    assert len(statuses) == len(steps), err
    for step, output, status in zip(steps, outputs, statuses, strict=False):
        assert status == "0", f"{step.command}: status {status}\n{err}"
        assert re.fullmatch(_pattern(step.shown), output), f"{step.command} showed\n{output}"


def test_nothing_in_the_tutorial_is_left_out() -> None:
    text = _TUTORIAL.read_text("utf-8")
    assert text.count("```") == 2 * len(_BLOCK.findall(text))
    assert len(_steps()) == len(re.findall(r"^\$ ", text, re.MULTILINE)) > 20
