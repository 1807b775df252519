"""Our own API from Python: every call of the gateway, and streams that resume by themselves."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Self

import httpx2
import msgspec

from runwire.client.answers import (
    Artifact,
    ArtifactAnswer,
    EventPage,
    FeedPage,
    Health,
    Imported,
    Listing,
    NewToken,
    Pruned,
    PruneReport,
    Run,
)
from runwire.client.calls import WORK_S, given, segment
from runwire.client.connection import PREFIX, Call, Connection
from runwire.client.cursors import Cursor, FeedCursor, PaneCursor, RunCursor
from runwire.client.deciding import Deciding
from runwire.client.exporting import Exporter, Wanted
from runwire.client.following import Follower
from runwire.client.items import Event, FeedItem, PaneItem, RunItem
from runwire.client.patience import Patience
from runwire.client.working import Working
from runwire.protocol.envelope import sequence_of


class Client(Working, Deciding):
    """Calls one gateway. Use it as an async context manager; every failure is a GatewayError."""

    def __init__(
        self,
        url: str,
        token: str | None,
        transport: httpx2.AsyncBaseTransport | None = None,
        *,
        patience: Patience | None = None,
    ) -> None:
        """Call the gateway at `url` with `token`; `transport` replaces the network, as the embedded gateway does."""
        self.url = url.rstrip("/")
        self._connection = Connection(url=url, token=token, transport=transport)
        patience = patience or Patience()
        self._follower = Follower(self._connection, patience)
        self._exporter = Exporter(self._connection, patience)

    async def __aenter__(self) -> Self:
        await self._connection.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.__aexit__()

    # Looking

    async def health(self, *, within_s: float = 5.0) -> Health:
        """Whether a gateway answers at all; this needs no token."""
        return await self._connection.ask(Call(path="/healthz", silence_s=within_s), Health)

    async def runs(self, *, limit: int | None = None, cursor: str | None = None, **filters: str) -> Listing:
        """Runs, newest first, each as raw JSON; decode one with `Run`."""
        return await self._get("/runs", Listing, given(limit=limit, cursor=cursor, **filters))

    async def run(self, run_id: str) -> Run:
        """One run."""
        return msgspec.json.decode(await self.run_json(run_id), type=Run)

    async def run_json(self, run_id: str) -> bytes:
        """One run, as the bytes that the gateway sent."""
        return bytes(await self._get(f"/runs/{segment(run_id)}", msgspec.Raw))

    # Events of one run

    def events(self, run_id: str, after: int = -1, types: str | None = None) -> AsyncGenerator[RunItem]:
        """Every event past `after`, then new ones as they become durable, until the run is over; `Synced` once between.

        Nothing is lost and nothing comes twice, however often the connection breaks or the gateway restarts.
        """
        return self._follower.follow(RunCursor(_events_path(run_id), after=after, types=types))

    async def read(
        self, run_id: str, *, after: int = -1, types: str | None = None, limit: int | None = None
    ) -> EventPage:
        """One page of events past `after`."""
        params = given(after_sequence=after, type=types, limit=limit)
        return await self._connection.ask(Call(path=_events_path(run_id), params=params), EventPage)

    async def export(self, run_id: str, after: int = -1, types: str | None = None) -> AsyncGenerator[bytes]:
        """Every envelope that is stored now, past `after`; it goes on where it was when the connection breaks."""
        head = (await self.run(run_id)).head_sequence
        async with aclosing(self._exporter.lines(Wanted(_events_path(run_id), after, types, head))) as lines:
            async for line in lines:
                yield line

    async def append(self, run_id: str, event_type: str, data: object, *, key: str | None = None) -> Event:
        """Append an `external.*` event and return it as it is stored.

        Under the same `key` it is stored once, however often it is sent.
        """
        body = msgspec.json.encode({"type": event_type, "data": data})
        stored = bytes(await self._post(f"/runs/{segment(run_id)}/events", msgspec.Raw, body, key=key))
        return Event(sequence_of(stored), stored)

    # Events of all runs

    async def feed(self, *, cursor: str | None = None, limit: int | None = None, **filters: str) -> FeedPage:
        """One page of the feed, from `cursor` on."""
        return await self._get("/events", FeedPage, given(cursor=cursor, limit=limit, **filters))

    async def watch(self, *, cursor: str | None = None, start: str = "now", **filters: str) -> AsyncGenerator[FeedItem]:
        """Every event of all runs from now on, from the `start`, or from a cursor; it never ends by itself."""
        if cursor is None and start == "now":
            # A connection that breaks before the first event would otherwise begin at a later "now".
            cursor = (await self._get("/events", FeedPage, {"from": "now", "limit": "1"})).next_cursor
        place = {} if cursor is not None else {"from": start}
        at: Cursor[FeedItem] = FeedCursor(f"{PREFIX}/events/stream", cursor=cursor, filters={**place, **filters})
        async with aclosing(self._follower.follow(at)) as items:
            async for item in items:
                yield item

    def watch_panes(self) -> AsyncGenerator[PaneItem]:
        """The pane of every run, and each again whenever it changes; it never ends by itself.

        `PanesSynced` comes when all of them have been told, and once more after every connection that was lost.
        """
        return self._follower.follow(PaneCursor(f"{PREFIX}/panes/stream"))

    # Keeping house

    async def import_log(self, lines: AsyncIterable[bytes], *, agent: str | None = None) -> Imported:
        """Take in a file of envelopes, sent as it is read; `agent` says who made it."""
        call = Call(
            method="POST",
            path=f"{PREFIX}/import",
            params=given(agent=agent),
            headers={"content-type": "application/x-ndjson"},
            content=lines,
            silence_s=WORK_S,
        )
        return await self._connection.ask(call, Imported)

    async def ingest(self, agent: str, stream: AsyncIterable[bytes], *, run_id: str | None = None) -> bytes:
        """Take in the raw stream of an agent, sent as it is read; the run it became, as raw JSON, when it has ended."""
        call = Call(
            method="POST",
            path=f"{PREFIX}/ingest",
            params=given(agent=agent, run_id=run_id),
            headers={"content-type": "application/octet-stream"},
            content=stream,
            silence_s=WORK_S,
        )
        return bytes(await self._connection.ask(call, msgspec.Raw))

    async def prune(self, wishes: Mapping[str, object]) -> list[Pruned]:
        """Remove old events, or with `dry_run` only say which."""
        return (await self._post("/prune", PruneReport, msgspec.json.encode(wishes))).data

    async def tokens(self) -> Listing:
        """Every token as raw JSON, without its secret."""
        return await self._get("/tokens", Listing)

    async def create_token(self, name: str, scopes: Sequence[str], *, ttl_s: float | None = None) -> NewToken:
        """Make a token. Its secret is shown this once."""
        wishes = {"name": name, "scopes": list(scopes)} | ({} if ttl_s is None else {"ttl_s": ttl_s})
        return await self._post("/tokens", NewToken, msgspec.json.encode(wishes))

    async def revoke_token(self, token_id: str) -> None:
        """Make a token worthless."""
        await self._delete(f"/tokens/{segment(token_id)}")

    # Artifacts

    async def artifacts(self, **filters: str) -> Listing:
        """Artifacts by kind, run_id or status, each as raw JSON."""
        return await self._get("/artifacts", Listing, filters)

    async def artifact(self, artifact_id: str) -> Artifact:
        """What is known about one artifact."""
        return (await self._get(f"/artifacts/{segment(artifact_id)}", ArtifactAnswer)).data

    async def diff(self, artifact_ids: Iterable[str]) -> str:
        """What some patches change, as one diff."""
        return "".join([(await self.artifact(one)).diff or "" for one in artifact_ids])

    async def artifact_bytes(self, artifact_id: str) -> AsyncGenerator[bytes]:
        """The bytes of an artifact, as they come."""
        call = Call(path=f"{PREFIX}/artifacts/{segment(artifact_id)}/raw", headers={"accept-encoding": "identity"})
        async with self._connection.open(call) as response:
            async for chunk in self._connection.chunks(response):
                yield chunk

    async def pin(self, artifact_id: str) -> Artifact:
        """Keep an artifact whatever happens to its run."""
        return (await self._post(f"/artifacts/{segment(artifact_id)}/pin", ArtifactAnswer, b"")).data

    async def unpin(self, artifact_id: str) -> Artifact:
        """Let an artifact go with its run again."""
        return (await self._post(f"/artifacts/{segment(artifact_id)}/unpin", ArtifactAnswer, b"")).data


def _events_path(run_id: str) -> str:
    return f"{PREFIX}/runs/{segment(run_id)}/events"
