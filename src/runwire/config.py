"""What an operator can set: one frozen value, read once from defaults < file < environment < options."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from runwire.errors import ConfigInvalid

FILE_NAME = "config.toml"
ENVIRONMENT_PREFIX = "RUNWIRE_"
# A colon parts the family of an agent from its name, as in acp:NAME.
_AGENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)

Bytes = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
Text = Annotated[str, Meta(min_length=1)]
Dialect = Literal["zot", "pi", "claude", "codex", "opencode", "gemini", "acp", "agno"]

ONLY_IN_FILE = frozenset({"agents", "models", "hooks"})
"""Settings that are tables, which no environment variable can hold."""


class ModelProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the models of one provider are reached, for providers that are not known by name."""

    base_url: str | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key; the key itself never stands in the file."""
    wire: Literal["openai", "anthropic"] = "openai"
    window_tokens: Count | None = None
    max_output_tokens: Count | None = None
    tool_use: bool = True
    images: bool = True


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent of somebody else's: where it is and how it is run. What is unset is as its dialect has it."""

    dialect: Annotated[
        Dialect | None,
        Meta(description="How it speaks: " + ", ".join(get_args(Dialect)) + "; as it is named when unset."),
    ] = None
    command: Annotated[
        Annotated[tuple[Text, ...], Meta(min_length=1)] | None,
        Meta(description="Program and arguments that start it; acp needs one."),
    ] = None
    url: Annotated[
        Annotated[str, Meta(pattern=r"^https?://[^/]+")] | None,
        Meta(description="Base URL of a server that runs already; agno needs one."),
    ] = None
    agent: Annotated[Text | None, Meta(description="Id of the agent on that server; the table's name when unset.")] = (
        None
    )
    kind: Annotated[Literal["agent", "team", "workflow"], Meta(description="What that id names on the server.")] = (
        "agent"
    )
    api_key_env: Annotated[
        Text | None, Meta(description="Environment variable that holds the key the server asks for.")
    ] = None
    env: Annotated[
        tuple[Text, ...],
        Meta(description="Names of our own environment variables that it may see, beside the usual few."),
    ] = ()
    set_env: Annotated[dict[str, str], Meta(description="Variables that are set for it.")] = {}
    state: Annotated[
        tuple[Text, ...], Meta(description="Folders beside the workspace that it may write; `~` is the home directory.")
    ] = ()
    network: Annotated[bool, Meta(description="Whether it may use the network, which most need for their model.")] = (
        True
    )
    autospawn: Annotated[
        bool, Meta(description="Whether a run of it starts with the gateway, and again whenever it ends.")
    ] = False
    prompt: Annotated[Text | None, Meta(description="What such a run is asked to do; `autospawn` needs one.")] = None
    workspace: Annotated[
        Text | None, Meta(description="Folder that such a run works in; a scratch one when unset.")
    ] = None
    model: Annotated[Text | None, Meta(description="Model that it is asked to use, unless the task says.")] = None
    max_steps: Annotated[Count | None, Meta(description="How many turns a run of it may take.")] = None
    timeout_s: Annotated[Seconds | None, Meta(description="How long a run of it may take, unless the task says.")] = (
        None
    )


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default. Sizes are in bytes, times in the unit that the name ends with."""

    data: Annotated[Path, Meta(description="Directory that holds the journal, the artifacts and the tokens.")]
    host: Annotated[str, Meta(min_length=1, description="Address that the gateway listens on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port that the gateway listens on; 0 takes a free one.")] = (
        7437
    )
    url: Annotated[
        str | None, Meta(description="Where clients find the gateway; from `host` and `port` when unset.")
    ] = None
    token: Annotated[
        str | None, Meta(description="Admin token; `up` accepts it and the commands send it. Never in the file.")
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...], Meta(description="Host names, beside the local ones, that requests may be addressed to.")
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...], Meta(description="Origins of other sites whose pages may call the gateway.")
    ] = ()

    heartbeat_s: Annotated[Seconds, Meta(description="How often an idle stream says that it is alive.")] = 10.0
    stall_s: Annotated[Seconds, Meta(description="How long a run may be silent before it counts as stalled.")] = (
        14_400.0
    )
    max_connections: Annotated[Count, Meta(description="How many connections the gateway holds at once.")] = 4096
    idle_timeout_s: Annotated[Seconds, Meta(description="How long a connection without a request is kept.")] = 15.0
    body_limit_bytes: Annotated[Bytes, Meta(description="Largest request body.")] = 1024 * 1024
    append_limit_bytes: Annotated[Bytes, Meta(description="Largest body of an appended event.")] = 256 * 1024
    import_limit_bytes: Annotated[Bytes, Meta(description="Largest file of envelopes that is imported.")] = 4 * 1024**3

    coalesce_ms: Annotated[float, Meta(ge=0, description="How long stream text waits for more to share its event.")] = (
        40.0
    )
    coalesce_bytes: Annotated[Bytes, Meta(description="How much stream text one event gathers at most.")] = 4096
    artifact_limit_bytes: Annotated[
        Bytes, Meta(description="Largest artifact; what is longer is cut, and says so.")
    ] = 64 * 1024 * 1024
    artifact_quota_bytes: Annotated[Bytes, Meta(description="Room for all the artifacts of a task.")] = 1024**3

    retention_max_age_s: Annotated[
        Seconds | None, Meta(description="Prune events that are older; nothing is pruned by age when unset.")
    ] = None
    retention_max_events: Annotated[
        Count | None, Meta(description="Prune a run to so many events; not by count when unset.")
    ] = None
    retention_max_bytes: Annotated[
        Bytes | None, Meta(description="Prune the oldest runs until the store fits; not by size when unset.")
    ] = None
    retention_every_s: Annotated[Seconds, Meta(description="How often the retention settings are applied.")] = 3600.0

    workers: Annotated[int, Meta(ge=0, description="How many runs a process works on at once; 0 works on none.")] = 4
    lease_s: Annotated[Seconds, Meta(description="How long a worker that is silent keeps its runs.")] = 30.0
    park_after_s: Annotated[
        Seconds, Meta(description="How long a run waits for an approval before it gives its worker back.")
    ] = 60.0
    close_grace_s: Annotated[
        float, Meta(ge=0, description="How long a worker that closes lets its runs reach a resting place.")
    ] = 10.0
    approval_timeout_s: Annotated[
        Seconds | None,
        Meta(description="How long an approval waits for its answer, unless policy says; the text `null`: for ever."),
    ] = 300.0
    output_limit_bytes: Annotated[Bytes, Meta(description="How much output one command may print.")] = 1024 * 1024
    max_turns: Annotated[Count, Meta(description="How many turns a run may take, unless its task says.")] = 50
    max_attempts: Annotated[Count, Meta(description="How often a failing model call is tried.")] = 3
    model_idle_s: Annotated[Seconds, Meta(description="How long a model's answer may stop before the call fails.")] = (
        60.0
    )
    allow_unconfined: Annotated[
        bool, Meta(description="Whether commands may run where no sandbox works; refused otherwise.")
    ] = False
    workspaces: Annotated[
        Path | None, Meta(description="Folder of the workspaces that are made for runs; in `data` when unset.")
    ] = None
    search_url: Annotated[
        str | None, Meta(description="SearXNG-compatible address that web_search asks; not offered when unset.")
    ] = None
    policy: Annotated[
        str | dict[str, object] | None,
        Meta(description="Name of a preset, or a table of rules, that holds for every task beside its own."),
    ] = None
    agno_model: Annotated[
        str | None, Meta(description="Model of native runs that are started through /agno and name none.")
    ] = None
    agno_workspace: Annotated[
        Path | None, Meta(description="Folder that runs started through /agno work in; a scratch one when unset.")
    ] = None
    agno_history: Annotated[
        bool,
        Meta(description="Whether a run that is started through /agno goes on where its session's last one ended."),
    ] = False
    models: Annotated[
        dict[str, ModelProvider],
        Meta(
            description="Tables by provider: `base_url`, `api_key_env`, `wire` (openai or anthropic), and what its models can "
            "do: `window_tokens`, `max_output_tokens`, `tool_use`, `images`."
        ),
    ] = {}
    agents: Annotated[
        dict[str, AgentSettings],
        Meta(description="Tables by agent, for those that are not here yet or run otherwise; see below."),
    ] = {}
    hooks: Annotated[
        tuple[dict[str, object], ...], Meta(description="Tables of commands and addresses that see tool calls.")
    ] = ()

    def __repr__(self) -> str:
        # A configuration ends up in logs, and the token must not.
        shown = ((key, value) for key, value in msgspec.structs.asdict(self).items() if key != "token")
        return f"Config({', '.join(f'{key}={value!r}' for key, value in shown)})"

    @property
    def base_url(self) -> str:
        """Where clients find the gateway, without a slash at the end."""
        if self.url is not None:
            return self.url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def file(self) -> Path:
        """The file that the settings of this data directory are read from."""
        return self.data / FILE_NAME


def load_config(*, environ: Mapping[str, str], options: Mapping[str, object] | None = None) -> Config:
    """Read the settings of a process; an option that is None counts as not given.

    A setting that is unknown or makes no sense is a ConfigInvalid that names the key and where it stands.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    surroundings = _from_environment(environ)
    data = Path(str(given.get("data") or surroundings.get("data") or _home())).expanduser()
    settings: dict[str, object] = {}
    settings.update(_checked(str(data / FILE_NAME), _from_file(data / FILE_NAME)))
    settings.update(_checked("environment", surroundings))
    settings.update(_checked("options", given))
    # The directory decides which file is read, so it is settled before all the rest.
    settings["data"] = data.absolute()
    return msgspec.convert(settings, Config, dec_hook=_as_path)


