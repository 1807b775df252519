"""The options that every command takes, before its name or after."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from runwire.config import Config, environment_name, load_config


@dataclass(slots=True)
class Options:
    """What the global options say; None means that the environment or a default decides."""

    url: str | None = None
    token: str | None = None
    data: Path | None = None
    json: bool = False
    no_color: bool = False

    @property
    def data_chosen(self) -> bool:
        """Whether somebody has named the data directory, so that it need not be the usual one."""
        return self.data is not None or bool(os.environ.get(environment_name("data")))

    def config(self, **more: object) -> Config:
        """The settings of this process, with `more` options of the command itself."""
        options = {"url": self.url, "token": self.token, "data": self.data, **more}
        return load_config(environ=os.environ, options=options)


def current() -> Options:
    """The global options of the command that runs now."""
    options: Options = click.get_current_context().ensure_object(Options)
    return options


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    # An option that stands after the command beats one before it, and one that was left out beats nothing.
    if value and parameter.name is not None:
        setattr(context.ensure_object(Options), parameter.name, value)


class GlobalOption(click.Option):
    """An option that is kept in `Options` instead of being passed to the command."""

    def __init__(self, declarations: Sequence[str], **more: Any) -> None:
        super().__init__(declarations, callback=_keep, expose_value=False, **more)


def _global_options() -> list[click.Parameter]:
    return [
        GlobalOption(["--url"], metavar="URL", help="Where the gateway is [RUNWIRE_URL]."),
        GlobalOption(["--token"], metavar="TOKEN", help="The token to send [RUNWIRE_TOKEN]."),
        GlobalOption(
            ["--data"],
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            help="The data directory [RUNWIRE_DATA].",
        ),
        GlobalOption(["--json"], is_flag=True, help="Print stored bytes and plain JSON, one a line."),
        GlobalOption(["--no-color"], is_flag=True, help="No colour, also on a terminal [NO_COLOR]."),
    ]


class Command(click.Command):
    """A command that takes the global options after its name and lists them apart from its own."""

    @cached_property
    def _global_options(self) -> list[click.Parameter]:
        return _global_options()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters and the global options."""
        return [*super().get_params(ctx), *self._global_options]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the global ones."""
        _write_options(self, ctx, formatter)


class Group(click.Group):
    """A command that is a family of commands; all of them take the global options."""

    command_class = Command

    @cached_property
    def _global_options(self) -> list[click.Parameter]:
        return _global_options()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters and the global options."""
        return [*super().get_params(ctx), *self._global_options]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the family's options and its commands."""
        _write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def _write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write two lists of options: the command's own, then the global ones."""
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            (common if isinstance(parameter, GlobalOption) else own).append(record)
    for title, records in (("Options", own), ("Global options", common)):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
