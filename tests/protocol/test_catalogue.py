"""The catalogue: what is known, how settled it is, and how types are matched."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.catalogue import (
    CATALOGUE,
    EXPERIMENTAL,
    TERMINAL,
    InvalidFilter,
    decode_payload,
    is_protected,
    is_terminal,
    matches,
    may_emit,
    may_follow_terminal,
    stability_of,
    type_filter,
)
from runwire.protocol.events.edit import EditApplied, EditReverted
from runwire.protocol.payload import Opaque, is_type_name
from tests.protocol.seed_examples import SEED
from tests.spec import spec


def test_every_type_of_the_protocol_is_known() -> None:
    assert {name for name, _ in SEED} <= CATALOGUE.keys()
    assert all(cls.type == name for name, cls in CATALOGUE.items())


def test_types_say_how_settled_they_are() -> None:
    assert stability_of("run.queued") == "core"
    assert stability_of("tool.edit.applied") == "artifact"
    assert stability_of("tool.file.applied") == "artifact"
    assert stability_of("assistant.thinking_delta") == "experimental"
    assert stability_of("agent.unparsed") == "extension"
    assert stability_of("external.anything") == "extension"
    assert stability_of("quantum.entangled") is None


@spec("TYP-7")
def test_older_names_are_read_as_edits_and_never_emitted() -> None:
    applied = decode_payload("tool.file.applied", b'{"tool_call_id":"c","patch_artifact_id":"a","applied_at":"t"}')
    assert applied == EditApplied(tool_call_id="c", patch_artifact_id="a", applied_at="t")
    reverted = decode_payload("tool.file.reverted", b'{"patch_artifact_id":"a","reverted_by":"operator","reason":""}')
    assert reverted == EditReverted(patch_artifact_id="a", reverted_by="operator")
    # What wrote the older names had another shape in mind; that is no reason to refuse its log.
    assert isinstance(decode_payload("tool.file.patch", b'{"path":"a","before_existed":true}'), Opaque)
    for old in ("tool.file.patch", "tool.file.applied", "tool.file.reverted"):
        assert not may_emit(old)


@spec("TYP-5")
def test_nothing_is_emitted_beyond_the_schemas_but_external_events() -> None:
    assert may_emit("run.started")
    assert may_emit("agent.state_changed")
    assert may_emit("external.ci.passed")
    assert not may_emit("external.")
    assert not may_emit("quantum.entangled")
    assert not may_emit("agent.invented")


@spec("TYP-6")
def test_experimental_types_are_emitted_only_when_asked_for_by_name() -> None:
    assert not any(may_emit(name) for name in EXPERIMENTAL)
    assert all(may_emit(name, [name]) for name in EXPERIMENTAL)
    assert may_emit("assistant.thinking_delta", ["assistant.thinking_*"])
    assert not may_emit("assistant.media", ["assistant.thinking_*"])


def test_three_types_end_a_run_and_four_families_may_come_after() -> None:
    assert {"run.finished", "run.failed", "run.cancelled"} == TERMINAL
    assert is_terminal("run.failed")
    assert not is_terminal("run.child_finished")
    for late in (
        "tool.edit.applied",
        "tool.file.reverted",
        "artifact.updated",
        "approval.resolved",
        "gap.events_pruned",
    ):
        assert may_follow_terminal(late)
    for late in ("run.finished", "tool.completed", "tool.multi_edit.applied", "external.note", "approval", "cost.tick"):
        assert not may_follow_terminal(late)


@spec("GAP-2")
def test_terminal_facts_approvals_and_gap_markers_are_protected() -> None:
    assert [name for name in CATALOGUE if is_protected(name)] == [
        "run.finished",
        "run.failed",
        "run.cancelled",
        "approval.requested",
        "approval.resolved",
        "approval.timed_out",
        "gap.events_pruned",
        "gap.run_disconnected",
    ]


@spec("CUR-5")
@pytest.mark.parametrize(
    ("wanted", "name", "passes"),
    [
        ("run.started", "run.started", True),
        ("run.started", "run.started_again", False),
        ("tool.shell.*,run.*", "tool.shell.exited", True),
        ("tool.shell.*,run.*", "run.queued", True),
        ("tool.shell.*,run.*", "tool.invoked", False),
        ("tool.*", "tool.shell.output_chunk", True),
        ("tool.*", "tool", False),
        ("*.completed", "tool.grep.completed", True),
        ("assistant.*_delta", "assistant.thinking_delta", True),
        ("t*l.*", "tool.shell.exited", True),
        ("*", "external.x.y", True),
        ("a*ab", "ab.ab", True),
        ("ab*ba", "ab.a", False),
        (" run.* , turn.*", "turn.started", True),
    ],
)
def test_a_star_stands_for_any_text_dots_included(wanted: str, name: str, passes: bool) -> None:
    assert type_filter(wanted)(name) is passes
    if is_type_name(name):
        assert matches(wanted, name) is passes


@given(wanted=st.text("ab.*", min_size=1, max_size=10), name=st.text("ab.", min_size=1, max_size=10))
def test_filters_agree_with_the_shell(wanted: str, name: str) -> None:
    assert type_filter(wanted)(name) is fnmatch.fnmatchcase(name, wanted)


@pytest.mark.parametrize(
    "wanted", ["", ",", "run.*,", "Run.*", "run.?", "run.[a]", "run run", "run/*", "é", "a" * 2049]
)
def test_a_filter_that_cannot_match_a_type_is_refused(wanted: str) -> None:
    with pytest.raises(InvalidFilter):
        type_filter(wanted)


def test_a_filter_full_of_stars_is_still_answered_at_once() -> None:
    assert not type_filter("*a" * 500 + "*b")("a" * 128)
