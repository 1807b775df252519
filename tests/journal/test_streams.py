"""Stream text on its way into the log: joined, never reordered, never with a secret."""

import asyncio
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwire.errors import RunNotFound
from runwire.journal.coalescing import Lane
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.protocol.stream import text_of
from runwire.protocol.verify import verify
from tests.journal.conftest import SECRET, opened
from tests.journal.reading import note, whole_log
from tests.patience import PATIENCE_S
from tests.spec import spec


def text(delta: str, block: int = 0) -> AssistantTextDelta:
    return AssistantTextDelta(turn_index=0, block_index=block, delta=delta)


def output(data: str, offset: int, stream: Literal["stdout", "stderr"] = "stdout") -> ShellOutputChunk:
    return ShellOutputChunk(tool_call_id="call_1", stream=stream, data=data, byte_offset=offset)


def types(log: list[bytes]) -> list[str]:
    return [type_of(envelope) for envelope in log]


async def test_pieces_that_come_together_are_stored_as_one(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    for word in ("Good ", "mor", "ning."):
        await journal.offer("run_a", text(word))
    await journal.flush("run_a")
    log = await whole_log(journal, "run_a")
    assert types(log) == ["external.note", "assistant.text_delta"]
    assert b'"delta":"Good morning."' in log[1]


async def test_text_is_stored_soon_without_being_asked(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.offer("run_a", text("Hello, world."))
    async with asyncio.timeout(PATIENCE_S):
        assert await journal.bell.wait("run_a", 5)
    assert types(await whole_log(journal, "run_a")) == ["external.note", "assistant.text_delta"]


async def test_another_event_pushes_out_the_text_that_came_before_it(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.offer("run_a", text("before"))
    await journal.append("run_a", note("between"))
    await journal.offer("run_a", text(" after", block=1))
    await journal.append("run_a", AssistantTextComplete(turn_index=0, block_index=1, text=" after"))
    assert types(await whole_log(journal, "run_a")) == [
        "external.note",
        "assistant.text_delta",
        "external.note",
        "assistant.text_delta",
        "assistant.text_complete",
    ]


@spec("RED-6", "LIF-6")
async def test_a_secret_over_many_pieces_never_reaches_the_log_and_the_text_still_adds_up(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    whole = f"the password is {SECRET}, do not tell"
    for letter in whole:
        await journal.offer("run_a", text(letter))
    await journal.append("run_a", AssistantTextComplete(turn_index=0, block_index=0, text=whole))
    log = await whole_log(journal, "run_a")
    assert SECRET.encode() not in b"".join(log)
    assert b"the password is [redacted:test], do not tell" in log[-1]
    assert list(verify(log, live=True)) == []


async def test_the_end_of_a_block_releases_what_was_held_back_at_once(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.offer("run_a", text(SECRET[:10]))
    await journal.append("run_a", AssistantTextComplete(turn_index=0, block_index=0, text=SECRET[:10]))
    log = await whole_log(journal, "run_a")
    assert types(log)[1:] == ["assistant.text_delta", "assistant.text_complete"]
    assert SECRET[:10].encode() in log[1]


async def test_text_for_a_run_that_is_not_there_fails_the_flush(journal: Journal) -> None:
    await journal.offer("run_missing", text("lost?"))
    with pytest.raises(RunNotFound):
        await journal.flush("run_missing")


async def test_closing_the_journal_stores_all_that_was_offered(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        await journal.offer("run_a", text("the last words " + SECRET[:6]))
    async with opened(path) as journal:
        assert ("the last words " + SECRET[:6]).encode() in (await whole_log(journal, "run_a"))[-1]


@given(st.lists(st.text(max_size=12), max_size=12), st.sampled_from(["stdout", "stderr"]))
@settings(max_examples=200)
def test_offsets_say_where_the_stored_bytes_began(pieces: list[str], stream: Literal["stdout", "stderr"]) -> None:
    """Without a secret, every stored chunk begins where the one before it ended."""
    lane = Lane(new_redactor=Redactor(SecretSet([KnownValue("test", SECRET)])).stream)
    stored: list[ShellOutputChunk] = []
    offset = 0
    for piece in pieces:
        pushed_out = lane.push(output(piece, offset, stream))
        assert pushed_out is None
        offset += len(piece.encode("utf-8", "surrogatepass"))
        if len(piece) % 3 == 0 and (taken := lane.take()) is not None:
            assert isinstance(taken, ShellOutputChunk)
            stored.append(taken)
    ended = ShellExited(
        tool_call_id="call_1", exit_code=0, signal=None, stdout_bytes=offset, stderr_bytes=0, truncated=False
    )
    stored += [rest for rest in lane.close(ended) if isinstance(rest, ShellOutputChunk)]
    assert "".join(text_of(chunk) for chunk in stored) == "".join(pieces)
    at = 0
    for chunk in stored:
        assert chunk.byte_offset == at
        at += len(chunk.data.encode("utf-8", "surrogatepass"))


async def test_a_redacted_piece_says_so(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.offer("run_a", output(f"token={SECRET}\n", 0))
    await journal.flush("run_a")
    log = await whole_log(journal, "run_a")
    payload = decode_payload(type_of(log[-1]), data_of(log[-1]))
    assert isinstance(payload, ShellOutputChunk)
    assert payload.redacted_paths == ["/data"]
