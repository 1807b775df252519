"""Golden screens: each fixture of the contract, and what became of some captures, on terminals of two widths."""

from pathlib import Path

import pytest
from rich.console import Console

from runwire.cli import markdown
from runwire.client.render.cells import cells
from tests.cli.screens import GOLDEN, LOGS, drawn, golden, name_of
from tests.client.render.logs import log

_PLACE = {"turn_index": 0, "block_index": 0}
_MARKDOWN = """# Title

A *paragraph* of some words that is long enough to be wrapped on a narrow terminal, with `code` in it.

- one
- two
  - three

```python
def f():

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

The end.
"""


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_log_looks_as_it_did(path: Path) -> None:
    kept = (GOLDEN / f"{name_of(path)}.txt").read_text()
    assert golden(path) == kept, "if it looks better now: python -m tests.cli.screens"


def test_no_screen_is_kept_of_a_log_that_is_not_there() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {name_of(path) for path in LOGS}


@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
def test_text_looks_the_same_however_it_came(size: int) -> None:
    pieces = [_MARKDOWN[start : start + size] for start in range(0, len(_MARKDOWN), size)]
    events: list[tuple[str, object]] = [("assistant.text_delta", {**_PLACE, "delta": piece}) for piece in pieces]
    lines = log(*events, ("assistant.text_complete", {**_PLACE, "text": _MARKDOWN}))
    at_once = log(("assistant.text_complete", {**_PLACE, "text": _MARKDOWN}))
    assert drawn(lines, 60) == drawn(at_once, 60)


def test_markdown_hides_nothing_and_cannot_command_the_terminal() -> None:
    text = (
        "<b>bold</b> <!-- note --> [link](https://example.org/?a=1) &#x202e;x\n\n[ref]: https://evil.example\n\n"
        "\x1b]0;title\x07 \u202e\u2066\n\n<script>\nalert(1)\n</script>\n"
    )
    console = Console(force_terminal=True, color_system="256", width=80)
    rows = markdown.rows_of(text, console, 80)
    shown = "\n".join("".join(segment.text for segment in row) for row in rows)
    for part in (
        "<b>",
        "<!-- note -->",
        "https://example.org/?a=1",
        "[ref]: https://evil.example",
        "<script>",
        "alert(1)",
    ):
        assert part in shown
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(shown)
    assert all(cells(line) <= 80 for line in shown.split("\n"))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one\n\ntwo", 0),
        ("one\n\ntwo\n", 5),
        ("- a\n- b\n", 0),
        ("- a\n- b\n\nafter\n", 9),
        ("```\na\n\nb\n", 0),
        ("```\na\n```\nafter\n", 10),
    ],
)
def test_only_the_last_block_of_a_growing_text_may_still_change(text: str, kept: int) -> None:
    assert markdown.settled(text) == kept
