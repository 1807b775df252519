"""Real attempts to get out, in every layer that this machine has, as its root and as a plain user."""

import asyncio
import os
import signal
import socket
import sys
import uuid
from pathlib import Path

import pytest

from runwire.journal.redaction.secrets import KnownValue
from runwire.workspace.environment import child_environment
from runwire.workspace.limits import Groups, Limits
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.spawning import Command
from tests.patience import PATIENCE_S
from tests.workspace.commands import Ran, run, running, sandboxes
from tests.workspace.conftest import Ground

LAYERS = sandboxes()
TOKEN = "the-token-of-this-gateway"

pytestmark = pytest.mark.skipif(not LAYERS, reason="these layers are Linux's")


@pytest.fixture(params=sorted(LAYERS))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return LAYERS[str(request.param)]


def walls(ground: Ground, *, network: bool = False, tmp: Path | None = None) -> Confinement:
    hidden = hidden_paths(data=ground.data, home=Path("/nonexistent"))
    return Confinement(workspace=ground.workspace, cwd=ground.workspace, hidden=hidden, network=network, tmp=tmp)


async def attempt(script: str, ground: Ground, sandbox: Sandbox) -> Ran:
    return await run(script, walls(ground), sandbox)


async def test_inside_a_command_works_as_anywhere(ground: Ground, sandbox: Sandbox) -> None:
    script = (
        "echo x > made && mkdir -p a/b && mv made a/b/ && cat a/b/made && echo $$ > /dev/null && echo e >&2; exit 7"
    )
    done = await attempt(script, ground, sandbox)
    assert (done.stdout, done.stderr, done.report.exit_code) == ("x\n", "e\n", 7)
    assert (ground.workspace / "a" / "b" / "made").read_text() == "x\n"
    assert done.report.sandbox_layer == sandbox.layer


@pytest.mark.parametrize(
    "script",
    [
        "echo x > ../outside/new",
        "echo x > {outside}/plain.txt",
        "echo x >> ../outside/plain.txt",
        "rm -f {outside}/plain.txt",
        "mv {outside}/plain.txt {outside}/moved",
        "chmod 000 {outside}/plain.txt",
        "ln -s {outside} way && echo x > way/plain.txt",
        "ln {outside}/plain.txt hard && echo x > hard",
        "echo x > /proc/self/root/{outside}/plain.txt",
        "echo x > /proc/1/root/{outside}/plain.txt",
        "echo x > /proc/self/cwd/../outside/plain.txt",
        "cd /proc/1/cwd && echo x > {outside}/plain.txt",
        "mount -o remount,rw / && echo x > {outside}/plain.txt",
        "mount -o remount,bind,rw {outside} && echo x > {outside}/plain.txt",
        "mount --bind {workspace} {outside} && echo x > {outside}/plain.txt",
        "unshare -Urm sh -c 'mount -o remount,bind,rw / && echo x > {outside}/plain.txt'",
        "unshare -Urm sh -c 'mount -o remount,rw / ; echo x > {outside}/plain.txt'",
        "touch /etc/runwire-was-here || touch /usr/runwire-was-here || touch /var/tmp/runwire-was-here",
    ],
)
async def test_nothing_outside_is_written(ground: Ground, sandbox: Sandbox, script: str) -> None:
    script = script.format(outside=ground.outside, workspace=ground.workspace)
    done = await attempt(f"echo begun; {script}", ground, sandbox)
    assert done.stdout.startswith("begun")
    assert done.report.exit_code != 0
    assert (ground.outside / "plain.txt").read_text() == "outside"
    assert os.listdir(ground.outside) == ["plain.txt"]
    for folder in ("/etc", "/usr", "/var/tmp"):
        assert not Path(folder, "runwire-was-here").exists()


