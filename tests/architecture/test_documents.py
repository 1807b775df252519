"""The documents are kept as the code is: what they point at is there, and what is there is listed."""

import re
from pathlib import Path

import pytest

from runwire.version import VERSION
from tests.architecture.tree import ROOT, kept_files, shown

DOCUMENTS = [path for path in kept_files() if path.suffix == ".md"]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=shown)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    targets = [target.partition("#")[0] for target in LINK.findall(document.read_text("utf-8"))]
    inside = [target for target in targets if target and "://" not in target and not target.startswith("mailto:")]
    assert [target for target in inside if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("decision", DECISIONS, ids=shown)
def test_a_decision_has_the_parts_of_one(decision: Path) -> None:
    text = decision.read_text("utf-8")
    number = int(decision.name.partition("-")[0])
    assert text.startswith(f"# {number}. ")
    assert re.search(r"^\| (proposed|accepted|superseded by \[.+\]\(.+\)) \| \d{4}-\d\d-\d\d \|$", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 80, "a decision is one page"


def test_decisions_are_numbered_without_a_gap_and_all_listed() -> None:
    assert [int(path.name.partition("-")[0]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    index = (ROOT / "docs" / "adr" / "README.md").read_text("utf-8")
    assert [target for target in LINK.findall(index) if target[0].isdigit()] == [path.name for path in DECISIONS]


def test_the_changelog_speaks_of_this_version_and_of_the_protocol_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _, _, entry = changelog.partition(f"## [{VERSION}]")
    sections = re.findall(r"^### (\w+)$", entry.partition("\n## ")[0], re.MULTILINE)
    assert sections[:1] == ["Protocol"]


def test_the_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`?make ([a-z-]+)`", path.read_text("utf-8"))}
    assert named <= targets
