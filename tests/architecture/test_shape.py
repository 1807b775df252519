"""The rules of the house that a linter does not know. A limit only goes down; an exception carries its reason."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from runwire.config import Config
from tests.architecture.tree import BENCH, ROOT, SOURCE, TESTS, functions, kept_files, python_files, shown, text_of

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
LONGER_MODULES = {
    # One tree on one page: a list of facts without any logic, read from top to bottom.
    "src/runwire/errors.py": 500,
}
VAGUE_NAMES = re.compile(r"(utils?|helpers?|managers?|commons?|misc|base_.*|.*_(utils?|helpers?|manager))")
# What belongs to one machine only.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|farm|root|home/\w+|Users/\w+)/[a-z.]")
SILENCED = re.compile(r"#\s*(?:type:\s*ignore|noqa|pragma:\s*no cover)\b(.*)")
REASON = re.compile(r"(?:\[[\w, -]+\])?(?::\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?\s*(?:-|#)\s*\w+")


def test_a_module_can_be_read_in_one_sitting() -> None:
    lengths = {shown(path): len(path.read_text("utf-8").splitlines()) for path in python_files(SOURCE)}
    assert {name: n for name, n in lengths.items() if n > LONGER_MODULES.get(name, MODULE_LINES_MAX)} == {}


def test_a_function_fits_on_a_screen() -> None:
    long = {
        f"{shown(path)}:{name}": length
        for path in python_files(SOURCE)
        for name, length in functions(path)
        if length > FUNCTION_LINES_MAX
    }
    assert long == {}


def test_a_name_is_imported_from_where_it_is_defined() -> None:
    filled = [shown(path) for path in python_files(SOURCE, TESTS) if path.name == "__init__.py" and path.read_bytes()]
    assert filled == []


def test_a_module_is_named_for_what_it_holds() -> None:
    vague = [shown(path) for path in python_files(SOURCE, TESTS, BENCH) if VAGUE_NAMES.fullmatch(path.stem)]
    rooms = [shown(path) for path in SOURCE.rglob("*") if path.is_dir() and VAGUE_NAMES.fullmatch(path.name)]
    assert vague + rooms == []


def test_tests_use_real_parts() -> None:
    mocked = re.compile(
        r"^\s*(?:from unittest(?:\.mock)? import|import unittest\.mock|from mock import)|\bmocker\b", re.MULTILINE
    )
    assert [
        shown(path) for path in python_files(TESTS) if path != Path(__file__) and mocked.search(path.read_text("utf-8"))
    ] == []


def test_a_silenced_check_says_why() -> None:
    bare = [
        f"{shown(path)}:{number}"
        for path in python_files(SOURCE, TESTS, BENCH)
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (silenced := SILENCED.search(line)) and not REASON.search(silenced.group(1))
    ]
    assert bare == []


def test_no_path_of_a_machine_is_kept() -> None:
    # What real agents said is kept as they said it.
    ours = (path for path in kept_files() if not shown(path).startswith("tests/transcripts/"))
    found = [shown(path) for path in ours if MACHINE_PATHS.search(text_of(path) or "")]
    assert found == []


def test_every_setting_is_used() -> None:
    used = "\n".join(path.read_text("utf-8") for path in python_files(SOURCE) if path.name != "config.py")
    # Clients ask for `base_url`, which stands for `url`.
    keys = ["base_url" if key == "url" else key for key in Config.__struct_fields__]
    assert [key for key in keys if not re.search(rf"\.{key}\b", used)] == []


def test_locks_pin_versions_and_name_no_index() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = [
            line for line in (ROOT / name).read_text("utf-8").splitlines() if line and not line.startswith(("#", "-r "))
        ]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))["packages"]
    for package in packages.values():
        # Where its authors ask for help is no address of an index.
        package.pop("funding", None)
        assert "resolved" not in package
    assert "://" not in json.dumps(packages)


def test_rooms_import_only_downwards() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_carries_the_whole_package(tmp_path: Path) -> None:
    """What the editable tree can reach, an installed package must reach too: SQL above all."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        carried = {name for name in opened.namelist() if name.startswith("runwire/")}
    there = {
        f"runwire/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert carried == there
    assert any(name.endswith(".sql") for name in carried)
