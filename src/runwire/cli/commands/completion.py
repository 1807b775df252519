"""`runwire completion`: what a shell has to know to complete commands, options and ids."""

import click
from click.shell_completion import get_completion_class

from runwire.cli import printing
from runwire.cli.completing import SHELLS
from runwire.cli.options import Command
from runwire.cli.program import COMPLETING
from runwire.cli.statuses import DONE


@click.command(
    "completion",
    cls=Command,
    epilog="""\b
Examples:
  source <(runwire completion bash)                                  in ~/.bashrc
  source <(runwire completion zsh)                                   in ~/.zshrc, after compinit
  runwire completion fish > ~/.config/fish/completions/runwire.fish  once""",
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the script that teaches SHELL to complete runwire's commands, options, and ids of runs, approvals and patches.

    Ids come from the running gateway or, when there is none, from the data directory.
    """
    kind = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if kind is None:
        raise click.UsageError(f"nothing is known about {shell}")
    printing.write_text(kind(root, {}, "runwire", COMPLETING).source().strip("\n"))
    return DONE
