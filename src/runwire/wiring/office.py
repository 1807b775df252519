"""Who decides about runs and who hands out work, put together for one data directory."""

import socket
from dataclasses import dataclass
from pathlib import Path

from runwire.runs.accepting import Acceptance
from runwire.runs.approvals import Approvals
from runwire.runs.cancelling import Cancelling
from runwire.runs.claiming import Ending
from runwire.runs.edits import PolicedEdits, read_by_tool
from runwire.runs.grants import Grants
from runwire.runs.patches import Patches
from runwire.runs.policies import Policies
from runwire.runs.starting import Starter
from runwire.runs.surroundings import Surroundings
from runwire.runs.tasks import Tasks
from runwire.runs.vault import Vault
from runwire.runs.workplaces import MadeWorkplaces
from runwire.wiring.naming import NamedAgents
from runwire.wiring.opening import Opened
from runwire.workspace.locking import Locks
from runwire.workspace.making import Maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """Who decides and who hands out work."""

    policies: Policies
    approvals: Approvals
    grants: Grants
    vault: Vault
    starter: Starter
    cancelling: Cancelling
    patches: Patches
    tasks: Tasks
    surroundings: Surroundings


def office_of(opened: Opened) -> Office:
    """Everybody who decides, on an open data directory."""
    config, ground = opened.config, opened.ground
    journal, clock = ground.journal, ground.clock
    policies = Policies(
        configured=config.policy,
        hooks=config.hooks,
        approval_timeout_s=config.approval_timeout_s,
        max_turns=config.max_turns,
        allow_unconfined=config.allow_unconfined,
    )
    surroundings = Surroundings(data=config.data, unconfined=opened.sandbox is not None and not opened.sandbox.confines)
    edits = PolicedEdits(journal=journal, read_ask=read_by_tool, policies=policies, surroundings=surroundings)
    vault = Vault(folder=config.data / "vault", secrets=opened.known, redactor=journal.redactor)
    places = MadeWorkplaces(maker=Maker(environ=opened.environ), folder=config.workspaces or config.data / "workspaces")
    patches = _patches(opened)
    starter = Starter(ground=ground, workplaces=places, vault=vault, replay=patches.replay)
    ending = Ending(ground=ground, folder=opened.workers, host=socket.gethostname())
    acceptance = Acceptance(agents=NamedAgents(config.agents), models=opened.models, cwd=Path.cwd())
    return Office(
        policies=policies,
        approvals=Approvals(journal=journal, clock=clock, ids=ground.ids, edits=edits),
        grants=Grants(journal=journal, clock=clock),
        vault=vault,
        starter=starter,
        cancelling=Cancelling(ground=ground, ending=ending),
        patches=patches,
        tasks=Tasks(
            ground=ground,
            starter=starter,
            vault=vault,
            workplaces=places,
            retention=opened.retention,
            accept=acceptance.accept,
        ),
        surroundings=surroundings,
    )


def _patches(opened: Opened) -> Patches:
    config = opened.config
    return Patches(
        ground=opened.ground,
        locks=Locks(config.data / "locks"),
        undo=config.data / "undo",
    )
