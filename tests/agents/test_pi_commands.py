"""pi: the commands it runs, their output and their ends."""

import random

import pytest

from runwire.agents.dialect import Body
from runwire.agents.pi.tooling import Printing
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolTimedOut
from tests.agents.pi_streams import (
    bash,
    ended,
    of,
    shows,
    told,
    turn_end,
)
from tests.agents.transcripts import FOLDER, items_of

# Commands.


@pytest.mark.parametrize(
    ("text", "is_error", "code", "output"),
    [
        ("Linux\n", False, 0, "Linux\n"),
        ("(no output)", False, 0, ""),
        ("oops\n\n\nCommand exited with code 3", True, 3, "oops\n"),
        ("(no output)\n\nCommand exited with code 127", True, 127, ""),
        ("Command exited with code 1", True, 1, ""),
    ],
)
def test_the_exit_status_of_a_command_is_what_pi_writes_below_its_output(
    text: str, is_error: bool, code: int, output: str
) -> None:
    items, _ = told(*bash(), ended(text, is_error=is_error), turn_end("toolUse"))
    assert [one.exit_code for one in of(items, ShellExited)] == [code]
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == output
    assert len(of(items, ToolFailed if is_error else ToolCompleted)) == 1


@pytest.mark.parametrize("why", ["Blocked by user", 'Validation failed for tool "bash":\n  - root: must be object'])
def test_why_a_command_was_not_run_is_not_its_output(why: str) -> None:
    items, _ = told(*bash(), ended(why, is_error=True), turn_end("toolUse"))
    assert not of(items, ShellOutputChunk)
    assert not of(items, ShellExited)
    assert [one.message for one in of(items, ToolFailed)] == [why]


def test_newer_ones_say_the_exit_status_itself() -> None:
    items, _ = told(
        *bash(),
        ended(
            "x",
            is_error=True,
            structuredContent={"output": "x", "truncated": False, "exit_code": 5, "wall_time_seconds": 1},
        ),
    )
    assert [one.exit_code for one in of(items, ShellExited)] == [5]


def test_newer_ones_give_the_whole_output_at_last() -> None:
    whole = {"output": "a\nb\nc\n", "truncated": False, "exit_code": 0, "wall_time_seconds": 1}
    cut = {"truncation": {"truncated": True, "totalBytes": 6}}
    items, _ = told(
        *bash(), ended("c\n\n[Showing lines 3-3 of 3. Full output: /x]", details=cut, structuredContent=whole)
    )
    assert "".join(one.data for one in of(items, ShellOutputChunk)) == "a\nb\nc\n"
    assert [one.truncated for one in of(items, ShellExited)] == [False]


def test_a_command_that_took_too_long_has_no_exit_status() -> None:
    items, _ = told(*bash(), ended("a\n\n\nCommand timed out after 5 seconds", is_error=True))
    assert not of(items, ShellExited)
    assert len(of(items, ToolTimedOut)) == 1


def test_output_that_is_shown_again_and_again_is_told_once() -> None:
    items, _ = told(*bash(), shows(""), shows("one\n"), shows("one\ntwo\n"), ended("one\ntwo\nthree\n"))
    assert [(one.byte_offset, one.data) for one in of(items, ShellOutputChunk)] == [(0, "one\ntwo\nthree\n")]


def test_what_is_left_out_of_a_long_output_is_counted() -> None:
    notice = "\n\n[Showing lines 3-4 of 4. Full output: /scratch/x.log]"
    items, _ = told(
        *bash(),
        shows("aaaa\n"),
        shows("cccc\ndddd", total=20),
        ended(f"cccc\ndddd{notice}", details={"truncation": {"truncated": True, "totalBytes": 20}}),
    )
    chunks = of(items, ShellOutputChunk)
    assert [one.data for one in chunks] == ["aaaa\n", "cccc\ndddd"]
    assert chunks[1].byte_offset == 11
    assert [(one.stdout_bytes, one.truncated) for one in of(items, ShellExited)] == [(20, True)]


def test_windows_over_an_output_join_without_loss() -> None:
    whole = "".join(f"{number} ünï\n" for number in range(4000))
    chance = random.Random(7)
    printing, got, at = Printing(), "", 0
    while at < len(whole):
        at = min(len(whole), at + chance.randrange(1, 900))
        window = whole[max(0, at - 1000) : at]
        total = len(whole[:at].encode())
        # The end of a last line is left out of what is shown, but counted.
        skipped, new = printing.fresh(window.removesuffix("\n") if at > 1000 else window, None if at <= 1000 else total)
        assert skipped <= 1
        got += new
    assert got.rstrip("\n") == whole.rstrip("\n")


def test_a_picture_that_was_read_is_a_body() -> None:
    items, _ = items_of("pi", [(FOLDER / "pi-0.87.1" / "rpc_tool_read_image.jsonl").read_bytes()])
    (body,) = of(items, Body)
    assert body.mime == "image/png"
    assert body.tool_call_id == "call_fake_0001"
    assert items[items.index(body) + 1 :][0] in of(items, ToolCompleted)