@pytest.mark.parametrize(
    "script",
    [
        "cat {data}/token",
        "cat ../data/token",
        "cat /proc/self/root{data}/token",
        "cat /proc/1/root{data}/token",
        "cat /proc/*/root{data}/token",
        "ln -s {data} way; cat way/token",
        "ln {data}/token hard; cat hard",
        "umount {data}; cat {data}/token",
        "umount -l {data}; cat {data}/token",
        "unshare -Urm sh -c 'umount {data}; umount -l {data}; cat {data}/token'",
        "unshare -Urm sh -c 'mkdir m; mount --bind / m; cat m{data}/token'",
        "unshare -Urm sh -c 'mkdir m; mount --rbind / m; umount m{data}; cat m{data}/token'",
        "unshare -Urm sh -c 'mkdir m; mount --bind {place} m; cat m/data/token'",
        "grep -r {token} {place} /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -v grep",
        "find {place} -name token -exec cat {{}} +",
    ],
)
async def test_the_token_is_not_read(ground: Ground, sandbox: Sandbox, script: str) -> None:
    script = script.format(data=ground.data, place=ground.place, token=TOKEN[:9])
    done = await attempt(f"echo begun; {script}; echo tried", ground, sandbox)
    assert {"begun", "tried"} <= set(done.stdout.split())
    assert TOKEN not in done.stdout + done.stderr
    assert ground.token.read_text() == TOKEN


async def test_data_inside_the_workspace_is_hidden_too(ground: Ground, sandbox: Sandbox) -> None:
    data = ground.workspace / ".runwire"
    data.mkdir(mode=0o777)
    (data / "token").write_text(TOKEN)
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace, hidden=[data, data / "token"])
    done = await run("cat .runwire/token; ls -A .runwire; echo ok > seen; rm -rf .runwire/token", confinement, sandbox)
    assert TOKEN not in done.stdout + done.stderr
    assert (ground.workspace / "seen").exists()
    assert (data / "token").read_text() == TOKEN


async def test_a_hidden_file_is_neither_read_nor_written(ground: Ground, sandbox: Sandbox) -> None:
    keys = ground.outside / "plain.txt"
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace, hidden=[keys])
    done = await run(f"echo begun; cat {keys}; echo x > {keys}", confinement, sandbox)
    assert done.stdout == "begun\n"
    assert done.report.exit_code != 0
    assert keys.read_text() == "outside"


async def test_a_workspace_within_the_data_directory_is_seen_alone(ground: Ground, sandbox: Sandbox) -> None:
    workspace = ground.data / "workspaces" / "run"
    workspace.mkdir(parents=True)
    workspace.chmod(0o777)
    confinement = Confinement(workspace=workspace, cwd=workspace, hidden=[ground.data])
    done = await run("echo x > made; ls -A ../..; cat ../../token", confinement, sandbox)
    assert done.stdout == "workspaces\n"
    assert (workspace / "made").exists()


async def test_no_secret_is_in_any_environment(ground: Ground, sandbox: Sandbox) -> None:
    secret = f"sk-{uuid.uuid4().hex}"
    inherited = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": secret, "TERM": secret}
    environ = child_environment(inherited, {"MINE": f"x{secret}"}, known=[KnownValue("env.K", secret)], home="/tmp")
    done = await run("env; cat /proc/*/environ", walls(ground), sandbox, environ=environ)
    assert secret not in done.stdout
    assert "HOME=/tmp" in done.stdout


async def test_processes_outside_are_neither_seen_nor_signalled(ground: Ground, sandbox: Sandbox) -> None:
    done = await attempt(f"kill -0 {os.getpid()} && echo reached; ls /proc | grep -c '^[0-9]'", ground, sandbox)
    assert "reached" not in done.stdout
    assert int(done.stdout) < 12


async def test_settings_of_the_kernel_cannot_be_opened_for_writing(ground: Ground, sandbox: Sandbox) -> None:
    # Opened and not written: were there a hole, the test should not fall into it.
    script = "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do true >> $f && echo $f; done"
    done = await attempt(f"{script}; echo tried", ground, sandbox)
    assert done.stdout == "tried\n"