def environment_name(key: str) -> str:
    """The environment variable that sets `key`."""
    return ENVIRONMENT_PREFIX + key.upper()


def _home() -> Path:
    import platformdirs

    return platformdirs.user_data_path("runwire", appauthor=False)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    # Only names that we know: others may use the prefix for purposes of their own. An empty value is an unset one.
    found = {key: environ.get(environment_name(key), "") for key in Config.__struct_fields__ if key not in ONLY_IN_FILE}
    return {key: value for key, value in found.items() if value}


def _from_file(path: Path) -> dict[str, object]:
    try:
        settings = _parsed(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigInvalid(str(path), f"cannot be read: {error}") from error
    for key in ("data", "token"):
        if key in settings:
            raise ConfigInvalid(
                str(path), f"{key!r} is set by option or by {environment_name(key)}, not in the file", key=key
            )
    return settings


def _parsed(text: str) -> dict[str, object]:
    # Not at the top: most have no such file.
    import tomllib

    return tomllib.loads(text)


def _checked(source: str, settings: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    kinds = get_type_hints(Config, include_extras=True)
    for key, value in settings.items():
        if key not in kinds:
            raise ConfigInvalid(source, f"there is no setting {key!r}", key=key)
        if key == "agents":
            yield key, _agents(source, value)
            continue
        if isinstance(value, str) and key in {"allowed_hosts", "allowed_origins"}:
            value = [part.strip() for part in value.split(",") if part.strip()]
        try:
            # Not strict, because the environment holds nothing but text.
            yield key, msgspec.convert(value, kinds[key], strict=False, dec_hook=_as_path)
        except msgspec.ValidationError as error:
            raise ConfigInvalid(source, f"{key!r} cannot be {value!r}: {error}", key=key) from error


def _agents(source: str, tables: object) -> dict[str, AgentSettings]:
    """The tables by agent, each with its dialect settled."""
    if not isinstance(tables, Mapping):
        raise ConfigInvalid(source, "'agents' is a table of tables", key="agents")
    return {str(name): _agent(source, str(name), table) for name, table in tables.items()}


def _agent(source: str, name: str, table: object) -> AgentSettings:
    key = f"agents.{name}"
    if _AGENT_NAME.fullmatch(name) is None:
        raise ConfigInvalid(source, f"{name[:64]!r} cannot be an agent's name: use letters, digits, . _ -", key=key)
    if name == "native":
        raise ConfigInvalid(source, "'agents.native' is our own agent, which has no table", key=key)
    try:
        settings = msgspec.convert(table, AgentSettings)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        field = place.rstrip("`").removeprefix(".")
        unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem, re.DOTALL)
        if unknown is not None:
            raise ConfigInvalid(
                source, f"there is no setting '{key}.{unknown[1]}'", key=f"{key}.{unknown[1]}"
            ) from error
        whole = f"{key}.{field}" if field else key
        raise ConfigInvalid(source, f"{whole!r} does not fit: {problem}", key=whole) from error
    dialect = settings.dialect or next((one for one in get_args(Dialect) if one == name), None)
    wanted = {"dialect": dialect is not None} | _needs(dialect, settings)
    for field, given in wanted.items():
        if not given:
            raise ConfigInvalid(source, f"'{key}.{field}' is missing", key=f"{key}.{field}")
    return msgspec.structs.replace(settings, dialect=dialect)


def _needs(dialect: str | None, settings: AgentSettings) -> dict[str, bool]:
    """What a table cannot do without, and whether it is there."""
    needs: dict[str, bool] = {}
    if dialect == "acp":
        needs["command"] = settings.command is not None
    if dialect == "agno":
        needs["url"] = settings.url is not None
    if settings.autospawn:
        needs["prompt"] = settings.prompt is not None
    return needs


def _as_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    if kind is object:
        # Inside a table whose meaning another room knows.
        return value
    raise TypeError(f"no setting is a {kind.__name__}")
