"""What there is to know about an agent that is a program: how it is started, what it may see, and how it is spoken with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runwire.agents.dialect import Speaker, Telling


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of an agent that is about to start."""

    model: str | None
    workspace: str


def no_arguments(_: Wish) -> Sequence[str]:
    """Nothing more on the command line."""
    return ()


def no_variables(_: Wish) -> Mapping[str, str]:
    """Nothing more in the environment."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One agent."""

    name: str
    dialect: str
    about: str
    """How it is driven, in a few words."""
    command: Sequence[str]
    """The program and what always follows it."""
    arguments: Callable[[Wish], Sequence[str]] = no_arguments
    """What follows for a run."""
    variables: Callable[[Wish], Mapping[str, str]] = no_variables
    """What is set in its environment for a run."""
    speak: Callable[[Telling], Speaker]
    install: str
    """What a person does to get it."""
    environment: Sequence[str] = ()
    """Names of variables that it may see beside the usual few; a `*` at the end stands for any ending."""
    token_env: str | None = None
    """The variable that makes it want to be greeted with a secret, which is then made for each start."""
    set_env: Mapping[str, str] = field(default_factory=dict)
    state: Sequence[str] = ()
    """Folders that it keeps its own things in, and may write."""
    network: bool = True
    version: Sequence[str] = ("--version",)
    asks: bool = False
    """Whether it asks for permission by itself."""
    model: str | None = None
    """The model that it is asked to use, unless the task says."""
    resumes: bool = False
    """Whether it can be answered after the process that ran it is gone."""
