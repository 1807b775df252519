"""`run`, `watch` and `replay` as somebody at a terminal sees them: typed keys, Ctrl-C, resizing, hostile output."""

import shlex
import subprocess
from collections.abc import Generator
from typing import Any

import pytest

from runwire.protocol.envelope import run_id_of
from tests.cli.emulated import Terminal, terminal
from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import Gateway, running
from tests.cli.working import done, edit, rows, script, sh, types, workspace
from tests.client.render.logs import log
from tests.patience import PATIENCE_S

_CALL = {"tool_call_id": "call_1", "tool_name": "shell_exec", "kind": "shell"}
# It does not stop when it is told to, so there is time to press a key again.
_STUBBORN = "trap '' TERM INT; echo begun; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    """A gateway for all tests."""
    home = tmp_path_factory.mktemp("home")
    with running(Shell(home), home / "data") as started:
        yield started


def _run(shell: Shell, gateway: Gateway, model: str, *more: str) -> list[str]:
    return [
        "--data",
        str(gateway.data),
        "run",
        "--model",
        model,
        "--workspace",
        str(workspace(shell, a="two\n")),
        *more,
        "Go.",
    ]


def _left_tidy(shown: Terminal) -> bool:
    """Whether the terminal was left with a cursor, with line wrapping and with an echo."""
    modes = (b"\x1b[?25", b"\x1b[?7")
    return shown.echoes() and all(shown.said.rfind(mode + b"h") >= shown.said.rfind(mode + b"l") for mode in modes)


def test_a_run_is_shown_to_its_end(shell: Shell, gateway: Gateway) -> None:
    todo: dict[str, Any] = {"name": "todo_write", "input": {"todos": [{"content": "look", "status": "in_progress"}]}}
    model = script(
        shell.home,
        {"text": "# Plan\n\nI **look** first.\n", "tools": [todo]},
        sh("echo out; exit 3"),
        edit("a.txt", "two", "TWO"),
        {**done("Changed `a.txt`."), "cost_micros_usd": 5000},
    )
    with terminal(shell, *_run(shell, gateway, model, "--budget-usd", "1")) as shown:
        assert shown.end() == 0
        text = shown.text()
        assert _left_tidy(shown)
    for line in ("▌ Go.", "Plan", "I look first.", "  │ out", "  │ -two", "  │ +TWO", "Changed a.txt.", "◐ look"):
        assert line in text.split("\n")
    assert "✗ $ echo out; exit 3  exit 3" in text
    assert "± a.txt  1 hunk, +1/-1 line · applied" in text
    assert text.split("\n")[-1].startswith("✓ completed  4 turns · $0.005")


def test_without_a_gateway_it_looks_the_same(shell: Shell) -> None:
    model = script(shell.home, sh("echo hello"), done("It said hello."))
    with terminal(shell, "--data", "data", "run", "--model", model, "--mode", "scratch", "Say hello.") as shown:
        assert shown.end() == 0
        assert "  │ hello" in shown.text()
        assert "It said hello." in shown.text()


def test_questions_are_answered_by_a_key(shell: Shell, gateway: Gateway) -> None:
    editor = shell.home / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/third/edited/ "$1"\n')
    editor.chmod(0o755)
    model = script(shell.home, sh("echo first"), edit("a.txt", "two", "TWO"), sh("echo third"), sh("echo 4th"), done())
    arguments = _run(shell, gateway, model, "--policy", "ask")
    # What is typed before there is a question is no answer.
    with terminal(shell, *arguments, env={"EDITOR": str(editor)}) as shown:
        shown.type("nnn")
        shown.see("? May it? echo first")
        shown.type("x?")
        assert "requires approval" in shown.see("let it happen now and always")
        shown.type("y")
        shown.see("✓ $ echo first  approved by operator")
        assert "  │ +TWO" in shown.see("? May it? edit a.txt")
        shown.type("n")
        shown.see("⊘ edit_file a.txt  denied by operator")
        shown.see("? May it? echo third")
        shown.type("e")
        shown.see("✓ $ echo edited  approved by operator, edited")
        shown.see("? May it? echo 4th")
        shown.type("a")
        assert shown.end() == 0
        assert "approved by operator (always)" in shown.text()
        assert _left_tidy(shown)


def test_an_editor_that_changes_nothing_answers_nothing(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh("echo first"), done())
    with terminal(shell, *_run(shell, gateway, model, "--policy", "ask"), env={"EDITOR": "true"}) as shown:
        shown.see("? May it? echo first")
        shown.type("e")
        shown.see("nothing was changed, so nothing was answered")
        shown.type("s")
        assert shown.end() == 1


def test_ctrl_c_cancels_and_says_so(shell: Shell, gateway: Gateway) -> None:
    with terminal(shell, *_run(shell, gateway, script(shell.home, sh("echo begun; sleep 61")))) as shown:
        shown.see("  │ begun")
        shown.type("\x03")
        assert shown.end() == 130
        assert "note:  cancelling; Ctrl-C again leaves it in the background" in shown.text()
        assert "■ cancelled by operator: interrupted" in shown.text()
        assert _left_tidy(shown)


def test_ctrl_c_twice_leaves_the_run_and_says_how_to_get_back(shell: Shell, gateway: Gateway) -> None:
    with terminal(shell, *_run(shell, gateway, script(shell.home, sh(_STUBBORN)))) as shown:
        shown.see("  │ begun")
        shown.type("\x03")
        shown.see("note:  cancelling")
        shown.type("\x03")
        assert shown.end() == 130
        assert _left_tidy(shown)
        text = shown.text().replace("\n", "")
    listed = rows(shell.runwire("--data", str(gateway.data), "--json", "runs", "--limit", "1"))
    assert f"left {listed[0]['run_id']} in the background; `runwire watch {listed[0]['run_id']}` comes back" in text


def test_without_a_gateway_leaving_says_that_the_run_ends(shell: Shell) -> None:
    model = script(shell.home, sh(_STUBBORN))
    with terminal(shell, "--data", "data", "run", "--model", model, "--mode", "scratch", "x") as shown:
        shown.see("  │ begun")
        shown.type("\x03")
        shown.see("note:  cancelling")
        shown.type("\x03")
        assert shown.end() == 130
        assert "was carried out by this command and ends with it" in shown.text().replace("\n", "")


def test_ctrl_z_gives_the_terminal_back_and_the_run_goes_on_in_the_background(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh("echo first"), done("All done."), name="stopped.json")
    command = shlex.join([*RUNWIRE, *_run(shell, gateway, model, "--policy", "ask")])
    with terminal(shell, "--norc", "--noprofile", "-i", program=["bash"], env={"PS1": "ready> "}) as shown:
        shown.type(f"{command}\n")
        shown.see("? May it? echo first")
        shown.type("\x1a")
        # What was drawn is taken away, and what is typed is shown again.
        assert "? May it?" not in shown.see("Stopped")
        shown.type("printf '\\033[H\\033[2J'; fg\n")
        assert "Stopped" not in shown.see("? May it? echo first")
        shown.type("\x1a")
        shown.see("Stopped")
        shown.type("bg; echo the shell $((40 + 2))\n")
        assert "? May it?" not in shown.see("the shell 42")
        # Nobody is asked in the background, so the answer comes from elsewhere.
        (asked,) = rows(shell.runwire("--data", str(gateway.data), "--json", "approvals"))
        assert shell.runwire("--data", str(gateway.data), "approve", asked["approval_id"]).status == 0
        shown.see("✓ completed")
        shown.type("exit 7\n")
        assert shown.end() == 7
        assert "All done." in shown.text()
        assert _left_tidy(shown)


def test_what_a_tool_prints_cannot_take_over_the_terminal(shell: Shell, gateway: Gateway) -> None:
    evil = r"printf '\033]0;owned\007\033[2J\033[31mred\033[0m\n\342\200\256desrever\n\033[?1049h10%%\r100%%\n'"
    with terminal(shell, *_run(shell, gateway, script(shell.home, sh(evil), done("\x1b]0;owned\x07\u202e")))) as shown:
        assert shown.end() == 0
        assert shown.title == ""
        for line in ("  │ red", "  │ \\u{202e}desrever", "  │ 100%", "\\u{1b}]0;owned\\u{7}\\u{202e}"):
            assert line in shown.text().split("\n")
        assert b"?1049h" not in shown.said.replace(b"033[?1049h", b"")
        assert "\u202e".encode() not in shown.said


def test_a_terminal_may_change_its_size(shell: Shell, gateway: Gateway) -> None:
    command = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.2; done"
    with terminal(shell, *_run(shell, gateway, script(shell.home, sh(command), done("Over."))), columns=60) as shown:
        shown.see("  │ line 2")
        shown.resize(120, 30)
        shown.see("  │ line 4")
        shown.resize(50, 12)
        assert shown.end() == 0
        assert shown.text().split("\n")[-1].startswith("✓ completed")
        assert "  │ line 8" in shown.text()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"PYTHONIOENCODING": "latin-1"}])
def test_where_nothing_can_be_drawn_there_are_plain_lines(shell: Shell, gateway: Gateway, env: dict[str, str]) -> None:
    model = script(shell.home, sh("echo hello"), done("It said hello."))
    with terminal(shell, *_run(shell, gateway, model, "--policy", "ask"), env=env) as shown:
        shown.see("[y]es / [n]o / [e]dit / [a]lways / [s]top the run / [?] more:")
        shown.type("?\n")
        shown.see('"command": "echo hello"')
        shown.type("y\n")
        assert shown.end() == 0
        assert shown.text().split("\n")[-1] == "completed: 2 turns, $0.00"
    assert b"\x1b" not in shown.said


def test_watch_shows_a_run_that_is_over(shell: Shell, gateway: Gateway) -> None:
    ended = shell.runwire("--json", *_run(shell, gateway, script(shell.home, sh("echo hello"), done("It said hello."))))
    run_id = run_id_of(ended.out.splitlines()[0])
    with terminal(shell, "--data", str(gateway.data), "watch", run_id[:-2]) as shown:
        assert shown.end() == 0
        assert "✓ $ echo hello" in shown.text()
        assert shown.text().split("\n")[-1].startswith("✓ completed  2 turns")


def test_leaving_watch_leaves_the_run_alone(shell: Shell, gateway: Gateway) -> None:
    started = shell.runwire(*_run(shell, gateway, script(shell.home, sh("echo begun; sleep 3"), done()), "--detach"))
    run_id = started.out.decode().strip()
    with terminal(shell, "--data", str(gateway.data), "watch", run_id) as shown:
        shown.see("  │ begun")
        shown.type("\x03")
        assert shown.end() == 130
        assert _left_tidy(shown)
    followed = shell.runwire("--data", str(gateway.data), "--json", "watch", run_id)
    assert types(followed.out.splitlines())[-1] == "run.finished"


def test_ten_megabytes_are_shown_as_their_end(shell: Shell) -> None:
    chunk = "".join(f"{number:07d}\n" for number in range(8192))
    events: list[tuple[str, object]] = [("tool.invoked", {**_CALL, "turn_index": 0})]
    events += [
        ("tool.shell.output_chunk", {"tool_call_id": "call_1", "stream": "stdout", "data": chunk, "byte_offset": 0})
    ] * 160
    events += [
        ("tool.completed", {**_CALL, "duration_ms": 1}),
        ("run.finished", {"turns": 1, "cost_micros_usd": 0, "duration_ms": 1}),
    ]
    (shell.home / "long.jsonl").write_bytes(b"\n".join(log(*events)))
    with terminal(shell, "replay", "./long.jsonl", "--speed", "max") as shown:
        assert shown.end() == 0
        assert "  │ … 1,310,714 lines before\n  │ 0008186\n" in shown.text()
    assert len(shown.said) < 100_000


def test_what_happened_is_shown_again_with_its_diffs(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh("echo out"), edit("a.txt", "two", "TWO"), done("**Changed.**"), name="again.json")
    ended = shell.runwire(*_run(shell, gateway, model, "--json"))
    run_id = run_id_of(ended.out.splitlines()[0])
    (shell.home / "again.jsonl").write_bytes(ended.out)
    data = ("--data", str(gateway.data))
    told = ("▌ Go.", "  │ out", "± a.txt  1 hunk, +1/-1 line · applied", "  │ -two", "  │ +TWO", "Changed.")
    for arguments in (
        ["replay", run_id, "--speed", "max"],
        ["replay", "./again.jsonl", "--speed", "max"],
        ["show", run_id],
    ):
        with terminal(shell, *data, *arguments) as shown:
            assert shown.end() == 0
            assert set(told) <= set(shown.text().split("\n"))
            assert _left_tidy(shown)
    # Where nothing is known of the run, all but the diffs is shown, and nothing is made.
    with terminal(shell, "--data", "nowhere", "replay", "./again.jsonl", "--speed", "max") as shown:
        assert shown.end() == 0
        assert "± a.txt  1 hunk, +1/-1 line · applied" in shown.text()
    assert not (shell.home / "nowhere").exists()


def test_a_program_is_shown_a_run_as_plain_lines(shell: Shell, gateway: Gateway) -> None:
    model = script(shell.home, sh("printf '\\033[31mout\\n'"), done("**Changed.**"), name="plain.json")
    run_id = run_id_of(shell.runwire(*_run(shell, gateway, model, "--json")).out.splitlines()[0])
    shown = shell.runwire("--data", str(gateway.data), "show", run_id)
    lines = shown.out.decode().split("\n")
    assert (shown.status, shown.err) == (0, "")
    assert "status   completed" in lines
    assert {"▌ Go.", "  │ out", "**Changed.**"} <= set(lines)
    assert "\x1b" not in shown.out.decode()
    short = shell.runwire("--data", str(gateway.data), "show", run_id, "--events", "1").out.decode()
    assert "▌ Go." not in short
    assert f"`runwire replay {run_id} --speed max`" in short
    assert "✓ completed" in short


@pytest.mark.parametrize(
    ("arguments", "doing"), [(["verify", "-"], "proving the log"), (["import", "-"], "taking the log in")]
)
def test_what_takes_long_is_seen_to_go_on_and_leaves_no_trace(shell: Shell, arguments: list[str], doing: str) -> None:
    with terminal(shell, "--data", "data", *arguments) as shown:
        # It waits for a log, so it takes as long as we want.
        shown.see(doing)
        shown.type("\x04")
        assert shown.end() == 1
        assert doing not in shown.text()
        assert shown.echoes()


def test_what_replay_cannot_read_is_no_log(shell: Shell) -> None:
    (shell.home / "x.jsonl").write_text("nonsense\n")
    with terminal(shell, "replay", "./x.jsonl", "--speed", "max") as shown:
        assert shown.end() == 1
        assert "error: this is no log of envelopes" in shown.text()
        assert _left_tidy(shown)


def test_a_command_without_a_stdout_does_its_work(shell: Shell, gateway: Gateway) -> None:
    command = [*RUNWIRE, *_run(shell, gateway, script(shell.home, sh("touch made"), done()))]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        env=shell.environment(),
        cwd=shell.home,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (workspace(shell) / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["import", "-"], 1),
        (["verify", "-"], 1),
        (["replay", "-"], 0),
        (["ingest", "--agent", "zot"], 1),
        (["approve", "appr_1", "--edit", "-"], 2),
        (["top"], 2),
        (["run", "--model", "nothing", "Go."], 2),
    ],
)
def test_a_command_without_a_stdin_hears_nothing(shell: Shell, arguments: list[str], status: int) -> None:
    ended = _through_a_shell(shell, 'exec "$@" <&-', [*RUNWIRE, "--data", "data", *arguments])
    assert ended.returncode == status
    assert b"Traceback" not in ended.stderr


def test_a_run_without_a_stdin_is_shown_to_its_end(shell: Shell, gateway: Gateway) -> None:
    command = [*RUNWIRE, *_run(shell, gateway, script(shell.home, done("Heard.")))]
    ended = _through_a_shell(shell, 'exec "$@" <&-', command)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout == b"Heard.\ncompleted: 1 turn, $0.00\n"


def test_piped_into_something_that_has_enough_it_ends_quietly(shell: Shell, gateway: Gateway) -> None:
    command = [*RUNWIRE, *_run(shell, gateway, script(shell.home, done("one\n\ntwo\n"), name="pipe.json"))]
    ended = _through_a_shell(shell, '"$@" | head -1', command)
    assert (ended.stdout, ended.stderr) == (b"one\n", b"")


def _through_a_shell(shell: Shell, line: str, command: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Have a shell run a line whose `$@` is the command."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *command],
        env=shell.environment(),
        cwd=shell.home,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
