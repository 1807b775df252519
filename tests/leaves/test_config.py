import subprocess
import sys
from pathlib import Path

import pytest

from runwire.config import ONLY_IN_FILE, AgentSettings, Config, ModelProvider, environment_name, load_config
from runwire.errors import ConfigInvalid


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def write(data: Path, text: str) -> None:
    data.mkdir()
    (data / "config.toml").write_text(text, "utf-8")


def test_nothing_set_means_the_documented_defaults(data: Path) -> None:
    config = load_config(environ={}, options={"data": str(data)})
    assert config == Config(data=data)
    assert (config.host, config.port, config.base_url) == ("127.0.0.1", 7437, "http://127.0.0.1:7437")
    assert (config.heartbeat_s, config.stall_s) == (10, 4 * 3600)
    assert (config.body_limit_bytes, config.append_limit_bytes) == (1024**2, 256 * 1024)
    assert config.retention_max_age_s is config.retention_max_events is config.retention_max_bytes is None


def test_each_source_beats_the_one_before_it(data: Path) -> None:
    write(data, "port = 1\nheartbeat_s = 1\nstall_s = 1\n")
    environ = {"RUNWIRE_PORT": "2", "RUNWIRE_HEARTBEAT_S": "2", "RUNWIRE_DATA": str(data)}
    config = load_config(environ=environ, options={"port": 3, "heartbeat_s": None})
    assert (config.port, config.heartbeat_s, config.stall_s) == (3, 2.0, 1.0)


def test_the_file_is_the_one_of_the_chosen_data_directory(tmp_path: Path) -> None:
    write(tmp_path / "a", "port = 1\n")
    write(tmp_path / "b", "port = 2\n")
    environ = {"RUNWIRE_DATA": str(tmp_path / "a")}
    assert load_config(environ=environ).port == 1
    assert load_config(environ=environ, options={"data": str(tmp_path / "b")}).port == 2


def test_a_relative_data_directory_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(environ={"RUNWIRE_DATA": "here"}).data == tmp_path / "here"


def test_without_any_choice_the_data_goes_where_the_system_keeps_such_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    data = load_config(environ={}).data
    assert data.name == "runwire"
    assert data.is_relative_to(tmp_path)
    assert not data.exists()


def test_lists_are_given_as_arrays_in_the_file_and_by_commas_in_the_environment(data: Path) -> None:
    write(data, 'allowed_hosts = ["runs.example"]\n')
    environ = {"RUNWIRE_ALLOWED_ORIGINS": "https://a.example, https://b.example"}
    config = load_config(environ=environ, options={"data": data})
    assert config.allowed_hosts == ("runs.example",)
    assert config.allowed_origins == ("https://a.example", "https://b.example")


def test_an_empty_variable_counts_as_unset(data: Path) -> None:
    config = load_config(environ={"RUNWIRE_TOKEN": "", "RUNWIRE_URL": ""}, options={"data": data})
    assert (config.token, config.url) == (None, None)


def test_the_url_that_is_set_is_where_clients_go(data: Path) -> None:
    config = load_config(environ={"RUNWIRE_URL": "https://runs.example/"}, options={"data": data})
    assert config.base_url == "https://runs.example"


def test_an_ipv6_address_is_bracketed_in_the_url(data: Path) -> None:
    assert load_config(environ={}, options={"data": data, "host": "::1"}).base_url == "http://[::1]:7437"


def test_a_variable_of_somebody_else_is_left_alone(data: Path) -> None:
    assert load_config(environ={"RUNWIRE_COLOUR": "blue"}, options={"data": data}) == Config(data=data)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("prot = 7437", "prot"),
        ("port = 70000", "port"),
        ("port = 'many'", "port"),
        ("heartbeat_s = 0", "heartbeat_s"),
        ("retention_max_events = -1", "retention_max_events"),
        ("host = ''", "host"),
        ("token = 'secret'", "token"),
        ("data = 'elsewhere'", "data"),
        ("workers = -1", "workers"),
        ("models.x.wire = 'morse'", "models"),
        ("models.x.key = 'secret'", "models"),
        ("hooks = 'x'", "hooks"),
    ],
)
def test_a_bad_key_in_the_file_is_named_with_its_file(data: Path, text: str, key: str) -> None:
    write(data, text)
    with pytest.raises(ConfigInvalid) as caught:
        load_config(environ={}, options={"data": data})
    assert repr(key) in caught.value.message
    assert str(data / "config.toml") in caught.value.message
    assert caught.value.details["key"] == key


def test_a_bad_value_in_the_environment_is_named(data: Path) -> None:
    with pytest.raises(ConfigInvalid, match="environment: 'port'"):
        load_config(environ={"RUNWIRE_PORT": "http"}, options={"data": data})


def test_an_option_that_does_not_exist_is_named(data: Path) -> None:
    with pytest.raises(ConfigInvalid, match="options: there is no setting 'colour'"):
        load_config(environ={}, options={"data": data, "colour": "blue"})


