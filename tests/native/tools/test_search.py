"""glob and grep: real ripgrep in a real workspace."""

import os
from pathlib import Path

from runwire.native.tools.glob import LISTED_MAX
from runwire.native.tools.grep import LINE_MAX
from runwire.native.tools.grep import LISTED_MAX as LINES_MAX
from runwire.protocol.events.search import GlobCompleted, GrepCompleted
from tests.native.tools.workbench import Bench


def fill(folder: Path) -> None:
    for number, name in enumerate(["a.py", "sub/b.py", "sub/deep/c.py", "d.txt", ".hidden.py", ".git/x.py"]):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"needle {number}\nhay\n")
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


async def test_files_are_found_by_pattern_the_newest_first(ready: Bench) -> None:
    fill(ready.workspace)
    result = await ready.call("glob", {"pattern": "**/*.py"})
    assert result.output.splitlines() == [".hidden.py", "sub/deep/c.py", "sub/b.py", "a.py"]
    told = ready.host.payloads[-1]
    assert isinstance(told, GlobCompleted)
    assert (told.match_count, told.truncated) == (4, False)
    assert (await ready.call("glob", {"pattern": "*.py", "path": "sub"})).output.splitlines() == [
        "sub/deep/c.py",
        "sub/b.py",
    ]
    assert (await ready.call("glob", {"pattern": "*.rs"})).output == "no files match"


async def test_a_long_list_is_cut_and_counted(ready: Bench) -> None:
    for number in range(LISTED_MAX + 3):
        (ready.workspace / f"{number}.log").touch()
    await ready.call("glob", {"pattern": "*.log"})
    told = ready.host.payloads[-1]
    assert isinstance(told, GlobCompleted)
    assert (len(told.matches), told.match_count, told.truncated) == (LISTED_MAX, LISTED_MAX + 3, True)


async def test_lines_are_found_with_their_places(ready: Bench) -> None:
    fill(ready.workspace)
    result = await ready.call("grep", {"pattern": r"needle [0-2]", "include": "*.py"})
    assert sorted(result.output.splitlines()) == [
        "a.py:1:needle 0",
        "sub/b.py:1:needle 1",
        "sub/deep/c.py:1:needle 2",
    ]
    told = ready.host.payloads[-1]
    assert isinstance(told, GrepCompleted)
    assert (told.match_count, told.files_searched, told.truncated) == (3, 4, False)
    assert (await ready.call("grep", {"pattern": "needle", "path": "d.txt"})).output == "d.txt:1:needle 3"
    assert (await ready.call("grep", {"pattern": "nothing at all"})).output == "no lines match"


async def test_many_and_long_lines_are_cut_and_counted(ready: Bench) -> None:
    (ready.workspace / "many").write_text(("needle " + "x" * 2 * LINE_MAX + "\n") * (LINES_MAX + 50))
    await ready.call("grep", {"pattern": "needle"})
    told = ready.host.payloads[-1]
    assert isinstance(told, GrepCompleted)
    assert (len(told.matches), told.match_count, told.truncated) == (LINES_MAX, LINES_MAX + 50, True)
    assert {len(match.text) for match in told.matches} == {LINE_MAX}


async def test_links_are_not_followed_and_nothing_outside_is_searched(ready: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle")
    (ready.workspace / "link").symlink_to(outside)
    assert (await ready.call("grep", {"pattern": "needle"})).output == "no lines match"
    assert (await ready.call("glob", {"pattern": "**/*.txt"})).output == "no files match"
    for name, given in (("grep", {"pattern": "needle"}), ("glob", {"pattern": "*"})):
        for path in ("..", "link", str(outside)):
            result = await ready.call(name, {**given, "path": path})
            assert result.outcome == "failed", (name, path, result)


async def test_a_pattern_that_is_none_is_told(ready: Bench) -> None:
    (ready.workspace / "a").write_text("x")
    assert (await ready.call("grep", {"pattern": "("})).code == "invalid_pattern"
    assert (await ready.call("grep", {"pattern": "--files"})).output == "no lines match"
    assert (await ready.call("glob", {"pattern": "!a"})).code == "invalid_pattern"
    assert (await ready.call("glob", {"pattern": "[z-"})).code == "invalid_pattern"
