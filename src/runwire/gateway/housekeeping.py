"""What a gateway does now and then by itself."""

import asyncio
from contextlib import suppress

from runwire.errors import StoreError
from runwire.gateway.services import Services
from runwire.journal.retention import Policy


async def keep_house(services: Services) -> None:
    """Apply the retention settings and collect what nothing names any more, now and then."""
    config = services.config
    policy = Policy(config.retention_max_age_s, config.retention_max_events, config.retention_max_bytes)
    while True:
        await asyncio.sleep(config.retention_every_s)
        # A store that fails now is tried again at the next round; appends tell of it in the meantime.
        with suppress(StoreError):
            if policy != Policy():
                await services.retention.apply(policy)
            await services.artifacts.prune()
