"""No confinement at all: the command runs with every right of the worker. Only when an operator allows it."""

from collections.abc import Sequence

from runwire.workspace.sandbox.layer import Confinement


class Bare:
    """The `none` layer. Limits, the environment and the killing of the tree still hold."""

    layer = "none"
    confines = False
    owns_processes = False

    def __init__(self, *, setpriv: str | None = None) -> None:
        """With util-linux's `setpriv` at this path, a worker that is killed takes the command with it."""
        self._tied = [setpriv, "--pdeathsig", "KILL"] if setpriv is not None else []

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:  # noqa: ARG002 - the Protocol's
        """Run `argv` as it is."""
        return [*self._tied, *argv]
