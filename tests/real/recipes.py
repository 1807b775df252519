"""How each real agent is started against the scripted model server: its command, its environment, its own files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.real.installed import find

KEY = "sk-test-not-a-key"
MODEL = "scripted/scripted-1"
_ASKING_EXTENSION = """\
export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const allowed = await ctx.ui.confirm("May this run?", event.input.command);
    return allowed ? undefined : { block: true, reason: "The user said no." };
  });
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealAgent:
    """An agent that is installed and set up; everything it keeps is below `home`."""

    name: str
    home: Path
    program: Sequence[str]
    environ: Mapping[str, str]
    """What it needs on top of PATH and the like."""
    once: Callable[[str], Sequence[str]]
    """The whole command that answers one prompt, prints its stream and ends."""
    driven: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The whole command of each way to converse with it."""
    state: Sequence[Path] = ()
    """The folders that it must be able to write; they are there. The rest of its home it only reads."""


def zot(home: Path, url: str) -> RealAgent:
    """The Go agent, on OpenAI Chat."""
    program = [str(find("zot"))]
    flags = ["--provider", "openai", "--model", "gpt-5", "--base-url", f"{url}/v1", "--api-key", KEY, "--no-ext"]
    return RealAgent(
        name="zot",
        home=home,
        program=program,
        environ={"HOME": str(home), "ZOT_HOME": str(home)},
        once=lambda prompt: [*program, "--json", *flags, prompt],
        driven={"rpc": [*program, "rpc", *flags]},
        state=[home],
    )


def pi(home: Path, url: str, *, version: str, asks: bool = False) -> RealAgent:
    """One of the two lines of pi (0.73 and 0.87), on OpenAI Chat; `asks` gives it an extension that asks about commands."""
    program = [str(find("node" if version == "0.73" else "node22")), str(find(f"pi-{version}"))]
    model = {
        "id": "scripted-1",
        "reasoning": False,
        "input": ["text", "image"],
        "contextWindow": 128_000,
        "maxTokens": 8192,
        "cost": {"input": 1.25, "output": 10, "cacheRead": 0.125, "cacheWrite": 0},
    }
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [model]}
    _write(home / "agent" / "models.json", {"providers": {"scripted": provider}})
    # Few retries, soon over: tests wait for failures.
    _write(home / "agent" / "settings.json", {"retry": {"enabled": True, "maxRetries": 1, "baseDelayMs": 50}})
    if asks:
        (home / "agent" / "extensions").mkdir()
        (home / "agent" / "extensions" / "ask.ts").write_text(_ASKING_EXTENSION)
    flags = ["--no-session", "--offline", "--model", MODEL]
    return RealAgent(
        name=f"pi-{version}",
        home=home,
        program=program,
        environ={
            "HOME": str(home),
            "PI_CODING_AGENT_DIR": str(home / "agent"),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
        },
        once=lambda prompt: [*program, "--mode", "json", *flags, "-p", prompt],
        driven={"rpc": [*program, "--mode", "rpc", *flags]},
        state=[home / "agent"],
    )


def claude(home: Path, url: str) -> RealAgent:
    """Claude Code, on Anthropic Messages."""
    program = [str(find("claude"))]
    streaming = ["--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"]
    conversing = ["--input-format", "stream-json", "--include-partial-messages", "--permission-prompt-tool", "stdio"]
    kept = home / ".claude"
    kept.mkdir(parents=True)
    return RealAgent(
        name="claude",
        home=home,
        program=program,
        environ={
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(kept),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "IS_SANDBOX": "1",
        },
        once=lambda prompt: [*program, "-p", prompt, *streaming, "--allowedTools", "Bash,Read,Edit,Write"],
        driven={"stream-json": [*program, "-p", *streaming, *conversing]},
        state=[kept],
    )


def codex(home: Path, url: str) -> RealAgent:
    """Codex, on OpenAI Responses."""
    program = [str(find("codex"))]
    settings = f"""\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""
    kept = home / ".codex"
    kept.mkdir(parents=True)
    (kept / "config.toml").write_text(settings)
    return RealAgent(
        name="codex",
        home=home,
        program=program,
        environ={"HOME": str(home), "CODEX_HOME": str(kept), "SCRIPTED_API_KEY": KEY},
        once=lambda prompt: [*program, "exec", "--json", "--skip-git-repo-check", prompt],
        driven={"app-server": [*program, "app-server"]},
        state=[kept],
    )


def opencode(home: Path, url: str, *, permission: Mapping[str, str] | None = None) -> RealAgent:
    """opencode, on OpenAI Chat; `permission` is its own setting, such as `{"bash": "ask"}`."""
    program = [str(find("opencode"))]
    limit = {"context": 128_000, "output": 8192}
    cost = {"input": 1.25, "output": 10, "cache_read": 0.125}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {
            name: {"tool_call": True, "attachment": True, "cost": cost, "limit": limit}
            for name in ("scripted-1", "scripted-2")
        },
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": MODEL,
        "small_model": MODEL,
        "enabled_providers": ["scripted"],
        "provider": {"scripted": provider},
        "permission": dict(permission or {}),
    }
    _write(home / "opencode.json", settings)
    _write(home / "models.json", {})
    folders = {name: home / name for name in ("data", "config", "cache", "state")}
    for folder in folders.values():
        folder.mkdir()
    return RealAgent(
        name="opencode",
        home=home,
        program=program,
        environ={
            "HOME": str(home),
            **{f"XDG_{name.upper()}_HOME": str(folder) for name, folder in folders.items()},
            "OPENCODE_CONFIG": str(home / "opencode.json"),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # Half of its start is reading models and plugins that nobody uses here; for the latter it would fetch packages.
            "OPENCODE_MODELS_PATH": str(home / "models.json"),
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_offline": "true",
        },
        once=lambda prompt: [*program, "run", "--format", "json", "-m", MODEL, prompt],
        driven={"acp": [*program, "acp"], "serve": [*program, "serve", "--hostname", "127.0.0.1", "--port", "0"]},
        state=[*folders.values()],
    )


def gemini(home: Path, url: str) -> RealAgent:
    """gemini-cli, on Gemini."""
    program = [str(find("node")), str(find("gemini"))]
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "maxAttempts": 2},
        "telemetry": {"enabled": False},
    }
    _write(home / ".gemini" / "settings.json", settings)
    flags = ["-m", "gemini-2.5-flash", "--skip-trust"]
    return RealAgent(
        name="gemini",
        home=home,
        program=program,
        environ={
            "HOME": str(home),
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        once=lambda prompt: [*program, *flags, "-o", "stream-json", "--approval-mode", "yolo", "-p", prompt],
        driven={"acp": [*program, *flags, "--acp"]},
        state=[home / ".gemini"],
    )


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))


RECIPES: Mapping[str, Callable[[Path, str], RealAgent]] = {
    "zot": zot,
    "pi-0.73": partial(pi, version="0.73"),
    "pi-0.87": partial(pi, version="0.87"),
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "gemini": gemini,
}
"""Every agent that is a program, by name."""

ASKING: Mapping[str, Callable[[Path, str], RealAgent]] = {
    "pi-0.73": partial(pi, version="0.73", asks=True),
    "pi-0.87": partial(pi, version="0.87", asks=True),
    "claude": claude,
    "codex": codex,
    "opencode": partial(opencode, permission={"bash": "ask"}),
    "gemini": gemini,
}
"""Those that can be made to ask before they run a command, set up so."""
