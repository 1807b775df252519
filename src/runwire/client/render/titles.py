"""What a tool call is about, on one line."""

from collections.abc import Mapping, Sequence

import msgspec

from runwire.client.render.harmless import one_line

# The argument that says it best, by the names that agents give it; the first that is there is shown.
_TELLING = (
    "command cmd file_path path filePath abs_path absolute_path pattern url query artifact_id description prompt task "
    "name title text"
).split()
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_SCRIPT_FLAGS = frozenset({"-c", "-lc", "-ic"})
_WIDTH = 400


def title_of(arguments: Mapping[str, object]) -> str:
    """The telling argument of a call; the arguments as JSON where none tells."""
    for name in _TELLING:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return one_line(value, _WIDTH)
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return one_line(command_of([str(part) for part in value]), _WIDTH)
    edits = arguments.get("edits")
    if isinstance(edits, list):
        paths = dict.fromkeys(str(one["path"]) for one in edits if isinstance(one, dict) and "path" in one)
        return one_line(", ".join(paths), _WIDTH)
    return one_line(msgspec.json.encode(arguments).decode(), _WIDTH) if arguments else ""


def command_of(argv: Sequence[str]) -> str:
    """A command as somebody would type it: the script itself where a shell runs one."""
    if len(argv) == 3 and argv[0].rpartition("/")[2] in _SHELLS and argv[1] in _SCRIPT_FLAGS:
        return argv[2]
    return " ".join(argv)
