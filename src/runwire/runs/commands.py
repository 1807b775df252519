"""What is known of programs by name: which run others, which take their orders from elsewhere, whose first words say it all."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh"})
_INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|deno|bun|tclsh|osascript|Rscript|psql|sqlite)[\d.]*"
)
# They change what later words mean, or take what they run from where nobody has looked.
_NEVER = frozenset(
    "eval exec source . trap alias unalias builtin enable hash set shopt export declare typeset readonly local unset let "
    "read mapfile readarray getopts xargs parallel fc bind complete".split()
)
# They run what they are given as arguments.
_WRAPPERS = frozenset(
    "env nohup nice ionice timeout time stdbuf setsid sudo doas su command exec builtin xargs parallel busybox toybox find "
    "fd watch chroot unshare nsenter flock strace ltrace script ssh eval caffeinate chrt taskset systemd-run runuser "
    "proxychains bwrap coproc".split()
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT_OPTION = re.compile(r"-[a-z]*c[a-z]*")


@dataclass(frozen=True, slots=True)
class Script:
    """A text that a shell is given to run, and what speaks against trusting it."""

    text: str
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class _Program:
    """A program whose first words tell what it does."""

    verbs: frozenset[str]
    """These need no more than the verb: further arguments change on what, not what."""
    deeper: frozenset[str] = frozenset()
    """These are told by the word behind them, too: `npm run build`."""
    options: tuple[str, ...] = ()
    """With these it runs or writes what they name, so only the very same words are the same command."""


def _program(verbs: str, *, deeper: str = "", options: str = "") -> _Program:
    return _Program(frozenset(verbs.split()), frozenset(deeper.split()), tuple(options.split()))


_PROGRAMS: Mapping[str, _Program] = MappingProxyType(
    {
        "git": _program(
            "status log show diff add commit branch switch stash merge tag blame describe rev-parse ls-files mv "
            "cherry-pick revert shortlog",
            options="--output --ext-diff --textconv --upload-pack --receive-pack --exec --config --config-env --template "
            "--no-index -o -x",
        ),
        "npm": _program(
            "test ci ls outdated view audit", deeper="run run-script", options="--prefix --script-shell -C"
        ),
        "yarn": _program("test list why", deeper="run", options="--cwd"),
        "pnpm": _program("test list why", deeper="run", options="--dir -C"),
        "pip": _program("list show freeze check", options="--python --log --proxy --cert"),
        "pip3": _program("list show freeze check", options="--python --log --proxy --cert"),
        "cargo": _program(
            "build check test clippy fmt doc tree", options="--config --manifest-path --target-dir -C -Z"
        ),
        "go": _program(
            "build test vet fmt list version env", options="-exec -toolexec -vettool -o -C -overlay -modfile -w -u"
        ),
        "docker": _program("ps images logs inspect version info", options="--host -H --config --context"),
        "kubectl": _program(
            "get describe logs version top", options="--kubeconfig --server -s --context --as --raw -f -k --token"
        ),
    }
)
_MAKE_FLAGS = re.compile(r"-(?:[jkBs]|j\d+)|--(?:keep-going|silent|jobs(?:=\d+)?)")


def program_of(argv: tuple[str, ...]) -> str:
    """The name of what is run, without its folder and the assignments before it."""
    rest = argv[_assignments(argv) :]
    return posixpath.basename(rest[0]) if rest else ""


def doubt_of(argv: tuple[str, ...], *, piped: bool) -> str | None:
    """Why a literal command cannot be granted all the same, or None."""
    program = program_of(argv)
    if not program:
        return "it only sets variables"
    if program in _NEVER:
        return f"{program} changes what is run"
    operands = [word for word in argv[_assignments(argv) + 1 :] if not word.startswith("-")]
    if program in _SHELLS or _INTERPRETERS.fullmatch(program):
        reads = not operands or "-" in argv or (program in _SHELLS and "-s" in argv)
        if reads and (piped or program in _SHELLS or not _says_what(argv)):
            return f"{program} runs what it is fed"
    return None


def _says_what(argv: tuple[str, ...]) -> bool:
    return any(word in {"--version", "-V", "-v", "--help", "-h"} for word in argv[1:])


def shell_script(argv: tuple[str, ...]) -> Script | None:
    """The text that `sh -c` is given, if this is such a command."""
    skipped = _assignments(argv)
    words = argv[skipped:]
    if not words or posixpath.basename(words[0]) not in _SHELLS:
        return None
    for at, word in enumerate(words[1:-1], 1):
        # Behind a word that is no option it may be the script's own argument. Nobody can tell without knowing all options.
        if _SCRIPT_OPTION.fullmatch(word):
            plain = skipped == 0 and at == 1 and set(word) <= set("-ceux") and len(words) == 3 and words[0] in _SHELLS
            return Script(words[at + 1], None if plain else f"{words[0]} is told more than a script")
    return None


def unwrapped(argv: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every command that these words may make a wrapper run; rather too many than one too few."""
    skipped = _assignments(argv)
    if skipped and skipped < len(argv):
        yield argv[skipped:]
    if program_of(argv) not in _WRAPPERS:
        return
    for at in range(skipped + 1, min(len(argv), 64)):
        word = argv[at]
        if not word.startswith("-") and not _ASSIGNMENT.match(word):
            yield argv[at:]
        if word == "-S" or word.startswith("--split-string"):
            yield tuple(word.partition("=")[2].split() or " ".join(argv[at + 1 :]).split())


def rule_for(argv: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The words that stand for this command in a grant, and whether further words may follow them."""
    kept = _telling(argv)
    return (argv, False) if kept is None else (argv[:kept], True)


def covered(rule: tuple[str, ...], more: bool, argv: tuple[str, ...]) -> bool:
    """Whether a command is what a grant speaks of."""
    if not more:
        return argv == rule
    # The same look as when the grant was made: further words must not turn it into something else.
    return argv[: len(rule)] == rule and _telling(argv) == len(rule)


def _telling(argv: tuple[str, ...]) -> int | None:
    """How many words say what a command does; None when all of them do."""
    if len(argv) < 2:
        return None
    name, verb = argv[0], argv[1]
    if name == "make":
        plain = re.fullmatch(r"[A-Za-z][\w.-]*", verb) and all(_MAKE_FLAGS.fullmatch(word) for word in argv[2:])
        return 2 if plain else None
    program = _PROGRAMS.get(name)
    if program is None or any(_is_told(word, program.options) for word in argv[1:]):
        return None
    if verb in program.verbs:
        return 2
    if verb in program.deeper and len(argv) > 2 and not argv[2].startswith("-"):
        return 3
    return None


def _is_told(word: str, options: tuple[str, ...]) -> bool:
    """Whether a word is one of the options, glued to its value, in a cluster, or shortened as many programs allow."""
    name = word.partition("=")[0]
    if name.startswith("--") and len(name) > 2:
        return any(option.startswith(name) or option == name[1:] for option in options)
    for option in options:
        single = option.startswith("-") and not option.startswith("--")
        if single and len(option) > 2 and name == option:
            return True
        if single and len(option) == 2 and re.match(rf"-[A-Za-z0-9]*{option[1]}", name):
            return True
    return False


def _assignments(argv: tuple[str, ...]) -> int:
    """How many words at the start only set variables for the command."""
    count = 0
    while count < len(argv) and _ASSIGNMENT.match(argv[count]):
        count += 1
    return count


def plain_name(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command without assignments before it and without its program's folder."""
    rest = argv[_assignments(argv) :]
    return (posixpath.basename(rest[0]) or rest[0], *rest[1:]) if rest else ()
