"""From events to blocks: everything can be drawn, nothing that was said is lost, and little is kept."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwire.client.render.blocks import (
    TAIL_CHARS,
    Approval,
    Edit,
    End,
    Note,
    Opaque,
    Prose,
    Thinking,
    Todo,
    Tool,
    User,
)
from runwire.client.render.cells import cells
from runwire.client.render.harmless import plain
from runwire.client.render.text import CALM, FULL, STYLES, lines_of, text_of
from runwire.protocol.envelope import decode_envelope
from tests.client.render.logs import CAPTURES, FIXTURES, drawn, envelopes, log

_LOGS = [*FIXTURES, *CAPTURES]
_CALL = {"tool_call_id": "call_1", "tool_name": "shell_exec", "kind": "shell"}


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", _LOGS, ids=_name)
def test_every_log_is_drawn_within_any_width_and_harms_no_terminal(path: Path) -> None:
    drawing = drawn(envelopes(path))
    assert drawing.blocks
    for block in drawing.blocks:
        for width, detail in ((10, CALM), (80, CALM), (140, FULL)):
            for line in lines_of(block, width, now_ns=drawing.head_ns, detail=detail):
                text = text_of(line)
                assert cells(text) <= width
                assert plain(text) == text
                assert all(segment.style in STYLES for segment in line)


@pytest.mark.parametrize("path", _LOGS, ids=_name)
def test_what_is_shown_as_said_is_what_was_said(path: Path) -> None:
    events = [decode_envelope(line) for line in envelopes(path)]
    told = [(event.type, msgspec.json.decode(event.data)) for event in events]
    drawing = drawn(envelopes(path))
    whole = [block.text for block in drawing.blocks if type(block) is Prose and not block.broken]
    answers = {data["summary"] for event_type, data in told if event_type == "assistant.final_answer"}
    said = [data["text"] for event_type, data in told if event_type == "assistant.text_complete" if data["text"]]
    # An agent that does not stream says what it says in its final answer.
    assert [text for text in whole if text in said or text not in answers] == said
    assert [block.text for block in drawing.blocks if isinstance(block, User)] == [
        data["text"] for event_type, data in told if event_type == "user.message"
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=_name)
def test_a_run_that_is_over_has_an_end_and_nothing_that_goes_on(path: Path) -> None:
    drawing = drawn(envelopes(path))
    if drawing.run.finished:
        assert drawing.end is not None
        assert drawing.end.state == drawing.run.status
        assert not [block for block in drawing.blocks if block.open and isinstance(block, Tool | Prose)]
        assert not drawing.pending


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_events_in_any_order_and_with_any_of_them_missing_are_drawn(data: st.DataObject) -> None:
    lines = envelopes(data.draw(st.sampled_from(FIXTURES)))
    drawing = drawn(data.draw(st.lists(st.sampled_from(lines), max_size=30)))
    for block in drawing.blocks:
        lines_of(block, 40, now_ns=drawing.head_ns)


@given(st.lists(st.text(), max_size=20), st.booleans())
def test_text_is_its_pieces_joined(pieces: list[str], complete: bool) -> None:
    pieces = ["".join(piece).encode("utf-8", "replace").decode() for piece in pieces]
    place = {"turn_index": 0, "block_index": 0}
    events: list[tuple[str, object]] = [("assistant.text_delta", {**place, "delta": piece}) for piece in pieces]
    if complete:
        events.append(("assistant.text_complete", {**place, "text": "".join(pieces)}))
    blocks = drawn(log(*events)).blocks
    assert "".join(block.text for block in blocks if isinstance(block, Prose)) == "".join(pieces)
    assert all(block.open != complete for block in blocks)


def test_of_a_long_output_the_end_is_kept_and_all_of_it_counted() -> None:
    chunk = "".join(f"{number:07d}\n" for number in range(8192))
    events: list[tuple[str, object]] = [("tool.invoked", {**_CALL, "turn_index": 0})]
    events += [
        ("tool.shell.output_chunk", {"tool_call_id": "call_1", "stream": "stdout", "data": chunk, "byte_offset": 0})
    ] * 160
    (block,) = drawn(log(*events)).blocks
    assert isinstance(block, Tool)
    assert (block.output.bytes, block.output.lines) == (160 * len(chunk), 160 * 8192)
    assert len(block.output.read()) <= TAIL_CHARS
    assert block.output.read().endswith("0008191\n")
    shown = [text_of(line) for line in lines_of(block, 80)]
    assert shown[1] == "  │ … 1,310,714 lines before"
    assert shown[-1] == "  │ 0008191"
    assert len(shown) == 8


def test_what_is_unknown_or_not_as_its_type_says_is_shown_as_it_came() -> None:
    drawing = drawn(log(("acme.rocket.launched", {"to": "the moon"}), ("tool.invoked", {"nothing": "fits"})))
    assert [(block.type, block.data) for block in drawing.blocks if isinstance(block, Opaque)] == [
        ("acme.rocket.launched", '{"to":"the moon"}'),
        ("tool.invoked", '{"nothing":"fits"}'),
    ]
    assert text_of(lines_of(drawing.blocks[0], 80)[0]) == '◇ acme.rocket.launched {"to":"the moon"}  17 bytes'


def test_an_edit_stands_for_the_call_that_made_it_and_changes_with_what_becomes_of_it() -> None:
    drawing = drawn(envelopes(next(path for path in FIXTURES if path.stem == "reviewed")))
    assert [block.told for block in drawing.blocks if isinstance(block, Tool)] == [True, True, True]
    edits = [block for block in drawing.blocks if isinstance(block, Edit)]
    assert [(edit.paths, edit.state, edit.by, edit.reason) for edit in edits] == [
        (("a.txt",), "reverted", "operator", "too loud"),
        (("b.txt",), "rejected", "operator", "two is fine"),
        (("c.txt",), "proposed", "", ""),
    ]
    before = edits[2].revision
    assert drawing.show_diff(edits[2].artifact_ids, "@@ -0,0 +1 @@\n+three\n") is edits[2]
    assert edits[2].revision > before
    styles = {segment.style for line in lines_of(edits[2], 80) for segment in line}
    assert {"added", "hunk"} <= styles


def test_a_decision_is_told_on_the_line_of_its_call() -> None:
    drawing = drawn(envelopes(next(path for path in FIXTURES if path.stem == "denied")))
    (asked,) = (block for block in drawing.blocks if isinstance(block, Approval))
    (call,) = (block for block in drawing.blocks if isinstance(block, Tool))
    assert asked.told
    assert call.approval is asked
    assert [text_of(line) for line in lines_of(call, 80)] == ["⊘ $ touch a  denied by operator: not here"]


def test_the_last_list_of_what_is_to_be_done_counts() -> None:
    def listed(status: str) -> tuple[str, object]:
        return "tool.todo_write.updated", {"tool_call_id": "c", "todos": [{"content": "read\x1b", "status": status}]}

    drawing = drawn(log(listed("pending"), listed("completed")))
    assert isinstance(drawing.todo, Todo)
    assert drawing.blocks == [drawing.todo]
    assert drawing.todo.items == (("read\\u{1b}", "completed"),)


def test_a_failure_that_ends_the_run_is_told_once_and_one_that_does_not_is_told_too() -> None:
    failed = ("turn.failed", {"turn_index": 0, "code": "broken", "message": "it broke"})
    ended = drawn(log(failed, ("run.failed", {"code": "broken", "message": "it broke", "turns": 1})))
    assert [type(block) for block in ended.blocks] == [End]
    went_on = drawn(log(failed, ("turn.started", {"turn_index": 1, "model": None, "provider": None})))
    assert [block.text for block in went_on.blocks if isinstance(block, Note)] == ["the turn failed: broken: it broke"]


def test_thoughts_are_not_what_is_said() -> None:
    drawing = drawn(envelopes(next(path for path in FIXTURES if path.stem == "thinking")))
    (thought,) = (block for block in drawing.blocks if isinstance(block, Thinking))
    assert thought.text == "There might be two of them; I had better count."


def test_an_id_that_is_used_again_is_another_call() -> None:
    ended = ("tool.completed", {**_CALL, "duration_ms": 1})
    begun = ("tool.invoked", {**_CALL, "turn_index": 0})
    assert len(drawn(log(begun, ended, begun, ended)).blocks) == 2
