"""Panes as a stream: all of them, then those that change, and after a break all of them again."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from runwire.client.answers import Pane
from runwire.client.client import Client
from runwire.client.cursors import PaneCursor
from runwire.client.items import PanesSynced
from runwire.client.sse import Frame, MalformedStream
from tests.gateway.serving import Served, serving


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path / "data") as served:
        yield served


async def test_every_pane_comes_and_then_what_changes(gateway: Served) -> None:
    await gateway.run(run_id="run_1")
    await gateway.run(run_id="run_2")
    client = Client(f"http://127.0.0.1:{gateway.port}", gateway.token)
    async with client, aclosing(client.watch_panes()) as items:
        first = [await anext(items) for _ in range(3)]
        assert {item.run_id for item in first if isinstance(item, Pane)} == {"run_1", "run_2"}
        assert first[-1] == PanesSynced(frozenset({"run_1", "run_2"}))
        await gateway.finish("run_2")
        changed = await anext(items)
        assert isinstance(changed, Pane)
        assert (changed.run_id, changed.state, changed.head_sequence) == ("run_2", "done", 2)


def test_a_new_connection_tells_which_runs_are_left() -> None:
    cursor = PaneCursor("/panes/stream")
    cursor.opening()
    for run_id in ("run_1", "run_2"):
        cursor.take(Frame("pane", b'{"run_id":"%b","from_a_later_release":1}' % run_id.encode(), None))
    assert cursor.take(Frame("synced", b"{}", None)) == PanesSynced(frozenset({"run_1", "run_2"}))
    assert cursor.take(Frame("heartbeat", b"{}", None)) is None
    assert cursor.opening().last_event_id is None
    cursor.take(Frame("pane", b'{"run_id":"run_2"}', None))
    assert cursor.take(Frame("synced", b"{}", None)) == PanesSynced(frozenset({"run_2"}))


def test_a_pane_that_is_none_breaks_the_stream() -> None:
    with pytest.raises(MalformedStream, match="a pane frame cannot be read"):
        PaneCursor("/panes/stream").take(Frame("pane", b"[]", None))
