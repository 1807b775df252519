"""A model that does what its prompt says, with the tools that the agent offers it: one script for every agent.

A prompt holds directives in double brackets, parts set off by `|`. Each of these is a round of the conversation, in order:

    [[shell: COMMAND]]  [[parallel: COMMAND | COMMAND]]  [[read: PATH]]  [[write: PATH | TEXT]]  [[edit: PATH | LINE | LINE]]

then comes the last word, `[[say: TEXT]]` or a greeting, in the manner of `[[slow]]`, `[[silent]]` (not even headers), `[[hang]]`
(headers only), `[[drop]]` and `[[mid]]` (broken in the middle) or `[[status: CODE]]`, with `once` after the code when it passes.
`[[loop: COMMAND]]` never comes to a last word; `[[think: TEXT]]` goes before the first one. Paths are absolute.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from runwire.testing.model_conversation import Conversation, Offered
from runwire.testing.model_wires import Answer, Failure, ServedCall

GREETING = "Hello from the scripted model."
SLOW_WORDS = 400

Manner = Literal["plain", "slow", "silent", "hang", "drop", "mid"]

_DIRECTIVE = re.compile(r"\[\[(\w+)(?::\s*(.*?))?\]\]", re.DOTALL)
_STEPS = frozenset({"shell", "parallel", "read", "write", "edit", "loop"})
_MANNERS: Mapping[str, Manner] = {"slow": "slow", "silent": "silent", "hang": "hang", "drop": "drop", "mid": "mid"}
# What agents call their tools, in small letters.
_SHELLS = ("bash", "run_shell_command", "exec_command", "shell_command", "shell")
_READERS = ("read", "read_file")
_WRITERS = ("write", "write_file")
_EDITORS = ("edit", "replace")
_PATCHERS = ("apply_patch",)
_PATHS = ("path", "file_path", "filepath", "absolute_path")
_OLD = ("old_string", "oldstring", "oldtext", "old_text")
_NEW = ("new_string", "newstring", "newtext", "new_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What the model does next."""

    answer: Answer = field(default_factory=Answer)
    manner: Manner = "plain"
    failure: Failure | None = None
    is_passing: bool = False
    """The failure comes but once."""


@dataclass(frozen=True, slots=True)
class _Directive:
    name: str
    parts: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Use:
    """A tool and what it is called with: its arguments, or the text of a tool that takes nothing else."""

    tool: Offered
    arguments: Mapping[str, object] | str


def next_move(conversation: Conversation, *, serial: int) -> Move:
    """The move that the prompt asks for at this point; `serial` keeps the ids of calls apart.

    A request that offers no tools is a side matter of the agent's (a title, a summary) and is simply answered.
    """
    directives = [*_directives(conversation.prompt)] if conversation.tools else []
    rounds = [uses for each in directives for uses in _rounds(each, conversation)]
    thinking = next((each.parts[0] for each in directives if each.name == "think"), "")
    thinking = thinking if conversation.round == 0 else ""
    if conversation.round < len(rounds):
        uses = rounds[conversation.round]
    elif any(each.name == "loop" for each in directives):
        uses = rounds[-1]
    else:
        return _last_word(directives, thinking)
    if not uses:
        return Move(answer=Answer(text="The tool for this is not on offer.", thinking=thinking))
    calls = [_served(use, f"call_{serial}_{number}") for number, use in enumerate(uses)]
    return Move(answer=Answer(calls=calls, thinking=thinking))


def example_of(schema: Mapping[str, object]) -> dict[str, object]:
    """The plainest object that a schema takes."""
    about = Offered("", schema)
    return {name: _plain(about.properties.get(name, {})) for name in about.required}


def _directives(prompt: str) -> Iterator[_Directive]:
    for found in _DIRECTIVE.finditer(prompt):
        yield _Directive(found[1], [part.strip() for part in (found[2] or "").split("|")])


