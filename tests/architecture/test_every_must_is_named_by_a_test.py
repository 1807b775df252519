"""The specification and the tests hold each other to account: each requirement has a test, each named one exists."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.tree import ROOT, TESTS, python_files

_ROW = re.compile(r"^\| ([A-Z]+-\d+) \| (.*) \|$", re.MULTILINE)


def requirements() -> list[tuple[str, str]]:
    """Every (id, text) of the specification."""
    return _ROW.findall((ROOT / "spec" / "PROTOCOL.md").read_text("utf-8"))


def named() -> Iterator[str]:
    """Every id that a test carries."""
    for path in python_files(TESTS):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "spec":
                        yield from (str(each.value) for each in mark.args if isinstance(each, ast.Constant))


def test_every_requirement_has_one_id_and_says_must() -> None:
    ids = [each for each, _ in requirements()]
    assert len(ids) == len(set(ids))
    assert [each for each, text in requirements() if "MUST" not in text] == []


def test_every_requirement_is_named_by_a_test() -> None:
    assert sorted({each for each, _ in requirements()} - set(named())) == []


def test_every_id_that_a_test_names_is_a_requirement() -> None:
    assert sorted(set(named()) - {each for each, _ in requirements()}) == []
