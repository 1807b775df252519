"""What the gateway serves from. Filled in one place, by the wiring; handed to every route."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from runwire.agents.registry import Registry
from runwire.clock import Clock
from runwire.config import Config
from runwire.gateway.audience import Audiences
from runwire.gateway.origins import Origins
from runwire.gateway.tally import Tally
from runwire.gateway.tenure import Tenures
from runwire.ids import Ids
from runwire.journal.artifacts import Artifacts
from runwire.journal.importing import Importer
from runwire.journal.journal import Journal
from runwire.journal.replies import Replies
from runwire.journal.retention import Retention
from runwire.journal.tokens import Tokens
from runwire.runs.approvals import Approvals
from runwire.runs.cancelling import Cancelling
from runwire.runs.demo.demo import Demo
from runwire.runs.grants import Grants
from runwire.runs.ingesting import Ingesting
from runwire.runs.messages import Messages
from runwire.runs.patches import Patches
from runwire.runs.starting import Starter
from runwire.runs.tasks import Tasks

BUILT = Path(__file__).parents[1] / "console"
"""Where `make console` puts the console, and where a wheel has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What has to do with runs that are carried out here."""

    tasks: Tasks
    starter: Starter
    cancelling: Cancelling
    messages: Messages
    ingesting: Ingesting
    approvals: Approvals
    grants: Grants
    patches: Patches
    registry: Registry
    demo: Demo
    providers: tuple[str, ...]
    """Whose models were set up here."""
    sandbox_layer: str
    """What confines the commands of agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Open parts of one data directory, and how this process fares with them."""

    config: Config
    clock: Clock
    ids: Ids
    journal: Journal
    artifacts: Artifacts
    tokens: Tokens
    replies: Replies
    importer: Importer
    retention: Retention
    runtime: Runtime
    console: Path = BUILT
    """Where the console's files lie, once they are built."""
    tally: Tally = field(default_factory=Tally)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process is about to end: streams end, so that their readers resume elsewhere."""
    audiences: Audiences = field(init=False)
    """Who follows which run, live."""
    tenures: Tenures = field(init=False)
    """Which token keeps which streams open."""
    origins: Origins = field(init=False)
    """What runs are called, and where they come from."""

    def __post_init__(self) -> None:
        """Make room for those who will follow."""
        audiences = Audiences(journal=self.journal, closing=self.closing, heartbeat_s=self.config.heartbeat_s)
        object.__setattr__(self, "audiences", audiences)
        object.__setattr__(self, "tenures", Tenures(self.clock))
        object.__setattr__(self, "origins", Origins(self.journal))

    def close_streams(self) -> None:
        """Tell every stream to end."""
        self.closing.set()
        self.journal.bell.ring_all()
