"""What a command may take."""

import os
import subprocess
import time
from pathlib import Path

from runwire.workspace.limits import Groups, Limits, limited


def test_limits_are_set_inside_and_the_command_is_untouched() -> None:
    limits = Limits(processes=77, memory_bytes=1024**3, file_bytes=1024**2)
    argv = limited(
        ["/bin/sh", "-c", 'ulimit -c; ulimit -f; ulimit -d; echo "$1"', "sh", "a  b"],
        limits,
        early={},
        is_namespaced=False,
    )
    out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["0", "2048", "1048576", "a  b"]


def test_variables_for_the_loader_reach_the_command_alone() -> None:
    argv = limited(["/bin/sh", "-c", "echo $BASH_ENV"], Limits(), early={"BASH_ENV": "/x y"}, is_namespaced=False)
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "/x y\n"


def test_a_group_is_made_counted_and_removed(tmp_path: Path) -> None:
    group = Groups([tmp_path / "missing", tmp_path]).make(Limits(processes=9))
    assert group is not None
    (folder,) = tmp_path.iterdir()
    assert (folder / "pids.max").read_text() == "9"
    (folder / "cgroup.procs").write_text("12\n13\n")
    (folder / "pids.current").write_text("4\n")
    assert (group.pids(), group.count()) == (frozenset({12, 13}), 4)
    assert not group.remove()
    for name in os.listdir(folder):
        (folder / name).unlink()
    assert group.remove()
    assert group.remove()


def test_where_no_group_can_be_made_there_is_none(tmp_path: Path) -> None:
    assert Groups([tmp_path / "missing"]).make(Limits()) is None


def test_empty_groups_of_dead_workers_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    (tmp_path / "runwire-unknown").mkdir()
    (tmp_path / f"runwire-{gone.pid}-empty").mkdir()
    (tmp_path / f"runwire-{gone.pid}-busy").mkdir()
    (tmp_path / f"runwire-{gone.pid}-busy" / "cgroup.procs").write_text("1")
    (tmp_path / "others").mkdir()
    Groups([tmp_path]).sweep()
    assert sorted(os.listdir(tmp_path)) == ["others", f"runwire-{gone.pid}-busy"]


def test_a_group_that_nobody_has_entered_yet_is_not_swept_from_under_its_maker(tmp_path: Path) -> None:
    assert Groups([tmp_path]).make(Limits()) is not None
    (folder,) = tmp_path.iterdir()
    for name in os.listdir(folder):
        (folder / name).unlink()
    Groups([tmp_path]).sweep()
    assert list(tmp_path.iterdir()) == [folder]


def test_a_real_group_holds_who_enters_it() -> None:
    group = Groups.of_this_process().make(Limits(processes=5))
    if group is None:
        # Nobody gave this process a place for groups; then descent is counted, as the tests of processes show.
        return
    script = "cat /proc/self/cgroup; for i in 1 2 3 4 5 6 7; do sleep 0.01 & done; wait"
    done = subprocess.run(group.entering(["/bin/sh", "-c", script]), capture_output=True, text=True, check=False)
    assert "runwire-" in done.stdout
    assert "fork" in done.stderr.lower()
    deadline = time.monotonic() + 5
    while not group.remove():
        assert time.monotonic() < deadline