async def test_there_are_no_devices_and_none_can_be_made(ground: Ground, sandbox: Sandbox) -> None:
    done = await attempt("mknod disk b 254 0; ls /dev; find /dev -type b", ground, sandbox)
    assert set(done.stdout.split()) <= set(
        "core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero console mqueue".split()
    )
    assert not (ground.workspace / "disk").exists()


async def test_no_rights_are_left_and_none_can_be_gained(ground: Ground, sandbox: Sandbox) -> None:
    done = await attempt("grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status", ground, sandbox)
    values = dict(line.split(":\t") for line in done.stdout.splitlines())
    assert values.pop("NoNewPrivs") == "1"
    assert {int(value, 16) for value in values.values()} == {0}


async def test_a_command_has_a_session_of_its_own_and_no_terminal_of_ours_to_type_into(
    ground: Ground, sandbox: Sandbox
) -> None:
    # A session whose leader is outside has no number inside.
    done = await attempt("cut -d' ' -f6,7 /proc/self/stat", ground, sandbox)
    session, terminal = map(int, done.stdout.split())
    assert session > 0
    assert terminal == 0


def _connecting(address: str, family: str = "AF_INET") -> str:
    return f'python3 -c "import socket; s = socket.socket(socket.{family}); s.settimeout(3); s.connect({address}); print(1)"'


async def test_the_network_is_off_unless_it_is_granted(ground: Ground, sandbox: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = _connecting(repr(server.getsockname()[:2]))
        assert (await run(script, walls(ground), sandbox)).stdout == ""
        assert (await run(script, walls(ground, network=True), sandbox)).stdout == "1\n"
    done = await run(_connecting("('169.254.169.254', 80)"), walls(ground), sandbox)
    assert "unreachable" in done.stderr


async def test_a_socket_of_the_machine_cannot_be_reached(ground: Ground, sandbox: Sandbox) -> None:
    name = f"runwire-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        done = await run(_connecting(f"chr(0) + '{name}'", "AF_UNIX"), walls(ground), sandbox)
    assert done.stdout == ""
    assert (await attempt("ls -A /run | grep -v -e current-system -e systemd", ground, sandbox)).stdout == ""


async def test_the_loopback_inside_is_usable(ground: Ground, sandbox: Sandbox) -> None:
    script = "python3 -c \"import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print(1)\""
    assert (await attempt(script, ground, sandbox)).stdout == "1\n"


async def test_tmp_is_private_and_can_be_shared_by_the_commands_of_a_run(ground: Ground, sandbox: Sandbox) -> None:
    name = f"runwire-{uuid.uuid4().hex}"
    await attempt(f"echo x > /tmp/{name}", ground, sandbox)
    assert not Path("/tmp", name).exists()
    tmp = ground.place / "tmp"
    tmp.mkdir()
    tmp.chmod(0o777)
    await run(f"echo kept > /tmp/{name}", walls(ground, tmp=tmp), sandbox)
    assert (await run(f"cat /tmp/{name}", walls(ground, tmp=tmp), sandbox)).stdout == "kept\n"
    assert not Path("/tmp", name).exists()


async def test_hooks_that_run_outside_cannot_be_planted(ground: Ground, sandbox: Sandbox) -> None:
    hooks = ground.workspace / ".git" / "hooks"
    hooks.mkdir(parents=True)
    for folder in (hooks, hooks.parent):
        folder.chmod(0o777)
    done = await attempt(
        "echo x > .git/hooks/pre-commit; rm -rf .git/hooks; mv .git/hooks .git/old; echo y > .git/index",
        ground,
        sandbox,
    )
    assert done.report.exit_code == 0
    assert os.listdir(hooks) == []
    assert (ground.workspace / ".git" / "index").exists()


async def test_other_folders_may_be_made_writable(ground: Ground, sandbox: Sandbox) -> None:
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace, writable=[ground.outside])
    done = await run("echo x > ../outside/new && echo y > ../data/new", confinement, sandbox)
    assert done.report.exit_code != 0
    assert (ground.outside / "new").exists()
    assert not (ground.data / "new").exists()


