"""What a command is given of the environment."""

from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.workspace.environment import MARK, child_environment, split_early


def test_only_harmless_variables_are_inherited() -> None:
    inherited = {
        "PATH": "/bin",
        "LANG": "C",
        "LC_TIME": "C",
        "OPENAI_API_KEY": "sk-1",
        "SSH_AUTH_SOCK": "/s",
        "FOO": "1",
    }
    assert set(child_environment(inherited, {}, known=())) == {"PATH", "LANG", "LC_TIME", MARK}


def test_what_the_task_asked_for_is_there() -> None:
    environ = child_environment({"LANG": "C"}, {"CI": "1", "LANG": "de_DE"}, known=())
    assert (environ["CI"], environ["LANG"]) == ("1", "de_DE")


def test_a_secret_enters_by_no_door() -> None:
    secrets = SecretSet([KnownValue("env.KEY", "sk-live-12345"), KnownValue("task.X", "hunter2hunter2")])
    wanted = {"A": "sk-live-12345", "B": "postgres://u:hunter2hunter2@db/x", "C": "plain"}
    environ = child_environment({"PATH": "/bin", "TERM": "sk-live-12345"}, wanted, known=secrets.values)
    assert set(environ) == {"PATH", "C", MARK}


def test_a_confined_command_has_a_home_of_its_own() -> None:
    environ = child_environment({"HOME": "/home/somebody", "TMPDIR": "/x"}, {}, known=(), home="/tmp")
    assert (environ["HOME"], environ["TMPDIR"]) == ("/tmp", "/tmp")


def test_each_call_has_a_mark_that_nobody_can_guess() -> None:
    first, second = (child_environment({}, {}, known=())[MARK] for _ in range(2))
    assert first != second
    assert len(first) == 32


def test_names_that_are_no_names_are_left_out() -> None:
    assert set(child_environment({}, {"A=B": "1", "": "2", "A B": "3", "OK": "a\0b"}, known=())) == {"PATH", MARK}


def test_what_would_act_before_the_walls_are_up_is_kept_for_the_inside() -> None:
    outer, early = split_early({"PATH": "/bin", "LD_PRELOAD": "/x.so", "BASH_ENV": "/x", "IFS": "x", "LDFLAGS": "-O2"})
    assert set(outer) == {"PATH", "LDFLAGS"}
    assert set(early) == {"LD_PRELOAD", "BASH_ENV", "IFS"}
