"""Who belongs to a command."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runwire.workspace.environment import MARK
from runwire.workspace.tree import Tree, become_subreaper
from tests.workspace.commands import running


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    script = "sleep 604821 & setsid sleep 604821 & (setsid sh -c 'sleep 604821 & echo up; wait' &); wait"
    process = subprocess.Popen(
        ["/bin/sh", "-c", script],
        env={MARK: "m1", "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    yield process
    process.stdout.close()
    process.wait()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows the environment of others")
async def test_everybody_is_found_and_ended(child: subprocess.Popen[bytes]) -> None:
    tree = Tree(child.pid, mark="m1", group=None, is_namespaced=False)
    assert tree.count(most=100) >= 3
    assert tree.count(most=1) == 2
    found = {process.pid for process in tree.members()}
    assert set(running("604821")) <= found
    assert os.getpid() not in found
    assert await tree.end() == 0
    assert running("sleep\000604821") == []


async def test_a_stranger_with_another_mark_is_left_alone(child: subprocess.Popen[bytes]) -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "604822", env={MARK: "m2", "PATH": os.environ["PATH"]})
    tree = Tree(child.pid, mark="m1", group=None, is_namespaced=False)
    assert await tree.end(is_urgent=True) == 0
    assert stranger.returncode is None
    stranger.kill()
    assert await stranger.wait() == -signal.SIGKILL


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has subreapers")
def test_orphans_that_we_adopt_are_found_and_reaped() -> None:
    """In a process of its own: adopting orphans is for ever."""
    script = """
import asyncio, os, subprocess, sys
from runwire.workspace.tree import Tree, become_subreaper
assert become_subreaper()
given = {"RUNWIRE_CALL": "m3", "PATH": os.environ["PATH"]}
line = "(setsid sleep 604823 </dev/null >/dev/null 2>&1 &); echo up; exec sleep 604823"
child = subprocess.Popen(["/bin/sh", "-c", line], env=given, stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
tree = Tree(child.pid, mark="m3", group=None, is_namespaced=False)
orphans = lambda: [p for p in tree.members() if p.parent == os.getpid() and p.pid != child.pid]
while not orphans():
    pass
assert asyncio.run(tree.end()) == 0
child.wait()
left = open(f"/proc/self/task/{os.getpid()}/children").read().split()
assert left == [], left
print("none")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert (done.stdout, done.stderr) == ("none\n", "")


def test_a_tree_that_is_gone_has_no_members() -> None:
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    assert Tree(child.pid, mark="m4", group=None, is_namespaced=False).members() == ()
    assert callable(become_subreaper)
