"""The translation is a fold: every log translates, text concatenates, and one end is told once."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.gateway.agno.frames import Frame, encode_frame
from runwire.gateway.agno.sessions import kept_session, told_session
from runwire.gateway.agno.translating import About, Translation
from runwire.ids import is_foreign_id
from tests.gateway.agno.client import told

FIXTURES = sorted((Path(__file__).resolve().parents[3] / "spec" / "fixtures" / "v1").glob("*.jsonl"))
LOGS = {path.stem: path.read_bytes().splitlines() for path in FIXTURES}
ABOUT = About(run_id="run_1", agent_id="native", agent_name="Native", session_id="s1")
ENDS = {"run.finished": "RunCompleted", "run.failed": "RunError", "run.cancelled": "RunCancelled"}


def translated(log: Sequence[bytes], *, rests: frozenset[int] = frozenset()) -> list[Frame]:
    """Everything that is told of a log; after some events its reader is at rest."""
    translation, frames = Translation(ABOUT), list[Frame]()
    for number, envelope in enumerate(log):
        frames += translation.feed(envelope)
        if number in rests:
            frames += translation.rest()
    return frames


def events(frames: Sequence[Frame]) -> list[str]:
    return [frame.event for frame in frames]


@pytest.mark.parametrize("name", LOGS)
def test_every_recorded_log_translates(name: str) -> None:
    frames = translated(LOGS[name])
    assert told(b"".join(map(encode_frame, frames)))
    found = events(frames)
    assert found[0] == "RunStarted"
    assert [frame.index for frame in frames] == list(range(len(frames)))
    ended = [ENDS[kind] for line in LOGS[name] if (kind := json.loads(line)["type"]) in ENDS]
    assert [event for event in found if event in ENDS.values()] == ended[:1]
    if ended:
        assert found[-1] == ended[0]
    if found[-1] == "RunCompleted":
        assert found[-2] == "RunContentCompleted"
        said = [frame.data.get("content", "") for frame in frames if frame.event == "RunContent"]
        assert frames[-1].data["content"] == "".join(map(str, said))


@pytest.mark.parametrize("name", LOGS)
def test_every_call_that_began_ends_once(name: str) -> None:
    began, ended = list[object](), list[object]()
    for frame in translated(LOGS[name]):
        tool = frame.data.get("tool")
        if isinstance(tool, dict):
            (began if frame.event == "ToolCallStarted" else ended).append(tool["tool_call_id"])
            assert frame.event == "ToolCallStarted" or isinstance(json.loads(tool["result"]), dict)
    assert sorted(map(str, began)) == sorted(map(str, ended))
    assert len(set(map(str, began))) == len(began)


@pytest.mark.parametrize("name", LOGS)
def test_text_is_the_same_without_its_pieces(name: str) -> None:
    """Retention removes pieces that a later event repeats whole."""
    kept = [line for line in LOGS[name] if json.loads(line)["type"] != "assistant.text_delta"]
    whole, pruned = translated(LOGS[name]), translated(kept)
    if whole[-1].event == "RunCompleted" and name != "upstream_breaks_off":
        assert whole[-1].data["content"] == pruned[-1].data["content"]


PAUSING = [name for name, log in LOGS.items() if any(b'"approval.requested"' in line for line in log)]


@given(name=st.sampled_from(PAUSING), rests=st.frozensets(st.integers(0, 60)))
def test_a_pause_is_told_before_what_it_was_for_and_followed_by_going_on(name: str, rests: frozenset[int]) -> None:
    found = [event for event in events(translated(LOGS[name], rests=rests)) if event in {"RunPaused", "RunContinued"}]
    assert found[::2] == ["RunPaused"] * (len(found) // 2)
    assert found[1::2] == ["RunContinued"] * (len(found) // 2)
    assert found


@given(name=st.sampled_from(sorted(LOGS)), at=st.integers(0, 80))
def test_a_log_that_is_cut_anywhere_translates_to_a_beginning(name: str, at: int) -> None:
    """Frames are never taken back: what was told of a part is the beginning of what is told of the whole."""
    whole, part = translated(LOGS[name]), translated(LOGS[name][:at])
    assert part == whole[: len(part)]


@given(name=st.sampled_from(sorted(LOGS)), drop=st.integers(0, 80))
def test_a_log_whose_beginning_was_pruned_translates(name: str, drop: int) -> None:
    frames = translated(LOGS[name][drop:])
    assert not frames or frames[0].event == "RunStarted"
    assert sum(frame.event in ENDS.values() for frame in frames) <= 1


@given(st.text(min_size=1, max_size=60))
def test_text_of_any_kind_is_one_line(text: str) -> None:
    frame = Frame(3, {"event": "RunContent", "content": text})
    (found,) = told(encode_frame(frame))
    assert (found.data["content"], found.id) == (text, "3")


@given(st.text(min_size=1, max_size=9))
def test_a_session_keeps_its_name(given_id: str) -> None:
    kept = kept_session(given_id)
    assert kept.startswith("chat_")
    assert is_foreign_id(kept)
    assert told_session(kept) == given_id


@pytest.mark.parametrize("given_id", ["chat_agno.x", "chat_", "chat_agno.:20", "chat_x y", ":", "chat_01J9"])
def test_a_session_that_looks_like_ours_keeps_its_name_too(given_id: str) -> None:
    assert told_session(kept_session(given_id)) == given_id
    assert (kept_session(given_id) == given_id) is (given_id == "chat_01J9")
