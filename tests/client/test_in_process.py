"""The client on a gateway in this very process: the same answers without a socket."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from runwire.client.answers import Artifact
from runwire.client.client import Client
from runwire.client.embedded import EmbeddedTransport
from runwire.client.items import Event, Synced
from runwire.config import Config
from runwire.errors import GatewayError
from runwire.gateway.app import create_app
from runwire.gateway.services import Services
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.journal.records import RunBirth
from runwire.protocol.events.run import RunFinished, RunStarted
from runwire.wiring.serving import open_services
from tests.patience import PATIENCE_S
from tests.spec import spec

RUN = "run_1"


@dataclass(frozen=True, slots=True)
class House:
    """Open services and a client of theirs."""

    services: Services
    client: Client


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with open_services(Config(data=tmp_path / "data"), environ={}) as services:
        token = await services.tokens.start()
        await services.journal.create_run(RunBirth(RUN), [RunStarted(worker_id="w1")])
        transport = EmbeddedTransport(create_app(services))
        async with Client("http://127.0.0.1", token, transport) as client:
            yield House(services, client)


@spec("SSE-3", "SSE-5")
async def test_a_live_run_is_followed_to_its_end(house: House) -> None:
    items: list[object] = []
    async with aclosing(house.client.events(RUN)) as stream:
        async for item in stream:
            items.append(item)
            if isinstance(item, Synced):
                await house.client.append(RUN, "external.note", {"n": 1})
                await house.services.journal.append(RUN, RunFinished(turns=0, cost_micros_usd=0, duration_ms=1))
    assert [type(item) for item in items] == [Event, Synced, Event, Event]
    assert (await house.client.run(RUN)).status == "completed"


async def test_a_stream_that_is_left_leaves_nothing_running(house: House) -> None:
    async with aclosing(house.client.events(RUN)) as stream:
        await anext(stream)
        assert house.services.tally.subscribers == 1
    async with asyncio.timeout(PATIENCE_S):
        while house.services.tally.subscribers:
            await asyncio.sleep(0)


@spec("ART-1", "ART-6")
async def test_artifacts_are_listed_read_and_pinned(house: House) -> None:
    body = bytes(range(256)) * 4096
    made = await house.services.artifacts.create(
        RUN, NewArtifact("image", ArtifactMeta(mime="image/png", summary="a plot")), body
    )
    client = house.client
    known = await client.artifact(made.artifact_id)
    assert (known.kind, known.size_bytes, known.summary, known.pinned) == ("image", len(body), "a plot", False)
    assert b"".join([chunk async for chunk in client.artifact_bytes(made.artifact_id)]) == body
    listed = [msgspec.json.decode(each, type=Artifact) for each in (await client.artifacts(run_id=RUN)).data]
    assert [each.id for each in listed] == [made.artifact_id]
    assert (await client.pin(made.artifact_id)).pinned
    assert not (await client.unpin(made.artifact_id)).pinned
    with pytest.raises(GatewayError) as caught:
        await client.artifact("art_nowhere")
    assert (caught.value.code, caught.value.status) == ("artifact_not_found", 404)
