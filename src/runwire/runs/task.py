"""A task: what is to be done, by whom, where, and within which bounds. Its settings never change; its budget may be raised."""

import base64
import binascii
import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from runwire.host import McpServer
from runwire.ids import is_foreign_id
from runwire.runs.errors import TaskInvalid

Kind = Literal["agent_loop", "shell", "git", "file"]
Mode = Literal["in_place", "clone", "worktree", "scratch"]
Policy = str | dict[str, object] | None
"""The name of a preset, or rules, as they were sent."""

_TITLE_MAX = 80
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NEEDED: dict[str, tuple[str, ...]] = {"shell": ("command",), "git": ("args",), "file": ("operation", "path")}


class WorkspaceSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a run is to work."""

    path: str | None = None
    mode: Mode | None = None


class Attachment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that goes with the prompt."""

    mime: str
    base64: str

    def body(self) -> bytes:
        """Its bytes."""
        try:
            return base64.b64decode(self.base64, validate=True)
        except binascii.Error as wrong:
            raise TaskInvalid(f"an attachment is not base64: {wrong}", field="attachments") from wrong


class NewTask(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task as somebody asks for it."""

    prompt: str = ""
    kind: Kind = "agent_loop"
    agent: Annotated[str, Meta(min_length=1, max_length=128)] = "native"
    model: Annotated[str, Meta(min_length=1)] | None = None
    workspace: WorkspaceSpec | None = None
    session_id: str | None = None
    budget_micros_usd: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    policy: Policy = None
    mcp_servers: dict[str, McpServer] = {}
    env: dict[str, str] = {}
    timeout_s: Annotated[float, Meta(gt=0)] | None = None
    experimental: list[str] = []
    start: bool = True
    input: dict[str, object] = {}
    attachments: list[Attachment] = []
    title: str = ""
    priority: Annotated[int, Meta(ge=-1000, le=1000)] = 0
    concurrency: Annotated[int, Meta(ge=1, le=64)] = 4
    max_turns: Annotated[int, Meta(ge=1)] | None = None


class Task(Struct, frozen=True, kw_only=True):
    """A task as it is kept: without secrets, which only the vault has."""

    task_id: str
    created_ns: int
    kind: Kind
    agent: str
    prompt: str = ""
    title: str = ""
    model: str | None = None
    workspace: WorkspaceSpec = WorkspaceSpec(mode="scratch")
    session_id: str | None = None
    budget_micros_usd: int | None = None
    policy: Policy = None
    mcp_servers: dict[str, McpServer] = {}
    env: dict[str, str] = {}
    timeout_s: float | None = None
    experimental: list[str] = []
    input: dict[str, object] = {}
    priority: int = 0
    concurrency: int = 4
    max_turns: int | None = None
    vaulted: bool = False
    """Whether the vault holds values of it."""
    inherited_cost_micros_usd: int = 0
    """Spent by the runs that a branch came from."""


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Task)


def encode_task(task: Task) -> bytes:
    """The bytes that the row keeps."""
    return _ENCODER.encode(task)


def decode_task(stored: bytes) -> Task:
    """What `encode_task` has written. Fields that a later release has added are passed over."""
    return _DECODER.decode(stored)


def settled(new: NewTask, *, task_id: str, created_ns: int) -> Task:
    """The task that is asked for, with what was left out decided; one that makes no sense is a TaskInvalid."""
    _require(new)
    given = new.workspace or WorkspaceSpec()
    mode: Mode = given.mode or ("scratch" if given.path is None else "in_place")
    return Task(
        task_id=task_id,
        created_ns=created_ns,
        kind=new.kind,
        agent=new.agent,
        prompt=new.prompt,
        title=new.title or _title(new),
        model=new.model,
        workspace=WorkspaceSpec(path=given.path, mode=mode),
        session_id=new.session_id,
        budget_micros_usd=new.budget_micros_usd,
        policy=new.policy,
        mcp_servers=new.mcp_servers,
        env=new.env,
        timeout_s=new.timeout_s,
        experimental=new.experimental,
        input=new.input,
        priority=new.priority,
        concurrency=new.concurrency,
        max_turns=new.max_turns,
    )


def title_of(text: str) -> str:
    """What something is called by its first line."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _TITLE_MAX else f"{line[: _TITLE_MAX - 1]}…"


def split_model(model: str | None) -> tuple[str | None, str | None]:
    """Provider and name of `provider:name`; a name alone has no provider."""
    if model is None:
        return None, None
    provider, colon, name = model.partition(":")
    return (provider, name) if colon else (None, model)


def _require(new: NewTask) -> None:
    if new.kind == "agent_loop" and not new.prompt.strip():
        raise TaskInvalid("an agent needs a prompt", field="prompt")
    if new.kind != "agent_loop" and new.agent != "native":
        raise TaskInvalid(f"the kind {new.kind} is done by the native agent only", field="agent")
    for name in _NEEDED.get(new.kind, ()):
        if not new.input.get(name):
            raise TaskInvalid(f"the kind {new.kind} needs input.{name}", field=f"input.{name}")
    if new.attachments and new.kind != "agent_loop":
        raise TaskInvalid(f"the kind {new.kind} reads no attachments", field="attachments")
    session = new.session_id
    if session is not None and not (session.startswith("chat_") and len(session) > 5 and is_foreign_id(session)):
        raise TaskInvalid("a session's id is chat_ and 1 to 123 of A-Z a-z 0-9 _ . : -", field="session_id")
    for variable, value in new.env.items():
        if _VARIABLE.fullmatch(variable) is None or "\0" in value:
            raise TaskInvalid(f"{variable[:64]!r} cannot be a variable of a command's environment", field="env")
    for name, server in new.mcp_servers.items():
        if (server.command is None) == (server.url is None):
            raise TaskInvalid(f"the MCP server {name!r} needs a command or a url, one of them", field="mcp_servers")
    given = new.workspace
    if given is not None and given.path is None and given.mode not in {None, "scratch"}:
        raise TaskInvalid(f"a {given.mode} workspace needs a path", field="workspace.path")


def _title(new: NewTask) -> str:
    text = new.prompt or str(new.input.get("command") or new.input.get("args") or new.input.get("path") or new.kind)
    return title_of(text)