def test_a_file_that_is_no_toml_is_named(data: Path) -> None:
    write(data, "port: 7437\n")
    with pytest.raises(ConfigInvalid, match=r"config\.toml: cannot be read"):
        load_config(environ={}, options={"data": data})


def test_the_token_is_not_shown(data: Path) -> None:
    config = load_config(environ={"RUNWIRE_TOKEN": "rw_s3cret"}, options={"data": data})
    assert config.token == "rw_s3cret"
    assert "s3cret" not in repr(config)
    assert "s3cret" not in str(config)


def test_every_setting_can_be_set_by_the_environment(data: Path) -> None:
    assert environment_name("heartbeat_s") == "RUNWIRE_HEARTBEAT_S"
    keys = [key for key in Config.__struct_fields__ if key != "data" and key not in ONLY_IN_FILE]
    config = load_config(environ={environment_name(key): "1" for key in keys}, options={"data": data})
    assert all(getattr(config, key) != getattr(Config(data=data), key) for key in keys)


def test_tables_come_from_the_file_alone(data: Path) -> None:
    write(
        data,
        """
        [models.ollama]
        base_url = "http://127.0.0.1:11434/v1"
        window_tokens = 8192
        [policy]
        default = "ask"
        [[hooks]]
        name = "audit"
        command = ["audit"]
        """,
    )
    config = load_config(environ={"RUNWIRE_MODELS": "x", "RUNWIRE_HOOKS": "x"}, options={"data": data})
    assert config.models == {
        "ollama": ModelProvider(base_url="http://127.0.0.1:11434/v1", wire="openai", window_tokens=8192)
    }
    assert config.policy == {"default": "ask"}
    assert config.hooks == ({"name": "audit", "command": ["audit"]},)


def test_a_policy_may_be_named(data: Path) -> None:
    assert load_config(environ={"RUNWIRE_POLICY": "read_only"}, options={"data": data}).policy == "read_only"


def test_an_approval_may_wait_for_ever(data: Path) -> None:
    write(data, 'approval_timeout_s = "null"')
    assert load_config(environ={}, options={"data": data}).approval_timeout_s is None


def test_importing_the_settings_loads_nothing_heavy() -> None:
    code = "import sys, runwire.config; print(*[name for name in ('platformdirs', 'asyncio', 'click') if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == ""


def test_agents_of_others_are_tables(data: Path) -> None:
    write(
        data,
        "[agents.zot]\ncommand = ['zot', 'rpc']\nenv = ['ANTHROPIC_API_KEY']\nmax_steps = 7\n"
        "[agents.goose]\ndialect = 'acp'\ncommand = ['goose', 'acp']\nset_env = {A = 'b'}\nstate = ['~/.goose']\n"
        "[agents.sales]\ndialect = 'agno'\nurl = 'http://127.0.0.1:7777'\nkind = 'team'\nagent = 'sales-team'\n"
        "network = false\nautospawn = true\nprompt = 'wait for orders'\nworkspace = '/srv'\ntimeout_s = 5\n",
    )
    agents = load_config(environ={}, options={"data": str(data)}).agents
    assert agents["zot"] == AgentSettings(
        dialect="zot", command=("zot", "rpc"), env=("ANTHROPIC_API_KEY",), max_steps=7
    )
    assert agents["goose"] == AgentSettings(
        dialect="acp", command=("goose", "acp"), set_env={"A": "b"}, state=("~/.goose",)
    )
    assert (agents["sales"].kind, agents["sales"].agent, agents["sales"].autospawn) == ("team", "sales-team", True)
    assert (agents["zot"].network, agents["sales"].network, agents["sales"].timeout_s) == (True, False, 5.0)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("agents = 1", "agents"),
        ("[agents.'a b']\ndialect = 'zot'", "agents.a b"),
        ("[agents.native]\ndialect = 'zot'", "agents.native"),
        ("[agents.mine]\ncommand = ['x']", "agents.mine.dialect"),
        ("[agents.mine]\ndialect = 'klingon'", "agents.mine.dialect"),
        ("[agents.mine]\ndialect = 'acp'", "agents.mine.command"),
        ("[agents.mine]\ndialect = 'agno'", "agents.mine.url"),
        ("[agents.mine]\ndialect = 'agno'\nurl = 'ftp://x'", "agents.mine.url"),
        ("[agents.zot]\ncommand = []", "agents.zot.command"),
        ("[agents.zot]\nautospawn = true", "agents.zot.prompt"),
        ("[agents.zot]\ncolour = 'red'", "agents.zot.colour"),
        ("[agents.zot]\nmax_steps = 0", "agents.zot.max_steps"),
    ],
)
def test_a_table_of_an_agent_that_makes_no_sense_names_the_key(data: Path, text: str, key: str) -> None:
    write(data, text)
    with pytest.raises(ConfigInvalid) as refused:
        load_config(environ={}, options={"data": str(data)})
    assert refused.value.details["key"] == key
    assert key.rpartition(".")[2] in refused.value.message
