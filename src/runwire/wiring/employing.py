"""A worker, with the executors that it carries runs out with. Most commands, and the start of a gateway, need none of this."""

import random
from collections.abc import Mapping
from pathlib import Path

from runwire.host import Executor
from runwire.native.direct import DirectExecutor
from runwire.native.executor import AgentLoop, Pacing
from runwire.native.tools.catalogue import Tools, Workbench
from runwire.native.tools.fetching import PinnedFetcher
from runwire.native.tools.tool import ToolSettings
from runwire.native.tools.web_search import Searxng
from runwire.runs.hiring import Job, hire
from runwire.runs.hooks import Hooks
from runwire.runs.hosting import Deciding
from runwire.runs.lease import Lease
from runwire.runs.permitting import Permits
from runwire.runs.settling import Settles
from runwire.runs.supervisor import Manners
from runwire.runs.worker import Worker
from runwire.wiring.agents import agent_executors
from runwire.wiring.office import Office
from runwire.wiring.opening import Opened
from runwire.workspace.limits import Groups
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Sandbox


def worker_of(opened: Opened, office: Office, sandbox: Sandbox, slots: int) -> Worker:
    """A worker that carries out so many runs at a time."""
    config, ground = opened.config, opened.ground
    journal, clock, ids = ground.journal, ground.clock, ground.ids
    hooks = Hooks(journal=journal, environ=opened.environ, known=lambda: opened.known.values)
    permits = Permits(
        approvals=office.approvals,
        grants=office.grants,
        policies=office.policies,
        hooks=hooks,
        ids=ids,
        surroundings=office.surroundings,
    )
    toolbox = Tools(_workbench(opened, office, sandbox))
    direct = DirectExecutor(toolbox=toolbox, clock=clock)
    pacing = Pacing(rng=random.random, max_attempts=config.max_attempts)
    executors: Mapping[str, Executor] = {
        **agent_executors(opened, office, sandbox),
        "native:agent_loop": AgentLoop(models=opened.models, toolbox=toolbox, clock=clock, ids=ids, pacing=pacing),
        "native:shell": direct,
        "native:git": direct,
        "native:file": direct,
    }
    lease = Lease(
        journal=journal, clock=clock, worker_id=ids.new("worker"), folder=opened.workers, lease_s=config.lease_s
    )
    return hire(
        Job(
            ground=ground,
            executors=executors,
            deciding=Deciding(permits, Settles(policies=office.policies, hooks=hooks), office.policies.terms),
            starter=office.starter,
            cancelling=office.cancelling,
            vault=office.vault,
            lease=lease,
            slots=slots,
            manners=Manners(park_after_s=config.park_after_s, close_grace_s=config.close_grace_s),
            expire=office.approvals.expire,
            settle_writes=office.patches.settle,
        )
    )


def _workbench(opened: Opened, office: Office, sandbox: Sandbox) -> Workbench:
    config, ground = opened.config, opened.ground
    return Workbench(
        sandbox=sandbox,
        applier=office.patches.applier,
        locks=office.patches.locks,
        clock=ground.clock,
        ids=ground.ids,
        http=PinnedFetcher(),
        secrets=opened.known,
        inherited=opened.environ,
        search=None if config.search_url is None else Searxng(config.search_url),
        settings=ToolSettings(output_limit_bytes=config.output_limit_bytes),
        hidden=hidden_paths(data=config.data, home=Path.home()),
        groups=Groups.of_this_process(),
    )
