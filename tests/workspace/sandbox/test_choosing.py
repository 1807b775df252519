"""Which sandbox is taken: one that was seen to hold."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from runwire.workspace.errors import SandboxUnavailable
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.bwrap import Bubblewrap
from runwire.workspace.sandbox.choosing import choose, works
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Confinement, confined
from tests.workspace.commands import sandboxes


class Leaky(Bare):
    """Says that it confines, and does not."""

    layer = "leaky"
    confines = True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what works elsewhere depends on the machine")
async def test_what_is_chosen_works() -> None:
    sandbox = await choose()
    assert sandbox.layer in {"bwrap", "unshare"}
    assert await works(sandbox)
    assert confined(sandbox, allow_unconfined=False) is sandbox


@pytest.mark.parametrize("name", [name for name in sandboxes() if " " not in name])
async def test_each_layer_of_this_machine_works(name: str) -> None:
    assert await works(sandboxes()[name])


async def test_a_layer_that_leaks_or_fails_is_found_out(tmp_path: Path) -> None:
    assert not await works(Leaky())
    assert not await works(Bare())
    assert not await works(Bubblewrap(program=str(tmp_path / "missing")))
    assert not await works(Bubblewrap(program="/bin/false"))


def test_without_walls_nothing_runs_unless_it_was_allowed() -> None:
    with pytest.raises(SandboxUnavailable):
        confined(Bare(), allow_unconfined=False)
    bare = Bare()
    assert confined(bare, allow_unconfined=True) is bare


def test_no_layer_changes_the_command_itself(tmp_path: Path) -> None:
    argv = ["/bin/echo", "a b", "$(x)", "--", "-n"]
    walls = Confinement(workspace=tmp_path, cwd=tmp_path)
    everyone: Sequence[Sequence[str]] = [sandbox.wrap(argv, walls) for sandbox in (*sandboxes().values(), Bare())]
    assert all(list(wrapped[-5:]) == argv for wrapped in everyone)


def test_our_own_data_and_the_keys_of_a_home_are_hidden(tmp_path: Path) -> None:
    hidden = hidden_paths(data=tmp_path / "data", home=tmp_path)
    assert {tmp_path / "data", tmp_path / ".ssh", tmp_path / ".aws", tmp_path / ".netrc"} <= set(hidden)
