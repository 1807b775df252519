"""How a provider is reached: address, key, patience, and one pool of connections that its models share."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from runwire.native.errors import ModelFault
from runwire.native.models import faults

if TYPE_CHECKING:
    import httpx2

Client = TypeVar("Client")

CONNECT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the models of one provider are, and what opens the door."""

    provider: str
    wire: Literal["openai", "anthropic"]
    base_url: str
    api_key: str = field(repr=False)
    idle_s: float = 60.0
    """How long an answer may be silent. Any byte counts: some servers send signs of life while a model thinks."""

    @property
    def place(self) -> str:
        """Where it is, for a message: an address may carry a password that must not be told."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class Lazy(Generic[Client]):
    """A client of an SDK that is made when it is first needed, in a thread: importing one takes a second."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._making = asyncio.Lock()
        self._client: Client | None = None

    async def get(self) -> Client:
        """The one client."""
        if self._client is None:
            async with self._making:
                if self._client is None:
                    self._client = await asyncio.to_thread(self._make)
        return self._client

    def made(self) -> Client | None:
        """The client, if there is one yet."""
        return self._client


def http_client(endpoint: Endpoint) -> "httpx2.AsyncClient":
    """Connections with our patience. Redirects are not followed: a key goes nowhere but where it was sent."""
    import httpx2

    return httpx2.AsyncClient(timeout=timeout(endpoint), follow_redirects=False)


def timeout(endpoint: Endpoint) -> "httpx2.Timeout":
    """How long each step of a call may take."""
    import httpx2

    return httpx2.Timeout(endpoint.idle_s, connect=min(CONNECT_TIMEOUT_S, endpoint.idle_s), pool=None)


def silence(endpoint: Endpoint, error: Exception) -> ModelFault:
    """What a timeout of either SDK means: nobody was there, or somebody fell silent."""
    import httpx2

    if isinstance(error, httpx2.ConnectTimeout) or isinstance(error.__cause__, httpx2.ConnectTimeout):
        return faults.unreachable(f"no connection to {endpoint.place}")
    return faults.timed_out(endpoint.idle_s)


def cut_off(error: Exception) -> ModelFault:
    """What a broken connection of either SDK means, with the cause that it wraps."""
    cause = error.__cause__ or error
    return faults.unreachable(str(cause) or type(cause).__name__)
