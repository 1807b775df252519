"""From blocks to lines of styled segments that fit a width. Styles are names; each face says what they look like."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from runwire.client.render.blocks import (
    Approval,
    Block,
    Edit,
    End,
    Note,
    Opaque,
    Prose,
    Thinking,
    Todo,
    Tool,
    ToolState,
    User,
)
from runwire.client.render.cells import cells, clip, fold, wrap
from runwire.client.render.harmless import one_line, plain, plain_text, printed
from runwire.client.render.money import dollars

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_NS = 100_000_000
_SHORT_NS = 100_000_000
_INDENT = "  "
_GUTTER = "  │ "
STYLES = (
    "prose thinking user title dim running ok bad warn info added removed hunk output question done doing due opaque"
).split()
"""Every style that a segment may have."""


class Segment(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: str


Line = tuple[Segment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much is shown of what may be long: lines of output, of a diff, of thoughts, of a question's arguments."""

    output: int = 6
    diff: int = 24
    thinking: int = 4
    input: int = 12


CALM = Detail()
FULL = Detail(output=10_000, diff=10_000, thinking=10_000, input=10_000)


def lines_of(block: Block, width: int, *, now_ns: int = 0, detail: Detail = CALM) -> list[Line]:
    """The block in lines of at most `width`; `now_ns` moves what is not over yet."""
    return _DRAWN[type(block)](block, max(width, 10), now_ns, detail)


def text_of(line: Line) -> str:
    """The line without its styles."""
    return "".join(segment.text for segment in line)


