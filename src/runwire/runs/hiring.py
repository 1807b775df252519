"""Puts a worker together from what it needs. It decides nothing; wiring says what it is given."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from runwire.host import Executor
from runwire.runs.cancelling import Cancelling
from runwire.runs.children import Children
from runwire.runs.hosting import Deciding, Ground
from runwire.runs.lease import Lease
from runwire.runs.queue import Queue
from runwire.runs.starting import Starter
from runwire.runs.supervisor import Manners, Supervisor
from runwire.runs.vault import Vault
from runwire.runs.worker import Expire, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker works with."""

    ground: Ground
    executors: Mapping[str, Executor]
    """By `agent:kind`, by agent alone, or by the family of agents such as `acp:NAME`."""
    deciding: Deciding
    starter: Starter
    cancelling: Cancelling
    vault: Vault
    lease: Lease
    slots: int = 4
    manners: Manners = field(default_factory=Manners)
    expire: Expire | None = None
    settle_writes: Callable[[str], Awaitable[object]] | None = None


def hire(job: Job) -> Worker:
    """A worker that has not begun."""
    ground = job.ground
    children = Children(ground=ground, starter=job.starter, cancelling=job.cancelling, lend=lambda: worker.lend())  # noqa: PLW0108 - the worker is made last, with what is made here
    supervisor = Supervisor(
        ground=ground,
        executors=job.executors,
        deciding=job.deciding,
        unsealed=job.vault.open,
        children=children,
        manners=job.manners,
    )
    queue = Queue(ground=ground, lease=job.lease, settle_writes=job.settle_writes)
    worker = Worker(
        slots=job.slots, ground=ground, queue=queue, supervisor=supervisor, lease=job.lease, expire=job.expire
    )
    return worker
