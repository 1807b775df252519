"""Whatever bytes come, from whichever agent: never an exception, and always a log that keeps the rules."""

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwire.agents.catalogue import make_dialect, names
from runwire.agents.codec.framing import LINE_LIMIT_BYTES
from runwire.agents.dialect import StreamEnd, Telling
from runwire.agents.glasspane import NAMES, Pane
from runwire.agents.normalising import Normaliser
from tests.agents.transcripts import FOLDER, Transcript, breaches_of, items_of, transcripts

_FOLDERS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
_QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def recorded(agent: str) -> Sequence[Transcript]:
    """The recorded streams of an agent that are short enough to be cut at any place."""
    return [one for one in transcripts(*_FOLDERS) if one.agent == agent and one.path.stat().st_size < 60_000]


@pytest.mark.parametrize("agent", names())
@given(data=st.data())
@_QUICK
def test_any_bytes(agent: str, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.binary(max_size=200), max_size=8))
    assert breaches_of(agent, pieces) == []


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@pytest.mark.parametrize("agent", names())
@given(data=st.data())
@_QUICK
def test_any_frame_with_any_of_its_values_exchanged(agent: str, data: st.DataObject) -> None:
    import json

    transcript = data.draw(st.sampled_from(recorded(agent)))
    lines = transcript.raw.split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    prefix, _, body = lines[at].partition(b"{")
    try:
        frame = json.loads(b"{" + body)
    except ValueError:
        return
    place: object = frame
    for _ in range(data.draw(st.integers(0, 3))):
        if isinstance(place, dict) and place:
            key = data.draw(st.sampled_from(sorted(place)))
            if isinstance(place[key], (dict, list)):
                place = place[key]
                continue
            place[key] = data.draw(_JSON)
        elif isinstance(place, list) and place:
            place = place[0]
    if isinstance(place, dict) and place:
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(_JSON)
    lines[at] = prefix + json.dumps(frame).encode()
    assert breaches_of(agent, [b"\n".join(lines)]) == []


@pytest.mark.parametrize("agent", names())
@given(data=st.data())
@_QUICK
def test_a_recorded_stream_cut_at_any_byte(agent: str, data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(recorded(agent))).raw
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, len(raw)))
    assert breaches_of(agent, [raw[start:end]]) == []


@pytest.mark.parametrize("agent", names())
@given(data=st.data())
@_QUICK
def test_the_lines_of_two_recorded_streams_mixed(agent: str, data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(recorded(agent))).raw.split(b"\n")
    other = data.draw(st.sampled_from(recorded(agent))).raw.split(b"\n")
    mixed: list[bytes] = []
    while one or other:
        source = one if one and (not other or data.draw(st.booleans())) else other
        count = data.draw(st.integers(1, 12))
        mixed += source[:count]
        del source[:count]
    assert breaches_of(agent, [b"\n".join(mixed)]) == []


@pytest.mark.parametrize("agent", names())
@pytest.mark.parametrize(
    "line",
    [b"null", b"[]", b"[1,2]", b'"text"', b"7", b"{}", b'{"type":null}', b'{"type":"from.the.future"}', b"\xff\xfe{"],
)
def test_a_line_that_nothing_understands_is_kept_and_changes_nothing(agent: str, line: bytes) -> None:
    items, _ = items_of(agent, [line + b"\n"])
    kept = [item for item in items if getattr(item, "type", "") == "agent.unparsed"]
    assert len(kept) == 1
    assert kept[0].raw == line.decode("utf-8", "replace")  # type: ignore[union-attr] # it is an AgentUnparsed


@pytest.mark.parametrize("agent", names())
def test_a_line_of_sixteen_mebibytes_passes(agent: str) -> None:
    line = b'{"type":"from.the.future","text":"' + b"x" * (16 * 1024 * 1024) + b'"}\n'
    items, _ = items_of(agent, [line[at : at + 65536] for at in range(0, len(line), 65536)])
    assert [getattr(item, "type", "") for item in items][:1] == ["agent.unparsed"]
    assert len(line) < LINE_LIMIT_BYTES


@pytest.mark.parametrize("agent", names())
def test_every_canonical_name_is_one_of_the_pane(agent: str) -> None:
    for transcript in recorded(agent):
        normaliser, pane = Normaliser(make_dialect(agent, Telling(agent=agent))), Pane()
        lines = [*normaliser.watch(transcript.raw, 0, pane), *normaliser.watch_end(0, pane)]
        for line in lines:
            _, shown, state = line.split("\t")
            assert shown == "-" or set(shown.split("+")) <= set(NAMES)
            assert state in {"idle", "working", "blocked", "done", "error"}


@pytest.mark.parametrize("agent", names())
def test_what_an_endless_stream_leaves_in_memory_is_bounded(agent: str) -> None:
    """The same prompt a hundred times over: nothing of the first is held when the last has ended."""
    import sys

    raw = recorded(agent)[0].raw
    normaliser = Normaliser(make_dialect(agent, Telling(agent=agent)))
    sizes = []
    for _ in range(50):
        normaliser.feed(raw + b"\n\n", 0)
        sizes.append(_weight(normaliser.dialect.teller) + sys.getsizeof(normaliser))
    assert sizes[-1] <= sizes[4] + 4096
    normaliser.end(StreamEnd(), 0)


def _weight(teller: object) -> int:
    """How many things the teller's keepers hold."""
    held = 0
    for name in ("tools", "questions", "words"):
        for value in vars(getattr(teller, name)).values():
            held += len(value) if isinstance(value, (dict, list, tuple, str)) else 0
    return held
