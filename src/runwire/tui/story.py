"""A run as a story: what was said and done up to a place in its log, drawn by the blocks that every face draws from."""

import asyncio
from collections.abc import Callable, Sequence

from runwire.client.client import Client
from runwire.client.render.blocks import Block, Edit, told_elsewhere
from runwire.client.render.drawing import Drawing
from runwire.client.render.text import lines_of
from runwire.errors import GatewayError
from runwire.tui.rows import Piece, Reading

_PAGE = 1000
_AGAIN_S = 1.0
LATEST = 400
"""How many blocks are drawn: the last ones. The timeline has the rest."""


class Story(Reading):
    """The blocks of a run up to an event. What was told before stays told while the place moves on."""

    def __init__(self, client: Client, run_id: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.following = True
        self.drawing = Drawing()
        self._client = client
        self._run_id = run_id
        self._lines: list[Sequence[Piece]] = []
        self._drawn: dict[int, tuple[int, list[Sequence[Piece]]]] = {}
        self._width = 0
        self._aim = -1
        self._called = asyncio.Event()
        self._diffs: dict[tuple[str, ...], str] = {}

    def pieces(self, row: int, width: int) -> Sequence[Piece]:  # noqa: ARG002 - they are drawn for it already
        """One line of a block."""
        return self._lines[row]

    def aim(self, sequence: int) -> None:
        """Tell the run up to this event, as soon as that can be."""
        self._aim = sequence
        self._called.set()

    async def keep_telling(self, troubled: Callable[[GatewayError], None]) -> None:
        """Tell what is asked for, for ever; a read that failed is told, and tried again."""
        while True:
            await self._called.wait()
            self._called.clear()
            try:
                await self._tell()
            except GatewayError as error:
                troubled(error)
                await asyncio.sleep(_AGAIN_S)
                self._called.set()

    async def _tell(self) -> None:
        """Go on to where we are to be; going back means telling it anew. What is told so far is seen meanwhile."""
        if self._aim < self.drawing.head:
            self.drawing, self._drawn = Drawing(), {}
        more = True
        while more and self.drawing.head < self._aim:
            before = self.drawing.head
            page = await self._client.read(self._run_id, after=before, limit=min(_PAGE, self._aim - before))
            for raw in page.data:
                self.drawing.take(bytes(raw))
            more = page.has_more and before < self.drawing.head
            self.draw()
        self.draw()
        await self._show_diffs()

    async def _show_diffs(self) -> None:
        """Get the diffs of the edits that are drawn, the last first, until something else is asked for."""
        for block in reversed(self.drawing.blocks[-LATEST:]):
            if self._called.is_set():
                return
            if isinstance(block, Edit) and block.diff is None:
                if block.artifact_ids not in self._diffs:
                    self._diffs[block.artifact_ids] = await self._diff(block)
                self.drawing.show_diff(block.artifact_ids, self._diffs[block.artifact_ids])
                self.draw()

    async def _diff(self, block: Edit) -> str:
        try:
            return await self._client.diff(block.artifact_ids)
        except GatewayError:
            # Without it, the edit is told all the same.
            return ""

    def draw(self) -> None:
        """Put the lines of the last blocks together; only blocks that have changed are drawn anew."""
        width = self.fold_width
        if width <= 0:
            return
        if width != self._width:
            self._width, self._drawn = width, {}
        blocks = self.drawing.blocks[-LATEST:]
        left_out = len(self.drawing.blocks) - len(blocks)
        self._lines = [] if not left_out else [[(f"… {left_out} before these are in the timeline (t)", "dim")]]
        kept: dict[int, tuple[int, list[Sequence[Piece]]]] = {}
        for block in blocks:
            kept[block.index] = self._one(block)
            self._lines += kept[block.index][1]
        self._drawn = kept
        self.resize(len(self._lines))

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.draw()
        super().on_resize()

    def _one(self, block: Block) -> tuple[int, list[Sequence[Piece]]]:
        known = self._drawn.get(block.index)
        if known is not None and known[0] == block.revision:
            return known
        lines = [] if told_elsewhere(block) else lines_of(block, self._width, now_ns=self.drawing.head_ns)
        return block.revision, [[(text, style) for text, style in line] for line in lines]