def _last_word(directives: Sequence[_Directive], thinking: str) -> Move:
    text = GREETING
    manner: Manner = "plain"
    for each in directives:
        if each.name == "status":
            code, _, often = each.parts[0].partition(" ")
            failure = Failure(status=int(code), kind="scripted_error", message=f"Scripted failure {code}")
            return Move(failure=failure, is_passing=often == "once")
        if each.name == "say":
            text = each.parts[0]
        manner = _MANNERS.get(each.name, manner)
    if manner == "slow":
        text = " ".join(f"word{number:03}" for number in range(SLOW_WORDS))
    return Move(answer=Answer(text=text, thinking=thinking), manner=manner)


def _rounds(directive: _Directive, conversation: Conversation) -> Iterator[Sequence[_Use]]:
    """The uses of tools that a directive means, round by round; no uses where no tool is on offer."""
    if directive.name not in _STEPS:
        return
    tools = {tool.name.lower(): tool for tool in conversation.tools}
    path = directive.parts[0]
    match directive.name:
        case "shell" | "loop" | "parallel":
            yield [use for command in directive.parts for use in _shell(tools, command)]
        case "read":
            yield [*_read(tools, path)]
        case "write":
            yield [*_write(tools, path, directive.parts[1])]
        case "edit":
            # Some agents refuse to edit what was not read before.
            if reading := [*_read(tools, path)]:
                yield reading
            yield [*_edit(tools, path, directive.parts[1], directive.parts[2])]


def _shell(tools: Mapping[str, Offered], command: str) -> Iterator[_Use]:
    for tool in _first(tools, _SHELLS):
        name = _argument(tool, ("command", "cmd"))
        takes_list = tool.properties.get(name, {}).get("type") == "array"
        yield _use(tool, {name: ["bash", "-lc", command] if takes_list else command})


def _read(tools: Mapping[str, Offered], path: str) -> Iterator[_Use]:
    for tool in _first(tools, _READERS):
        yield _use(tool, {_argument(tool, _PATHS): path})


def _write(tools: Mapping[str, Offered], path: str, text: str) -> Iterator[_Use]:
    for tool in _first(tools, _WRITERS):
        yield _use(tool, {_argument(tool, _PATHS): path, "content": f"{text}\n"})
        return
    yield from _patch(tools, f"*** Add File: {path}\n+{text}")


def _edit(tools: Mapping[str, Offered], path: str, old: str, new: str) -> Iterator[_Use]:
    for tool in _first(tools, _EDITORS):
        where: dict[str, object] = {_argument(tool, _PATHS): path}
        if "edits" in tool.properties:
            items = Offered("", _mapping(tool.properties["edits"].get("items")))
            where["edits"] = [{_argument(items, _OLD): old, _argument(items, _NEW): new}]
        else:
            where |= {_argument(tool, _OLD): old, _argument(tool, _NEW): new}
        yield _use(tool, where)
        return
    yield from _patch(tools, f"*** Update File: {path}\n@@\n-{old}\n+{new}")


def _patch(tools: Mapping[str, Offered], body: str) -> Iterator[_Use]:
    patch = f"*** Begin Patch\n{body}\n*** End Patch\n"
    for tool in _first(tools, _PATCHERS):
        yield _Use(tool, patch) if tool.is_freeform else _use(tool, {_argument(tool, ("input", "patchtext")): patch})


def _first(tools: Mapping[str, Offered], names: Sequence[str]) -> Sequence[Offered]:
    return [tools[name] for name in names if name in tools][:1]


def _argument(tool: Offered, names: Sequence[str]) -> str:
    """The tool's own name for an argument that is known by several."""
    return next((name for name in tool.properties if name.lower() in names), names[0])


def _use(tool: Offered, arguments: Mapping[str, object]) -> _Use:
    return _Use(tool, {**example_of(tool.schema), **arguments})


def _served(use: _Use, call_id: str) -> ServedCall:
    if isinstance(use.arguments, str):
        return ServedCall(use.tool.name, use.arguments, call_id, is_freeform=True)
    return ServedCall(use.tool.name, msgspec.json.encode(use.arguments).decode(), call_id)


def _plain(schema: Mapping[str, object]) -> object:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    values: Mapping[str, object] = {"number": 1, "integer": 1, "boolean": False, "array": [], "object": {}}
    return values.get(str(schema.get("type")).lower(), "scripted")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
