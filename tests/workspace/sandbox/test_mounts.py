"""The list of mounts: an outer path before what is inside it, and nothing hidden twice."""

from pathlib import Path
from tempfile import TemporaryDirectory

from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.sandbox.mounts import plan
from tests.workspace.conftest import Ground


def kinds(confinement: Confinement, below: Path) -> dict[str, str]:
    return {
        str(mount.target.relative_to(below)): mount.kind
        for mount in plan(confinement)
        if mount.target.is_relative_to(below)
    }


def test_a_workspace_inside_a_hidden_folder_comes_after_it(ground: Ground) -> None:
    workspace = ground.data / "workspaces" / "run"
    workspace.mkdir(parents=True)
    (workspace / "keys").mkdir()
    confinement = Confinement(
        workspace=workspace, cwd=workspace, hidden=[workspace / "keys", ground.data, ground.token]
    )
    assert list(kinds(confinement, ground.data).items()) == [
        (".", "empty"),
        ("workspaces/run", "write"),
        ("workspaces/run/keys", "empty"),
    ]


def test_what_is_hidden_stays_hidden_when_it_is_the_workspace(ground: Ground) -> None:
    confinement = Confinement(workspace=ground.data, cwd=ground.data, hidden=[ground.data])
    assert kinds(confinement, ground.data) == {".": "empty"}


def test_what_is_not_there_needs_no_hiding(ground: Ground) -> None:
    hidden = [ground.outside / "missing", ground.outside / "plain.txt"]
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace, hidden=hidden)
    assert kinds(confinement, ground.outside) == {"plain.txt": "blank"}


def test_a_link_is_hidden_where_it_leads(ground: Ground) -> None:
    (ground.workspace / "keys").symlink_to(ground.token)
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace, hidden=[ground.workspace / "keys"])
    assert kinds(confinement, ground.data) == {"token": "blank"}


def test_hooks_behind_a_link_are_not_mounted(ground: Ground) -> None:
    (ground.outside / "hooks").mkdir()
    (ground.workspace / ".git").symlink_to(ground.outside)
    confinement = Confinement(workspace=ground.workspace, cwd=ground.workspace)
    assert kinds(confinement, ground.outside) == {}


def test_a_file_in_tmp_that_the_command_is_started_with_is_shown_unless_it_is_hidden() -> None:
    # The machine's own /tmp is meant, wherever the tests keep their files.
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name).resolve()
        workspace, data = folder / "workspace", folder / "data"
        workspace.mkdir()
        data.mkdir()
        files = [folder / "server.py", workspace / "inside.py", data / "token", folder / "missing.py"]
        for file in files[:3]:
            file.write_text("")
        (folder / "link.py").symlink_to(data / "token")
        confinement = Confinement(
            workspace=workspace, cwd=workspace, readable=[*files, folder / "link.py", folder], hidden=[data]
        )
        found = kinds(confinement, folder)
        assert {path: kind for path, kind in found.items() if kind == "read"} == {"server.py": "read"}