async def test_a_variable_for_the_loader_acts_only_inside(ground: Ground, sandbox: Sandbox) -> None:
    wanted = {"LD_LIBRARY_PATH": "/nowhere", "BASH_ENV": str(ground.workspace / "evil")}
    environ = child_environment({"PATH": os.environ["PATH"]}, wanted, known=())
    done = await run("echo $LD_LIBRARY_PATH; tr '\\0' '\\n' < /proc/1/environ", walls(ground), sandbox, environ=environ)
    first, *outer = done.stdout.splitlines()
    assert first == "/nowhere"
    assert not any(line.startswith(("LD_", "BASH_ENV")) for line in outer)


async def test_a_daemon_dies_with_its_command(ground: Ground, sandbox: Sandbox) -> None:
    script = "(env -i setsid sh -c '(exec sleep 604811) </dev/null >/dev/null 2>&1 &' &); while ! ls /proc/*/exe -l | grep -q sleep; do :; done"
    done = await attempt(script, ground, sandbox)
    assert done.report.outcome == "exited"
    assert (done.report.survivors, running("604811")) == (0, [])


async def test_a_daemon_dies_when_time_runs_out(ground: Ground, sandbox: Sandbox) -> None:
    script = (
        "(env -i setsid sh -c 'trap \"\" TERM; sleep 604812; sleep 604812' &); trap '' TERM; sleep 604812; sleep 604812"
    )
    done = await run(script, walls(ground), sandbox, caps=Caps(timeout_s=0.5))
    assert done.report.outcome == "timed_out"
    assert (done.report.survivors, running("604812")) == (0, [])


async def test_a_flood_is_cut(ground: Ground, sandbox: Sandbox) -> None:
    done = await run("yes", walls(ground), sandbox, caps=Caps(output_limit_bytes=70_000))
    assert (done.report.outcome, len(done.stdout), done.report.survivors) == ("output_limited", 70_000, 0)


@pytest.mark.parametrize("is_grouped", [True, False])
async def test_a_bomb_of_processes_is_held(ground: Ground, sandbox: Sandbox, is_grouped: bool) -> None:
    # Bounded by itself, so that a wall that fails hurts nobody.
    script = "i=0; while [ $i -lt 150 ]; do sleep 604813 & i=$((i+1)); done; echo through; wait"
    groups = Groups.of_this_process() if is_grouped else None
    done = await run(script, walls(ground), sandbox, caps=Caps(limits=Limits(processes=40)), groups=groups)
    assert done.report.outcome == "resource_limited" or "fork" in done.stderr.lower()
    assert (done.report.survivors, running("604813")) == (0, [])


async def test_a_command_that_a_signal_ended_says_which(ground: Ground, sandbox: Sandbox) -> None:
    done = await attempt("kill -KILL $$", ground, sandbox)
    assert (done.report.exit_code, done.report.signal) == (137, "SIGKILL")


@pytest.mark.parametrize("name", [name for name in sorted(LAYERS) if " " not in name])
async def test_a_worker_that_is_killed_takes_its_command_with_it(ground: Ground, name: str) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.workspace.sandbox.test_escapes import work\n"
        "asyncio.run(work(sys.argv[1], Path(sys.argv[2])))\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in ["src", ".", *sys.path] if path)}
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, name, str(ground.workspace)), stdout=asyncio.subprocess.PIPE, env=environ
    )
    assert worker.stdout is not None
    assert await worker.stdout.readline() == b"up\n"
    worker.send_signal(signal.SIGKILL)
    await worker.wait()
    async with asyncio.timeout(PATIENCE_S):
        while running("604814"):
            await asyncio.sleep(0.01)


async def work(name: str, workspace: Path) -> None:
    """What the worker that is killed above does."""

    async def show(piece: Piece) -> None:
        print(piece.text, end="", flush=True)

    command = Command(
        argv=["/bin/sh", "-c", "(setsid sleep 604814 &); echo up; sleep 604814"],
        confinement=Confinement(workspace=workspace, cwd=workspace),
        environ=child_environment(os.environ, {}, known=()),
    )
    await run_process(command, sandbox=LAYERS[name], on_output=show)
