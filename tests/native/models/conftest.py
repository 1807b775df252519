"""What the tests of models share: a real server, and models that reach it through the real SDKs."""

import secrets
import time
from collections.abc import AsyncIterator, Callable
from typing import Literal

import pytest

from runwire.ids import Ids
from runwire.native.models.catalogue import Catalogue
from runwire.native.models.model import Model
from runwire.testing.model_server import ModelServer

ModelOf = Callable[[str], Model]


@pytest.fixture
def ids() -> Ids:
    return Ids(now_ns=time.time_ns, random_bytes=secrets.token_bytes)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> Literal["openai", "anthropic"]:
    return "openai" if request.param == "openai" else "anthropic"


@pytest.fixture
async def catalogue(server: ModelServer, ids: Ids) -> AsyncIterator[Catalogue]:
    made = Catalogue(providers={}, environ=server.environ(), ids=ids, idle_s=0.5)
    yield made
    await made.close()


@pytest.fixture
def model_of(catalogue: Catalogue, wire: str) -> ModelOf:
    """The model of a name, in the wire under test."""
    return lambda name: catalogue.model(f"{wire}:{name}")
