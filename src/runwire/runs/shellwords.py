"""A shell text as the commands in it. It reads only what two readers agree on; whatever else it meets is a doubt.

The text is run by whatever `/bin/sh` is, so a construct that shells read differently is a doubt, too. A text in doubt is
never wrong to ask about: nobody may grant it, and what was found in it still counts against it.
"""

import posixpath
import re
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import dropwhile

from tree_sitter import Language, Node, Parser

from runwire.runs.commands import doubt_of, shell_script, unwrapped

TEXT_MAX = 16_384
_DEPTH_MAX = 48
_SCRIPTS_MAX = 4
_PATTERN = re.compile(r"[*?\[]|\{[^}]*(?:,|\.\.)|(?:^|[:=])~")
_KEYWORD = re.compile(r"[a-z]+|[{}!]")
_STRUCTURE = frozenset(
    "program list pipeline subshell compound_statement negated_command if_statement elif_clause else_clause "
    "while_statement for_statement do_group redirected_statement".split()
)
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_WORDS = frozenset({"word", "number", "string", "raw_string", "concatenation", "command_name"})
_SILENT = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_DANGEROUS_NAMES = re.compile(
    r"(?:PATH|IFS|ENV|BASH_\w+|SHELLOPTS|PS4|CDPATH|LD_\w+|DYLD_\w+|GLOBIGNORE|PROMPT_COMMAND)$"
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One simple command, word by word, or one redirection: `(">", path)`."""

    argv: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words as a line, for globs."""
        return " ".join(self.argv)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a shell text will do, as far as that can be known without running it."""

    segments: tuple[Segment, ...]
    cwd: str = ""
    """Where the segments run, when the text begins with `cd DIR &&`; else empty."""
    inner: tuple[Segment, ...] = ()
    """Commands that other commands are given to run (`xargs rm`): they count against the text, never for it."""
    doubts: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the segments are all there is, literally."""
        return not self.doubts and bool(self.segments)

    @property
    def suspects(self) -> tuple[Segment, ...]:
        """Everything that a rule against it may match."""
        return self.segments + self.inner


def read(text: str) -> Reading:
    """Read a shell text. It never fails: what cannot be read is a doubt."""
    return _read(text, 0)


def _read(text: str, scripts: int) -> Reading:
    if len(text) > TEXT_MAX or scripts > _SCRIPTS_MAX:
        return Reading((), doubts=("it is too long or too deep to be read",))
    gathered = _Gathered(scripts)
    if any(unicodedata.category(char)[0] in "CZ" and char not in " \t\n" for char in text):
        gathered.doubt("it holds invisible characters")
    if "\\\n" in text:
        gathered.doubt("a line goes on after a backslash")
    try:
        root = _parser().parse(text.encode()).root_node
    except UnicodeEncodeError:
        return Reading((), doubts=("it is not text",))
    if root.has_error:
        gathered.doubt("it is no shell text that can be read")
    gathered.statement(root, 0)
    if not gathered.doubts and list(_flat(root)) != _second_opinion(text):
        gathered.doubt("it can be read in two ways")
    cwd = gathered.take_place(root)
    return Reading(tuple(gathered.segments), cwd, tuple(gathered.inner), tuple(dict.fromkeys(gathered.doubts)))


@cache
def _parser() -> Parser:
    import tree_sitter_bash

    return Parser(Language(tree_sitter_bash.language()))


@dataclass(slots=True)
class _Gathered:
    """What has been found so far, in the order of the text."""

    scripts: int
    segments: list[Segment] = field(default_factory=list)
    inner: list[Segment] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def doubt(self, why: str) -> None:
        self.doubts.append(why)

    def statement(self, node: Node, depth: int) -> None:
        """Gather the commands of a statement, and doubt whatever is no plain one."""
        if depth > _DEPTH_MAX:
            self.doubt("it is nested too deep")
            return
        if node.type == "command":
            self._command(node, depth)
        elif node.type == "redirected_statement":
            self._redirected(node, depth)
        elif node.type in _STRUCTURE:
            if node.children and node.children[0].type == "((":
                self.doubt("arithmetic is a subshell to some shells")
            self._children(node, depth)
        elif node.type in _WORDS:
            # What a `for` ranges over, which only an expansion can use.
            self._word(node, depth)
        elif node.type not in {"comment", "variable_name"}:
            self.doubt(f"{node.type.replace('_', ' ')} is not plain enough")
            self._children(node, depth)

    def _children(self, node: Node, depth: int) -> None:
        for child in node.children:
            if child.is_named:
                self.statement(child, depth + 1)

    def _redirected(self, node: Node, depth: int) -> None:
        body = node.child_by_field_name("body")
        late: list[str] = []
        before = len(self.segments)
        if body is not None:
            self.statement(body, depth + 1)
        at = len(self.segments)
        for redirect in node.children_by_field_name("redirect"):
            late += self._redirect(redirect, depth)
        if late:
            # `rm >log x` is `rm x`: words behind the target belong to the command.
            if body is not None and body.type == "command" and at > before:
                self._replace(at - 1, (*self.segments[at - 1].argv, *late))
            else:
                self.doubt("words follow a redirection")
                self.inner += [Segment((*segment.argv, *late)) for segment in self.segments[before:at]]
        if body is None:
            self.doubt("a redirection without a command")

    def _replace(self, at: int, argv: tuple[str, ...]) -> None:
        self.segments[at] = Segment(argv)
        self._consider(argv)

    def _redirect(self, node: Node, depth: int) -> list[str]:
        """Gather a redirection as a segment; return the words behind its target."""
        if node.type != "file_redirect":
            self.doubt("text is fed into a command")
            for found in _substitutions(node, 0):
                self._children(found, depth + 1)
            return []
        operator = next((child.type for child in node.children if not child.is_named), "")
        words = [self._word(target, depth) for target in node.children_by_field_name("destination")]
        if not words:
            return []
        target, *late = words
        if operator in {"<&-", ">&-"} or (operator in {">&", "<&"} and re.fullmatch(r"\d+-?|-", target)):
            return late
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            self.doubt("a redirection to the network")
        elif target not in _SILENT:
            sign = "<" if operator == "<" else ">>" if operator.endswith(">>") else ">"
            self.segments.append(Segment((sign, target)))
        return late

    def _command(self, node: Node, depth: int) -> None:
        argv: list[str] = []
        redirects: list[Node] = []
        for child in node.children:
            if child.type == "variable_assignment":
                argv.append(self._assignment(child, depth))
            elif child.type.endswith("_redirect"):
                redirects.append(child)
            elif child.is_named:
                argv.append(self._word(child, depth))
            elif child.type not in {"(", ")"}:
                self.doubt(f"{child.type!r} in a command")
        for redirect in redirects:
            argv += self._redirect(redirect, depth)
        if node.child_by_field_name("name") is None:
            self.doubt("there is no command to run")
        if argv[:1] == ["!"]:
            # What is negated twice is run by some shells, and refused by others.
            self.doubt("a second `!` is another negation to some shells")
            argv = list(dropwhile(lambda word: word == "!", argv))
        if argv:
            self._take(tuple(argv), piped=_is_piped(node))

    def _take(self, argv: tuple[str, ...], *, piped: bool) -> None:
        script = shell_script(argv)
        if script is not None:
            reading = _read(script.text, self.scripts + 1)
            self.segments += reading.segments
            self.inner += reading.inner
            self.doubts += reading.doubts
            if reading.cwd:
                self.doubt("a script that changes its place")
            if script.doubt:
                self.doubt(script.doubt)
            return
        why = doubt_of(argv, piped=piped)
        if why is not None:
            self.doubt(why)
        self.segments.append(Segment(argv))
        self._consider(argv)

    def _consider(self, argv: tuple[str, ...]) -> None:
        """Note what a command is given to run."""
        for found in unwrapped(argv):
            self.inner.append(Segment(found))
            script = shell_script(found)
            if script is not None:
                self.inner += _read(script.text, self.scripts + 1).suspects

    def _assignment(self, node: Node, depth: int) -> str:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        named = _text(name) if name is not None else ""
        if _DANGEROUS_NAMES.match(named) or (name is not None and name.type != "variable_name"):
            self.doubt(f"{named} decides what is run")
        if any(child.type == "+=" for child in node.children):
            self.doubt("a value is added to")
        return f"{named}={self._word(value, depth) if value is not None else ''}"

    def _word(self, node: Node, depth: int) -> str:
        """The word's value; one that only running it can tell is a doubt, and its text stands for it."""
        value = _literal(node)
        if value is not None:
            return value
        self.doubt("a word is not literal")
        for found in _substitutions(node, 0):
            self._children(found, depth + 1)
        return _text(node)

    def take_place(self, root: Node) -> str:
        """Where the commands run: the directory of a leading `cd DIR &&`, which is then no segment of its own."""
        moves = [at for at, segment in enumerate(self.segments) if segment.argv[0] in {"cd", "pushd", "popd"}]
        if not moves:
            return ""
        first = self.segments[0]
        if moves == [0] and len(first.argv) == 2 and first.argv[0] == "cd" and _leads(root) and len(self.segments) > 1:
            place = first.argv[1]
            if place and not place.startswith("-"):
                del self.segments[0]
                return posixpath.normpath(place)
        self.doubt("it changes its place on the way")
        return ""


def _leads(root: Node) -> bool:
    """Whether everything else happens only if the first command succeeds."""
    statements = [child for child in root.children if child.type != "comment"]
    if len(statements) != 1:
        return False
    node = statements[0]
    if node.type == "redirected_statement":
        # The grammar ties what belongs to the last command of a list to all of it.
        node = node.child_by_field_name("body") or node
    if node.type != "list":
        return False
    while node.type == "list":
        if [child.type for child in node.children if not child.is_named] != ["&&"]:
            return False
        node = node.children[0]
    return node.type == "command"


def _is_piped(node: Node) -> bool:
    """Whether a command reads what another one writes."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type == "pipeline" and parent.children[0].id != child.id:
            return True
        child, parent = parent, parent.parent
    return False


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _literal(node: Node) -> str | None:
    """What a word is, or None when that depends on more than its text."""
    text = _text(node)
    match "broken" if node.is_missing or node.has_error else node.type:
        case "word" | "number":
            return _bare(text)
        case "raw_string":
            return text[1:-1]
        case "string" if all(child.type in {'"', "string_content"} for child in node.children):
            return re.sub(r'\\([$`"\\])', r"\1", text[1:-1])
        case "command_name" if node.child_count == 1:
            return _literal(node.children[0])
        case "concatenation":
            return _joined(node)
    return None


def _joined(node: Node) -> str | None:
    # The pieces of one word touch each other, or it is not one word.
    ends = [node.start_byte, *(child.end_byte for child in node.children)]
    if any(child.start_byte != end for child, end in zip(node.children, ends, strict=False)):
        return None
    bare = "".join(_text(child) for child in node.children if child.type in {"word", "number"})
    pieces = [_literal(child) for child in node.children]
    if None in pieces or _PATTERN.search(re.sub(r"\\.", "", bare)):
        return None
    return "".join(piece for piece in pieces if piece is not None)


def _bare(text: str) -> str | None:
    """An unquoted word without its backslashes; None when the shell would expand it."""
    if _PATTERN.search(re.sub(r"\\.", "", text)) or re.search(r"[$`\"']", re.sub(r"\\.", "", text)):
        return None
    return re.sub(r"\\(.)", r"\1", text)


def _substitutions(node: Node, depth: int) -> Iterator[Node]:
    if node.type in _SUBSTITUTIONS:
        yield node
    elif depth < _DEPTH_MAX:
        for child in node.children:
            yield from _substitutions(child, depth + 1)


def _flat(node: Node) -> Iterator[str]:
    """Every word and keyword of a text that raised no doubt, in order."""
    if node.type in _WORDS or node.type in {"variable_name", "file_descriptor"}:
        value = _literal(node) if node.type in _WORDS else _text(node)
        yield value or ""
    elif node.type == "variable_assignment":
        yield "".join(_flat_pieces(node))
    elif node.type == "comment":
        return
    elif node.child_count == 0:
        if not node.is_named and _KEYWORD.fullmatch(node.type):
            yield node.type
    else:
        for child in node.children:
            yield from _flat(child)


def _flat_pieces(node: Node) -> Iterator[str]:
    for child in node.children:
        yield "=" if child.type == "=" else next(iter(_flat(child)), "")


def _second_opinion(text: str) -> Sequence[str] | None:
    """The words of the text as the standard library sees them; None when it sees none."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    try:
        return [word for word in lexer if not word or set(word) - set("();<>|&")]
    except ValueError:
        return None
