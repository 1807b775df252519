"""`runwire up`: how it begins, what it leaves, how it ends."""

import signal
import stat
from pathlib import Path

import msgspec
import pytest

from runwire.cli.note import Note
from tests.cli.program import Shell
from tests.cli.running import running, said_by
from tests.spec import spec


@spec("ACC-5")
def test_it_says_where_it_listens_and_how_to_get_in(shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(shell, data) as gateway:
        token = gateway.token
        assert msgspec.json.decode((data / "gateway.json").read_bytes(), type=Note) == Note(
            url=gateway.url, pid=gateway.process.pid
        )
        assert stat.S_IMODE((data / "token").stat().st_mode) == 0o600
        said = said_by(data).read_text()
    assert f"listens on {gateway.url}\n" in said
    assert f"token:  {data / 'token'}\n" in said
    assert f"{gateway.url}/#token={token}\n" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(shell: Shell, tmp_path: Path, number: signal.Signals) -> None:
    with running(shell, tmp_path / "data") as gateway:
        assert gateway.stop(number) == 0
    assert not (tmp_path / "data" / "gateway.json").exists()


def test_the_note_of_one_that_was_killed_misleads_nobody(shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(shell, data) as gateway:
        gateway.stop(signal.SIGKILL)
    assert (data / "gateway.json").exists()
    ended = shell.runwire("--data", str(data), "runs")
    assert (ended.status, ended.out, ended.err) == (0, b"", "")
    with running(shell, data) as gateway:
        assert shell.runwire("--data", str(data), "events", "run_1").status == 4
    assert shell.runwire("--data", str(data), "doctor").status == 0


def test_a_port_that_is_taken_is_an_error_and_not_a_traceback(shell: Shell, tmp_path: Path) -> None:
    with running(shell, tmp_path / "one") as gateway:
        ended = shell.runwire("--data", str(tmp_path / "two"), "up", "--port", str(gateway.port))
        assert ended.status == 2
        assert ended.err.startswith("error: ")
        assert "cannot listen on 127.0.0.1" in ended.err
        assert "\nhint:  choose another with --port, or stop what listens there\n" in ended.err


def test_a_second_one_on_the_same_data_is_a_conflict_and_leaves_the_first_alone(shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(shell, data) as gateway:
        note = (data / "gateway.json").read_bytes()
        ended = shell.runwire("--data", str(data), "up", "--port", "0")
        assert (ended.status, ended.out) == (5, b"")
        assert ended.err.startswith("error: ")
        assert "\nhint:  " in ended.err
        assert (data / "gateway.json").read_bytes() == note
        assert shell.runwire("--data", str(data), "watch", "run_1").status == 4
        assert gateway.stop() == 0
    assert not (data / "gateway.json").exists()


def test_a_note_that_names_another_gateway_by_then_is_left_to_it(shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(shell, data) as gateway:
        # A process on another machine may have the same number.
        other = msgspec.json.encode(Note(url="http://127.0.0.1:9", pid=gateway.process.pid))
        (data / "gateway.json").write_bytes(other)
        assert gateway.stop() == 0
    assert (data / "gateway.json").read_bytes() == other


def test_a_token_of_the_operators_own_is_taken(shell: Shell, tmp_path: Path) -> None:
    own = "a-token-of-my-own-making"
    with running(shell, tmp_path / "data", env={"RUNWIRE_TOKEN": own}) as gateway:
        settings = {"RUNWIRE_URL": gateway.url, "RUNWIRE_TOKEN": own}
        assert shell.runwire("runs", env=settings).status == 0
        refused = shell.runwire("runs", env=settings | {"RUNWIRE_TOKEN": "another-token-altogether"})
        assert (refused.status, refused.out) == (1, b"")
        assert refused.err.startswith(
            "error: this needs a token that the gateway knows\nhint:  give the gateway's token with --token"
        )


def test_settings_come_from_the_environment_and_from_options(shell: Shell, tmp_path: Path) -> None:
    with running(shell, tmp_path / "data") as gateway:
        data = str(tmp_path / "data")
        for arguments, env in (
            (["--data", data, "runs"], {}),
            (["runs", "--data", data], {}),
            (["runs"], {"RUNWIRE_DATA": data}),
            (["runs", "--url", gateway.url, "--token", gateway.token], {}),
            (["--url", gateway.url, "runs"], {"RUNWIRE_TOKEN": gateway.token}),
        ):
            assert shell.runwire(*arguments, env=env).status == 0, arguments
