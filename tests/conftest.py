"""What holds for every test."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("runwire", deadline=None)
settings.load_profile("runwire")


def pytest_asyncio_loop_factories(
    config: pytest.Config,  # noqa: ARG001 - the hook's signature
    item: pytest.Item,  # noqa: ARG001 - the hook's signature
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests on the loop that the product runs on."""
    return {"uvloop": uvloop.new_event_loop}
