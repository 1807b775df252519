"""The vault: secret values of tasks, in files that only this user reads. Everything else knows them by a placeholder."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from runwire.host import McpServer
from runwire.journal.disk import PRIVATE_FILE, answering, make_folder, set_aside, sync_path
from runwire.journal.redaction.names import is_secret_variable, member_kind
from runwire.journal.redaction.placeholder import kind_of, placeholder
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet, is_secret_value
from runwire.runs.task import Task

Values = dict[str, str]
"""Secret values by where they stand in the task, such as `env.API_KEY` or `mcp.github.headers.Authorization`."""

_DECODER = msgspec.json.Decoder(Values)


class Vault:
    """Keeps what of a task must be told to nobody but the MCP server that needs it."""

    def __init__(self, *, folder: Path, secrets: SecretSet, redactor: Redactor) -> None:
        """Keep one file a task in `folder`; what is opened is registered with `secrets`."""
        self._folder = folder
        self._secrets = secrets
        self._redactor = redactor

    def without_secrets(self, task: Task) -> tuple[Task, Values]:
        """The task as it may be kept and shown, and the values that were taken out of it."""
        taken: Values = {}
        env = self._public("env", task.env, taken)
        servers = {name: self._public_server(name, server, taken) for name, server in task.mcp_servers.items()}
        if not taken:
            return task, taken
        return replace(task, env=env, mcp_servers=servers, vaulted=True), taken

    async def keep(self, task_id: str, values: Values) -> None:
        """Make the values durable, and secrets from now on."""
        if values:
            await asyncio.to_thread(self._write, task_id, values)
            self._register(values)

    async def open(self, task: Task) -> Task:
        """The task with the values that its MCP servers need; variables of shells stay without."""
        if not task.vaulted:
            return task
        values = await asyncio.to_thread(self._read, task.task_id)
        self._register(values)
        servers = {name: _filled_server(name, server, values) for name, server in task.mcp_servers.items()}
        env = {name: value for name, value in task.env.items() if f"env.{name}" not in values}
        return replace(task, env=env, mcp_servers=servers)

    async def copy(self, task_id: str, other_id: str) -> None:
        """Let another task have the same values."""
        values = await asyncio.to_thread(self._read, task_id)
        await self.keep(other_id, values)

    async def forget(self, task_id: str) -> None:
        """Remove what is kept of a task."""
        await asyncio.to_thread(self._path(task_id).unlink, missing_ok=True)

    def _public_server(self, name: str, server: McpServer, taken: Values) -> McpServer:
        where = f"mcp.{name}"
        args = self._public(f"{where}.args", _numbered(server.args), taken)
        url = server.url and self._public(where, {"url": server.url}, taken)["url"]
        return replace(
            server,
            env=self._public(f"{where}.env", server.env, taken),
            headers=self._public(f"{where}.headers", server.headers, taken),
            args=list(args.values()),
            url=url,
        )

    def _public(self, where: str, values: Mapping[str, str], taken: Values) -> dict[str, str]:
        shown = {}
        for name, value in values.items():
            secret = self._is_secret(name, value)
            shown[name] = placeholder(kind_of("task", name)) if secret else value
            if secret:
                taken[f"{where}.{name}"] = value
        return shown

    def _is_secret(self, name: str, value: str) -> bool:
        if "${" in value:
            # A reference to a variable of the worker, which is no secret itself.
            return False
        named = is_secret_variable(name) or member_kind(name) is not None
        return (named and is_secret_value(value)) or self._redactor.redact_text(value) != value

    def _register(self, values: Values) -> None:
        self._secrets.register_all(
            KnownValue(kind_of("task", where.rpartition(".")[2]), value) for where, value in values.items()
        )

    def _write(self, task_id: str, values: Values) -> None:
        with answering():
            make_folder(self._folder)
            with set_aside(msgspec.json.encode(values), folder=self._folder, mode=PRIVATE_FILE) as aside:
                aside.rename(self._path(task_id))
            sync_path(self._folder)

    def _read(self, task_id: str) -> Values:
        with answering():
            try:
                return _DECODER.decode(self._path(task_id).read_bytes())
            except FileNotFoundError:
                # A backup leaves the vault out: the values are gone, and the servers that need them will say so.
                return {}

    def _path(self, task_id: str) -> Path:
        return self._folder / f"{task_id}.json"


def _filled_server(name: str, server: McpServer, values: Values) -> McpServer:
    where = f"mcp.{name}"
    return replace(
        server,
        env=_filled(f"{where}.env", server.env, values),
        headers=_filled(f"{where}.headers", server.headers, values),
        args=list(_filled(f"{where}.args", _numbered(server.args), values).values()),
        url=server.url and _filled(where, {"url": server.url}, values)["url"],
    )


def _numbered(texts: Sequence[str]) -> dict[str, str]:
    return {str(number): text for number, text in enumerate(texts)}


def _filled(where: str, shown: Mapping[str, str], values: Values) -> dict[str, str]:
    return {name: _named(values.get(f"{where}.{name}", value), values) for name, value in shown.items()}


def _named(value: str, values: Values) -> str:
    """The value with `${NAME}` replaced where NAME is a secret variable of the task."""
    for where, secret in values.items():
        if where.startswith("env."):
            value = value.replace("${" + where.removeprefix("env.") + "}", secret)
    return value
