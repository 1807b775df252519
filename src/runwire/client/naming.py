"""Ids as people type them: whole, or only as much of the beginning as tells one from the others."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec

from runwire.client.answers import Listing
from runwire.client.client import Client
from runwire.errors import GatewayError, InvalidRequest
from runwire.ids import is_id

# So many are named to somebody who has to choose.
_CANDIDATES_MAX = 8
_NOT_FOUND = 404


class AmbiguousId(InvalidRequest):
    """The beginning of an id fits more than one."""

    code = "ambiguous_id"

    def __init__(self, text: str, kind: str, candidates: list[str], *, more: bool) -> None:
        named = ", ".join(candidates) + (" and others" if more else "")
        super().__init__(
            f"more than one {kind} begins with {text[:64]}",
            hint=f"type more of it: {named}",
            details={"candidates": candidates},
        )


@dataclass(frozen=True, slots=True)
class _Kind:
    """What has ids: its name, the prefix of ours, the field that holds the id, and how to list and to find one."""

    name: str
    prefix: str
    field: str
    listed: Callable[[Client, str], Awaitable[Listing]]
    found: Callable[[Client, str], Awaitable[object]]


_RUN = _Kind(
    "run",
    "run",
    "run_id",
    lambda client, text: client.runs(limit=_CANDIDATES_MAX + 1, id_prefix=text),
    lambda client, text: client.run(text),
)
_APPROVAL = _Kind(
    "approval",
    "appr",
    "approval_id",
    lambda client, text: client.approvals(None, limit=_CANDIDATES_MAX + 1, id_prefix=text),
    lambda client, text: client.approval(text),
)
_ARTIFACT = _Kind(
    "artifact",
    "art",
    "id",
    lambda client, text: client.artifacts(limit=str(_CANDIDATES_MAX + 1), id_prefix=text),
    lambda client, text: client.artifact(text),
)


async def run_named(client: Client, text: str) -> str:
    """The id of the run that `text` names; `text` itself when there is none, so that asking for it says so."""
    return await _named(client, _RUN, text)


async def approval_named(client: Client, text: str) -> str:
    """The id of the approval that `text` names, or `text` itself."""
    return await _named(client, _APPROVAL, text)


async def artifact_named(client: Client, text: str) -> str:
    """The id of the artifact that `text` names, or `text` itself."""
    return await _named(client, _ARTIFACT, text)


async def _named(client: Client, kind: _Kind, text: str) -> str:
    if not text or is_id(kind.prefix, text):
        # A whole id needs no looking up.
        return text
    listing = await kind.listed(client, text)
    listed = [str(msgspec.json.decode(one, type=dict[str, object])[kind.field]) for one in listing.data]
    # A gateway of another release may not know the filter.
    fitting = [each for each in listed if each.startswith(text)]
    if text in fitting or not fitting:
        return text
    if len(fitting) == 1 and not listing.has_more:
        return fitting[0]
    if await _is_there(client, kind, text):
        return text
    raise AmbiguousId(text, kind.name, fitting[:_CANDIDATES_MAX], more=len(fitting) > _CANDIDATES_MAX)


async def _is_there(client: Client, kind: _Kind, text: str) -> bool:
    """Whether the text is an id as it stands: those made elsewhere may begin others."""
    try:
        await kind.found(client, text)
    except GatewayError as error:
        if error.status != _NOT_FOUND:
            raise
        return False
    return True
