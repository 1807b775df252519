"""The machine under the figures: what it is, which cores each side gets, how much memory a process holds.

Pinning: where there are two cores or more the load client has the last core to itself and every server (ours, limit,
rival alike) has all the others, so that no server gains by stealing the client's time. On two cores a server's threads
therefore share one core: ours pays there for its writer and sealer. In-process append measurements are not pinned:
producers and writer may use the whole machine, for ours and for the rival.
"""

import os
import platform
import sqlite3
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cores:
    """Which cores servers and the load client may use."""

    server: frozenset[int]
    client: frozenset[int]


def share_out(pin: bool = True) -> Cores:
    """Give the last core to the client and the rest to servers; all to both when there is one, or no pinning is wanted."""
    cores = sorted(os.sched_getaffinity(0))
    if not pin or len(cores) < 2:
        return Cores(server=frozenset(cores), client=frozenset(cores))
    return Cores(server=frozenset(cores[:-1]), client=frozenset(cores[-1:]))


def resident_kb(pid: int) -> int:
    """Resident memory of a process now, in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError(f"process {pid} has no resident memory to read")


def describe(cores: Cores) -> dict[str, str]:
    """The facts a reader needs before comparing these figures with others."""
    return {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "server cores": ",".join(map(str, sorted(cores.server))),
        "client cores": ",".join(map(str, sorted(cores.client))),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": _sqlite_version(),
        "load average": "/".join(f"{value:.1f}" for value in os.getloadavg()),
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _sqlite_version() -> str:
    try:
        import apsw
    except ImportError:
        return sqlite3.sqlite_version
    return str(apsw.sqlite_lib_version())
