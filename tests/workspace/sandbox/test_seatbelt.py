"""The profile that macOS is given. What it does is the kernel's; what it says is ours."""

from pathlib import Path

from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.sandbox.seatbelt import Seatbelt, profile


def test_writing_is_denied_but_for_the_workspace(tmp_path: Path) -> None:
    rules = profile(Confinement(workspace=tmp_path, cwd=tmp_path, writable=[tmp_path / "more"], tmp=tmp_path / "tmp"))
    lines = rules.splitlines()
    assert lines.index("(deny file-write*)") < lines.index(f'(allow file-write* (subpath "{tmp_path}"))')
    assert f'(allow file-write* (subpath "{tmp_path}/more"))' in lines
    assert f'(allow file-write* (subpath "{tmp_path}/tmp"))' in lines


def test_the_network_is_denied_unless_granted(tmp_path: Path) -> None:
    assert "(deny network*)" in profile(Confinement(workspace=tmp_path, cwd=tmp_path))
    assert "(deny network*)" not in profile(Confinement(workspace=tmp_path, cwd=tmp_path, network=True))


def test_what_is_hidden_is_denied_after_what_is_allowed(tmp_path: Path) -> None:
    data, workspace = tmp_path / "data", tmp_path / "data" / "workspace"
    lines = profile(Confinement(workspace=workspace, cwd=workspace, hidden=[data, tmp_path / "keys"])).splitlines()
    allowed = lines.index(f'(allow file-write* (subpath "{workspace}"))')
    assert lines.index(f'(deny file-read* file-write* (subpath "{tmp_path}/keys"))') > allowed
    within = f'(deny file-read* file-write* (require-all (subpath "{data}") (require-not (subpath "{workspace}"))))'
    assert within in lines


def test_a_path_cannot_end_its_own_quotes(tmp_path: Path) -> None:
    odd = tmp_path / 'a"b\\c'
    odd.mkdir()
    rules = profile(Confinement(workspace=odd, cwd=odd))
    assert f'{tmp_path}/a\\"b\\\\c"' in rules


def test_the_command_follows_the_profile(tmp_path: Path) -> None:
    argv = Seatbelt(program="/usr/bin/sandbox-exec").wrap(
        ["/bin/ls", "-l"], Confinement(workspace=tmp_path, cwd=tmp_path)
    )
    assert (list(argv[:2]), list(argv[3:])) == (["/usr/bin/sandbox-exec", "-p"], ["/bin/ls", "-l"])
