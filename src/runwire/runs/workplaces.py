"""Workplaces: the folders that runs are given, each of its own, below one folder of ours."""

from pathlib import Path

from runwire.journal.disk import answering, make_folder
from runwire.runs.rows.tasks import Workplace
from runwire.workspace.making import Maker


class MadeWorkplaces:
    """Makes and removes workplaces, as `runs.starting.Workplaces` promises."""

    def __init__(self, *, maker: Maker, folder: Path) -> None:
        """Put what is made into `folder`, by the id of its run."""
        self._maker = maker
        self._folder = folder

    async def make(self, *, task_id: str, run_id: str, path: Path | None, mode: str) -> Workplace:  # noqa: ARG002 - the Protocol's signature
        """A place of the mode, out of `path`; one that cannot be is a WorkspaceInvalid."""
        if mode != "in_place":
            with answering():
                make_folder(self._folder)
        made = await self._maker.make(mode, path, self._folder / run_id)
        return Workplace(made.path, mode, path)

    async def remove(self, place: Workplace) -> None:
        """Remove what `make` has made; a place that was there before stays."""
        if place.mode == "in_place":
            return
        # A run may work somewhere inside of what was made for it.
        folder = self._folder.resolve()
        if not place.path.is_relative_to(folder):
            return
        first = place.path.relative_to(folder).parts[0]
        await self._maker.remove(place.mode, place.source, folder / first)
