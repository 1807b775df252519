"""Calls: how a request becomes an answer of a known shape. What the parts of the client stand on."""

from collections.abc import Mapping
from secrets import token_hex
from typing import TypeVar
from urllib.parse import quote

import msgspec

from runwire.client.connection import PREFIX, Call, Connection

_T = TypeVar("_T")
# Taking in a file or pruning a store is one answer to a lot of work.
WORK_S = 3600.0


class Calls:
    """One connection to a gateway, and the few ways of asking over it."""

    _connection: Connection

    async def _get(self, path: str, kind: type[_T], params: Mapping[str, str] | None = None) -> _T:
        return await self._connection.ask(Call(path=PREFIX + path, params=params), kind)

    async def _post(self, path: str, kind: type[_T], body: bytes, *, key: str | None = None) -> _T:
        # A key of our own lets the gateway recognise a request that was repeated on the way.
        headers = {"content-type": "application/json", "idempotency-key": key or token_hex(16)}
        call = Call(method="POST", path=PREFIX + path, headers=headers, content=body, silence_s=WORK_S)
        return await self._connection.ask(call, kind)

    async def _ask(self, path: str, kind: type[_T], **wishes: object) -> _T:
        """Post what is given as JSON; what is None is left out."""
        given = {name: value for name, value in wishes.items() if value is not None}
        return await self._post(path, kind, msgspec.json.encode(given))

    async def _delete(self, path: str) -> None:
        async with self._connection.open(Call(method="DELETE", path=PREFIX + path)):
            return


def segment(identifier: str) -> str:
    """An id as one part of a path."""
    return quote(identifier, safe="")


def given(**params: object) -> dict[str, str]:
    """The parameters of a query that have a value."""
    return {name: str(value) for name, value in params.items() if value is not None}
