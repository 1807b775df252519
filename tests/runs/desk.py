"""Runs that edit files with the real tools, under a real worker, and the patches that they leave."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runwire.host import Ended, Finished, RunHost
from runwire.journal.artifact import Artifact, ArtifactFilter
from runwire.native.tools.catalogue import Tools, Workbench
from runwire.native.tools.fetching import PinnedFetcher
from runwire.native.tools.schema import read_input
from runwire.native.tools.tool import ToolResult
from runwire.runs.hosting import Terms
from runwire.runs.patches import Patches
from runwire.workspace.locking import Locks
from runwire.workspace.sandbox.bare import Bare
from tests.runs.house import House

Call = tuple[str, Mapping[str, object]]


@dataclass
class Desk:
    """One house, one workspace, and whoever decides about patches."""

    house: House
    workspace: Path
    patches: Patches

    def tools(self) -> Tools:
        """The tools of runs here."""
        ground = self.house.ground
        return Tools(
            Workbench(
                sandbox=Bare(),
                applier=self.patches.applier,
                locks=self.patches.locks,
                clock=ground.clock,
                ids=ground.ids,
                http=PinnedFetcher(),
                secrets=self.house.secrets,
                inherited={"PATH": "/usr/bin:/bin"},
            )
        )

    @asynccontextmanager
    async def live(self, calls: Sequence[Call], *, auto: bool = False) -> AsyncGenerator[str]:
        """A run that has made these calls and goes on until the block is left."""
        called, leave = asyncio.Event(), asyncio.Event()

        async def work(host: RunHost) -> Ended:
            async with self.tools().open(host) as toolset:
                for number, (name, given) in enumerate(calls):
                    tool = next(one for one in toolset.tools if one.name == name)
                    result: ToolResult = await tool.run(read_input(tool, given), toolset.context(f"call_{number}", 0))
                    assert result.outcome == "completed", result
            called.set()
            await leave.wait()
            return Finished()

        stop = asyncio.Event()
        worker = self.house.worker(work, terms=Terms(auto_apply=auto, allow_unconfined=True))
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(worker.work(stop))
            run_id = await self.house.run(workspace={"path": str(self.workspace), "mode": "in_place"})
            over = group.create_task(self.house.end(run_id))
            await asyncio.wait({group.create_task(called.wait()), over}, return_when=asyncio.FIRST_COMPLETED)
            assert called.is_set(), (await self.house.log(run_id))[-1]
            try:
                yield run_id
            finally:
                leave.set()
                await over
                stop.set()

    async def done(self, calls: Sequence[Call], *, auto: bool = False) -> str:
        """A run that has made these calls and is over."""
        async with self.live(calls, auto=auto) as run_id:
            pass
        return run_id

    async def patches_of(self, run_id: str) -> list[Artifact]:
        """What the run has made, the oldest first."""
        page = await self.house.ground.artifacts.list(ArtifactFilter(kind="patch", run_id=run_id), limit=500)
        return page.artifacts[::-1]

    async def open_rows(self) -> int:
        """How many patches are being written, as far as the store knows."""
        return await self.house.journal.reader.query(lambda db: int(str(db.execute("SELECT count(*) FROM writes").get)))


def desk_in(house: House, workspace: Path) -> Desk:
    """A desk of its own, as another process would have it."""
    patches = Patches(ground=house.ground, locks=Locks(house.data / "locks"), undo=house.data / "undo")
    return Desk(house, workspace, patches)