def duration(ns: int) -> str:
    """A time as people read it: 0.3 s, 12 s, 4 min 3 s, 2 h 5 min."""
    seconds = max(ns, 0) / 1_000_000_000
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def spinner(now_ns: int) -> str:
    """The sign of something that goes on, as it looks at this moment."""
    return SPINNER[now_ns // _FRAME_NS % len(SPINNER)]


def many(count: int, what: str) -> str:
    """How many there are of something."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _line(*parts: tuple[str, str]) -> Line:
    return tuple(Segment(text, style) for text, style in parts if text)


def _hanging(mark: str, style: str, text: str, width: int) -> list[Line]:
    """Wrapped text under a mark."""
    lines = wrap(plain_text(text).expandtabs(4), width - 2)
    return [_line((mark if not place else _INDENT, style), (line, style)) for place, line in enumerate(lines)]


def _head(mark: tuple[str, str], title: tuple[str, str], facts: Iterable[str], width: int) -> Line:
    """One line: a mark, what it is about, and facts after it. What it is about is cut first."""
    tail = " · ".join(fact for fact in facts if fact)
    # However much there is to say of it, a third of the line is for what it is about.
    tail = clip(tail, width - 4 - min(cells(title[0]), width // 3))
    text = clip(title[0], width - 2 - (cells(tail) + 2 if tail else 0))
    return _line((f"{mark[0]} ", mark[1]), (text, title[1]), (f"  {tail}" if tail else "", "dim"))


def _cut(lines: list[Line], limit: int, width: int) -> list[Line]:
    """The first lines, and how many more there are."""
    if len(lines) <= limit:
        return lines
    left = len(lines) - limit + 1
    return [*lines[: limit - 1], _line((clip(f"{_GUTTER}… {many(left, 'more line')}", width), "dim"))]


# What is said


def _prose(block: Prose, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    lines = [_line((line, "prose")) for line in wrap(plain_text(block.text.strip("\n")).expandtabs(4), width)]
    return [*lines, _line((clip("… broken off", width), "warn"))] if block.broken else lines


def _thinking(block: Thinking, width: int, _now_ns: int, detail: Detail) -> list[Line]:
    lines = _hanging("∴ ", "thinking", block.text.strip(), width)
    if len(lines) <= detail.thinking:
        return lines
    if block.open:
        return [_line(("∴ …", "thinking")), *lines[1 - detail.thinking :]]
    left = len(lines) - detail.thinking + 1
    return [*lines[: detail.thinking - 1], _line((clip(f"{_INDENT}… {many(left, 'more line')}", width), "dim"))]


def _user(block: User, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    by = f"{plain(block.by)}: " if block.by else ""
    return _hanging("▌ ", "user", by + block.text.strip(), width)


def _note(block: Note, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    mark, style = {"info": ("· ", "info"), "warning": ("! ", "warn"), "error": ("✗ ", "bad")}[block.level]
    return _hanging(mark, style, block.text, width)


def _opaque(block: Opaque, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    title = f"{plain(block.type)} {one_line(block.data)}"
    return [_head(("◇", "opaque"), (title, "opaque"), [f"{block.size_bytes:,} bytes"], width)]


# Tool calls

_MARKS: Mapping[ToolState, tuple[str, str]] = {
    "proposed": ("○", "dim"),
    "completed": ("✓", "ok"),
    "failed": ("✗", "bad"),
    "cancelled": ("■", "warn"),
    "timed_out": ("✗", "bad"),
    "blocked": ("⊘", "warn"),
}


def _tool(block: Tool, width: int, now_ns: int, detail: Detail) -> list[Line]:
    mark = (spinner(now_ns), "running") if block.state == "running" else _MARKS[block.state]
    head = _head(mark, (_title(block), "title"), _facts(block, now_ns), width)
    lines = [head]
    if block.error and block.state != "completed" and not _said(block):
        lines += _hanging(_INDENT, "bad" if block.state != "cancelled" else "warn", block.error, width)
    if block.kind == "shell" or block.state != "completed" or detail.output > CALM.output:
        lines += _output(block, width, detail)
    return lines


def _title(block: Tool) -> str:
    if block.kind == "shell":
        return f"$ {block.title}" if block.title else block.name
    return f"{block.name} {block.title}".strip()


def _facts(block: Tool, now_ns: int) -> list[str]:
    facts = []
    if block.state == "completed" and block.kind != "shell":
        facts.append(block.summary.removeprefix(f"{block.title}: "))
    if block.signal:
        facts.append(plain(block.signal))
    elif block.exit_code:
        facts.append(f"exit {block.exit_code}")
    if block.approval is not None and block.approval.state != "pending":
        facts.append(_decided(block.approval))
    if block.state != "blocked":
        took_ns = max((now_ns if block.state == "running" else block.ended_ns or 0) - block.started_ns, 0)
        facts.append(duration(took_ns) if took_ns >= _SHORT_NS and block.state != "proposed" else "")
    return facts


def _said(block: Tool) -> bool:
    """Whether the head says already why the call did not succeed."""
    if block.state == "blocked":
        return block.approval is not None and block.approval.state in {"denied", "timed_out"}
    return block.exit_code is not None and block.error.startswith(f"exit code {block.exit_code}")


def _output(block: Tool, width: int, detail: Detail) -> list[Line]:
    """The end of what was printed: the last lines say how it went."""
    lines = printed(block.output.read())
    while lines and not lines[-1].strip():
        lines.pop()
    if lines in ([], [block.error]):
        return []
    shown = [
        _line((_GUTTER, "dim"), (piece, "output"))
        for line in lines[-detail.output :]
        for piece in fold(line, width - cells(_GUTTER))
    ]
    left = max(block.output.lines - detail.output, 0)
    if len(shown) <= detail.output and not left:
        return shown
    what = f"… {many(left, 'line')} before" if left else "…"
    return [_line((clip(f"{_GUTTER}{what}", width), "dim")), *shown[-detail.output :]]


# Changes, questions, lists


def _edit(block: Edit, width: int, _now_ns: int, detail: Detail) -> list[Line]:
    mark = {"proposed": ("±", "doing"), "applied": ("±", "ok"), "rejected": ("⊘", "warn"), "reverted": ("↶", "warn")}
    state = block.state if not block.by else f"{block.state} by {plain(block.by)}"
    if block.reason:
        state += f": {one_line(block.reason)}"
    title = ", ".join(map(plain, block.paths))
    lines = [_head(mark[block.state], (title, "title"), [block.summary, state], width)]
    if block.diff and detail.diff:
        lines += _cut(diff_lines(block.diff, width), detail.diff, width)
    if block.waits and block.state == "proposed":
        applies = ", ".join(map(plain, block.artifact_ids))
        lines += [_line((_INDENT, "dim"), (clip(f"runwire apply {applies}", width - 2), "dim"))]
    return lines


def diff_lines(diff: str, width: int) -> list[Line]:
    """A unified diff, line by line; the names of the files are left to whoever shows it."""
    styles = {"+": "added", "-": "removed", "@": "hunk"}
    lines: list[Line] = []
    for line in printed(diff.rstrip("\n")):
        if line.startswith(("--- ", "+++ ", "diff --git ", "index ")):
            continue
        style = styles.get(line[:1], "output")
        lines += [_line((_GUTTER, "dim"), (piece, style)) for piece in fold(line, width - cells(_GUTTER))]
    return lines


def _decided(block: Approval) -> str:
    who = f"{block.state} by {plain(block.by)}" if block.by else block.state.replace("_", " ")
    changed = ", edited" if block.edited else ""
    reach = f" ({plain(block.scope)})" if block.scope not in {"", "once"} else ""
    return f"{who}{changed}{reach}" + (f": {one_line(block.comment)}" if block.comment else "")


def _approval(block: Approval, width: int, _now_ns: int, detail: Detail) -> list[Line]:
    if block.state != "pending":
        mark = ("✓", "ok") if block.state == "approved" else ("⊘", "warn")
        return [_head(mark, (one_line(block.summary), "title"), [_decided(block)], width)]
    lines = _hanging("? ", "question", f"May it? {one_line(block.summary)}", width)
    lines += _hanging(_INDENT, "dim", one_line(block.reason), width)
    if list((block.input or {}).values()) == [block.summary] and len(one_line(block.summary)) == len(block.summary):
        # The first line says all of it.
        return lines
    return lines + _cut(input_lines(block, width), detail.input, width)


def input_lines(block: Approval, width: int) -> list[Line]:
    """Exactly what would be done: every argument, and nothing hidden in it."""
    lines: list[Line] = []
    for name, value in (block.input or {}).items():
        if name in {"old_text", "new_text"}:
            style = "removed" if name == "old_text" else "added"
            lines += _marked("-" if name == "old_text" else "+", style, str(value), width)
            continue
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        label = f"{plain(name)}: "
        # Not as output: what a person allows is shown with every control character in it.
        for place, row in enumerate(plain_text(text).split("\n")):
            start = label if not place else " " * len(label)
            pieces = fold(start + row.expandtabs(4), width - cells(_GUTTER))
            lines += [_line((_GUTTER, "dim"), (piece, "title")) for piece in pieces]
    return lines


def _marked(mark: str, style: str, text: str, width: int) -> list[Line]:
    rows = (
        piece for row in plain_text(text.removesuffix("\n")).split("\n") for piece in fold(row.expandtabs(4), width - 5)
    )
    return [_line((_GUTTER, "dim"), (f"{mark}{row}", style)) for row in rows]


_ITEMS = {"completed": ("●", "done"), "in_progress": ("◐", "doing")}


def _todo(block: Todo, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    lines = []
    for content, status in block.items:
        mark, style = _ITEMS.get(status, ("○", "due"))
        lines.append(_line((f"{mark} ", style), (clip(content, width - 2), style)))
    return lines


def _end(block: End, width: int, _now_ns: int, _detail: Detail) -> list[Line]:
    mark = {"completed": ("✓", "ok"), "failed": ("✗", "bad"), "cancelled": ("■", "warn")}[block.state]
    facts = [
        "" if block.turns is None else many(block.turns, "turn"),
        "" if block.cost_micros_usd is None else dollars(block.cost_micros_usd),
        "" if block.duration_ms is None else duration(block.duration_ms * 1_000_000),
    ]
    said = {"completed": "completed", "failed": f"failed: {block.text}", "cancelled": f"cancelled {block.text}"}
    rows = _hanging(f"{mark[0]} ", mark[1], said[block.state], width)
    tail = " · ".join(fact for fact in facts if fact)
    if tail and cells(text_of(rows[-1])) + cells(tail) + 2 <= width:
        return [*rows[:-1], (*rows[-1], Segment(f"  {tail}", "dim"))]
    return [*rows, *([_line((f"{_INDENT}{clip(tail, width - 2)}", "dim"))] if tail else [])]


_DRAWN: Mapping[type, Callable[..., list[Line]]] = {
    Prose: _prose,
    Thinking: _thinking,
    User: _user,
    Note: _note,
    Opaque: _opaque,
    Tool: _tool,
    Edit: _edit,
    Approval: _approval,
    Todo: _todo,
    End: _end,
}
