"""The `runwire` command: which commands there are, and what happens when one of them fails.

A command's module is loaded when the command is called, and not before.
"""

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import click

from runwire.cli import statuses
from runwire.cli.options import Group, Options
from runwire.client.render.harmless import plain_text
from runwire.errors import RunwireError
from runwire.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that can be listed without being loaded."""

    name: str
    help: str
    module: str

    def load(self) -> click.Command:
        """Import the command; its module calls it `command`."""
        # What is loaded stays, so the collector need not go through it: not while it is loaded, and not later.
        gc.disable()
        try:
            command = import_module(f"runwire.cli.commands.{self.module}").command
        finally:
            gc.freeze()
            gc.enable()
        if not isinstance(command, click.Command):
            raise TypeError(f"runwire.cli.commands.{self.module} defines no command")
        return command


COMMANDS: Sequence[Entry] = (
    Entry("up", "Start the gateway and serve until interrupted.", "up"),
    Entry("run", "Start a run and show it live.", "run"),
    Entry("events", "Print the events of a run; --follow waits for more.", "events"),
    Entry("watch", "Print events of some or all runs as they happen.", "watch"),
    Entry("runs", "List runs, newest first.", "runs"),
    Entry("show", "Show one run.", "show"),
    Entry("top", "See and steer all runs, full screen.", "top"),
    Entry("say", "Say something to a live run.", "say"),
    Entry("cancel", "End a run.", "cancel"),
    Entry("resume", "Go on in a new run from a place in an old one.", "resume"),
    Entry("approvals", "List what waits for a decision.", "approvals"),
    Entry("approve", "Let it happen.", "approve"),
    Entry("deny", "Do not let it happen.", "deny"),
    Entry("artifacts", "List what a run has made.", "artifacts"),
    Entry("diff", "Print what a run has changed, or one patch.", "diff"),
    Entry("apply", "Write a proposed patch into its workspace.", "apply"),
    Entry("reject", "Refuse a proposed patch.", "reject"),
    Entry("revert", "Take an applied patch back.", "revert"),
    Entry("agents", "List the agents that are here, and try one.", "agents"),
    Entry("usage", "Show tokens and money.", "usage"),
    Entry("audit", "Show who did what, and with whose permission.", "audit"),
    Entry("acp", "Be an agent for an editor, on stdin and stdout.", "acp"),
    Entry("worker", "Carry out runs in a process of its own.", "worker"),
    Entry("export", "Write the log of a run, one envelope a line.", "export"),
    Entry("import", "Take in a log that `export` wrote.", "import_"),
    Entry("verify", "Prove that a log is whole and keeps the rules.", "verify"),
    Entry("replay", "Print a log again at the pace it was made.", "replay"),
    Entry("normalize", "Turn an agent's own stream into ours; stores nothing.", "normalize"),
    Entry("ingest", "Keep the stream of an agent that runs elsewhere.", "ingest"),
    Entry("schema", "Print the schema of the events.", "schema"),
    Entry("conformance", "Hold a server to the protocol.", "conformance"),
    Entry("token", "Make, list and revoke tokens.", "token"),
    Entry("prune", "Remove old events.", "prune"),
    Entry("backup", "Copy the whole store, also while it is in use.", "backup"),
    Entry("restore", "Put a backup in the place of the store.", "restore"),
    Entry("doctor", "Check this machine and say what to do.", "doctor"),
    Entry("completion", "Teach a shell to complete commands and ids.", "completion"),
)

COMPLETING = "_RUNWIRE_COMPLETE"
_EPILOG = """\b
Exit status:
  0  done                       3  cannot reach the gateway
  1  failed, or a rule broken   4  not found
  2  wrong usage                5  conflict
                              130  interrupted

Ids can be shortened to a beginning that no other has. At a terminal tables fit its width, with short ids, relative times and
colour (not with NO_COLOR or --no-color); a pipe gets whole ids and absolute times. Data goes to stdout, talk to stderr.

\b
Examples:
  runwire up                        start the gateway
  runwire run "make the tests pass" have something done, and see it done
  runwire approvals                 what waits for a decision
  runwire watch --all               see everything that happens
  runwire audit --grep "rm -rf"     who did that, and with whose permission
  runwire export RUN -o run.jsonl   keep a run in a file
  runwire verify run.jsonl          prove that nothing was changed"""


class Program(Group):
    """The root command."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Every name, in the order of the help."""
        return [entry.name for entry in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's own signature
        """Load the command of that name."""
        return next((entry.load() for entry in COMMANDS if entry.name == cmd_name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own signature
        """List the commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.help) for entry in COMMANDS])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete names from the table alone, and options."""
        from click.shell_completion import CompletionItem

        fitting = (entry for entry in COMMANDS if entry.name.startswith(incomplete))
        names = [CompletionItem(entry.name, help=entry.help) for entry in fitting]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def make_program() -> Program:
    """The root command, with nothing loaded yet."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="Print the version.",
    )
    return Program(
        name="runwire",
        help="The wire and the log for agent runs: typed events, a durable journal, a live gateway.",
        epilog=_EPILOG,
        params=[version],
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"runwire {VERSION}")
        context.exit()


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; whatever goes wrong is said on stderr in two lines at most."""
    try:
        asked = os.environ.get(COMPLETING)
        status = _called(arguments) if asked is None else _completed(asked)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has had enough. That is how `| head` ends, and nobody's failure.
        _forget_stdout()
        return statuses.DONE
    return status


def _completed(instruction: str) -> int:
    """Answer a shell that wants to know what could follow; the line so far is in the environment."""
    from click.shell_completion import shell_complete

    return shell_complete(make_program(), {"obj": Options()}, "runwire", COMPLETING, instruction)


def _called(arguments: Sequence[str]) -> int:
    try:
        status = _invoked(make_program(), arguments)
    except click.exceptions.Exit as leaving:
        status = leaving.exit_code
    except (click.Abort, KeyboardInterrupt):
        status = statuses.INTERRUPTED
    except RunwireError as error:
        complain(error.message, statuses.hint_of(error))
        status = statuses.status_of(error)
    except click.ClickException as error:
        status = _complain_of_usage(error)
    return status if isinstance(status, int) else statuses.DONE


def _invoked(program: Program, arguments: Sequence[str]) -> object:
    try:
        # Not `main`: click's own would take a closed pipe for a failure.
        with program.make_context("runwire", list(arguments), obj=Options()) as context:
            return program.invoke(context)
    except ExceptionGroup as failures:
        # Of tasks that fail together, the first is the cause and the others its victims.
        error: Exception = failures
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def _complain_of_usage(error: click.ClickException) -> int:
    message = " ".join(error.format_message().split())
    match error:
        case click.exceptions.NoArgsIsHelpError():
            sys.stderr.write(f"{error.format_message()}\n")
        case click.UsageError(ctx=context):
            path = "runwire" if context is None else context.command_path
            complain(message[:1].lower() + message[1:].rstrip("."), f"`{path} --help` shows how it is used")
        case _:
            complain(message, "")
            return statuses.FAILED
    return statuses.USAGE


def complain(what: str, to_do: str) -> None:
    """Say on stderr what is wrong and what to do about it, with nothing in it that a terminal would obey."""
    sys.stderr.write(plain_text(f"error: {what}\n" + (f"hint:  {to_do}\n" if to_do else "")))
    sys.stderr.flush()


def _forget_stdout() -> None:
    # The interpreter flushes stdout once more at exit; that must not fail again.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
