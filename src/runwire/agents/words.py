"""What a model says in one turn, block by block: text, and reasoning. A block ends as the sum of its pieces."""

from runwire.agents.told import Told
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta

Key = str | int | None
"""What an agent itself calls a block."""


class Words:
    """Keeps the blocks of the turn at hand. One block is open at a time."""

    def __init__(self, told: Told) -> None:
        """Tell of blocks."""
        self._told = told
        self._turn = 0
        self._block = 0
        self._pieces: list[str] | None = None
        self._key: Key = None
        self._is_thought = False
        self.said = ""
        """The last whole text."""

    @property
    def is_open(self) -> bool:
        """Whether a block is open."""
        return self._pieces is not None

    def turn_begins(self, turn: int) -> None:
        """Count blocks anew."""
        self._turn, self._block = turn, 0

    def goes_on(self, delta: str, key: Key, *, is_thought: bool = False) -> bool:
        """Add to the open block, if the piece belongs to it; say whether it does."""
        if self._pieces is None or self._key != key or self._is_thought is not is_thought:
            return False
        if delta:
            self._pieces.append(delta)
            kind = AssistantThinkingDelta if is_thought else AssistantTextDelta
            if type(self._told.piece) is kind:
                self._told.go_on(delta)
            else:
                self._told.begin_piece(kind(turn_index=self._turn, block_index=self._block, delta=delta))
        return True

    def begin(self, delta: str, key: Key, *, is_thought: bool = False) -> None:
        """Begin a block with its first piece; the open one ends before."""
        self.close()
        self._pieces, self._key, self._is_thought = [delta], key, is_thought
        kind = AssistantThinkingDelta if is_thought else AssistantTextDelta
        self._told.begin_piece(kind(turn_index=self._turn, block_index=self._block, delta=delta))

    def whole(self, text: str, *, is_thought: bool = False) -> None:
        """A block that was not streamed; or the end of the open one of its kind, whose pieces are then the text."""
        streamed = self._pieces is not None and self._is_thought is is_thought
        self.close()
        if not streamed:
            # All of it is one piece, so that its pieces are the text for whoever reads only those.
            self.begin(text, None, is_thought=is_thought)
            self.close()

    def close(self) -> None:
        """Nothing more will come of the open block."""
        if self._pieces is not None:
            text, self._pieces, self._key = "".join(self._pieces), None, None
            self._complete(text, is_thought=self._is_thought)

    def _complete(self, text: str, *, is_thought: bool) -> None:
        kind = AssistantThinkingComplete if is_thought else AssistantTextComplete
        self._told.say(kind(turn_index=self._turn, block_index=self._block, text=text))
        self._block += 1
        if not is_thought:
            self.said = text
