"""Every recorded stream becomes a log that keeps the rules, and exactly the one that was expected."""

import pytest

from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from tests.agents.transcripts import FOLDER, Transcript, breaches_of, items_of, told, transcripts

FOLDERS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
EVERY = transcripts(*FOLDERS)


@pytest.mark.parametrize("transcript", EVERY, ids=lambda one: one.name)
def test_a_recorded_stream_becomes_a_log_that_keeps_the_rules(transcript: Transcript) -> None:
    assert breaches_of(transcript.agent, [transcript.raw]) == []


@pytest.mark.parametrize("transcript", EVERY, ids=lambda one: one.name)
def test_a_recorded_stream_becomes_what_was_expected(transcript: Transcript) -> None:
    items, outcome = items_of(transcript.agent, [transcript.raw], transcript.end)
    assert "\n".join(told(items, outcome)) + "\n" == transcript.expected.read_text("utf-8")


@pytest.mark.parametrize("transcript", EVERY, ids=lambda one: one.name)
def test_the_pieces_of_a_stream_do_not_matter(transcript: Transcript) -> None:
    raw = transcript.raw
    whole, outcome = items_of(transcript.agent, [raw], transcript.end)
    cut, again = items_of(transcript.agent, [raw[at : at + 7] for at in range(0, len(raw), 7)], transcript.end)
    assert again == outcome
    assert [item for item in cut if not isinstance(item, AssistantTextDelta)] != [] or whole == []
    texts = [item.text for item in whole if isinstance(item, AssistantTextComplete)]
    assert [item.text for item in cut if isinstance(item, AssistantTextComplete)] == texts
