"""Where models come from: `provider:name` in, a model out. No SDK is loaded before a model of its kind is called."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runwire.config import ModelProvider
from runwire.ids import Ids
from runwire.journal.redaction.placeholder import kind_of
from runwire.journal.redaction.secrets import KnownValue
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Usage
from runwire.native.models import prices, scripted
from runwire.native.models.connection import Endpoint, Lazy
from runwire.native.models.model import Capabilities, Model

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

_NO_KEY = "none"
"""What a server that asks for no key is sent, since the SDKs want one."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_SCRIPTED = f"{scripted.PROVIDER}:"


@dataclass(frozen=True, slots=True)
class _Known:
    """A provider that needs no configuration."""

    wire: ModelProvider
    key_variable: str
    url_variable: str


_KNOWN = {
    "openai": _Known(
        ModelProvider(base_url="https://api.openai.com/v1", wire="openai"), "OPENAI_API_KEY", "OPENAI_BASE_URL"
    ),
    "anthropic": _Known(
        ModelProvider(base_url="https://api.anthropic.com", wire="anthropic"),
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ),
}


@dataclass(frozen=True, slots=True)
class ModelName:
    """The two halves of `provider:name`. The name may hold colons of its own."""

    provider: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Read `provider:name`; anything else is a ModelFault."""
        provider, colon, name = text.partition(":")
        if not colon or not name.strip() or not _NAME.fullmatch(provider):
            example = "openai:gpt-5, anthropic:claude-sonnet-4-5 or scripted:FILE"
            raise ModelFault("model_unknown", f"{text[:200]!r} is no provider:name, such as {example}")
        return cls(provider, name)

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


def absolute_name(text: str, *, cwd: Path) -> str:
    """The same model wherever it is asked for: the file of a script is named from the root on."""
    named = ModelName.parse(text)
    if named.provider != scripted.PROVIDER:
        return text
    return str(ModelName(named.provider, str(cwd / Path(named.name).expanduser())))


class Catalogue:
    """Every model that this process can reach. Runs share it; whoever made it closes it."""

    def __init__(
        self, *, providers: Mapping[str, ModelProvider], environ: Mapping[str, str], ids: Ids, idle_s: float = 60.0
    ) -> None:
        self._providers = providers
        self._environ = environ
        self._ids = ids
        self._idle_s = idle_s
        self._scripts = scripted.Scripts()
        self._models: dict[str, Model] = {}
        self._played_last: scripted.ScriptedModel | None = None
        self._openai: dict[str, Lazy[AsyncOpenAI]] = {}
        self._anthropic: dict[str, Lazy[AsyncAnthropic]] = {}

    def model(self, name: str) -> Model:
        """The model of a `provider:name`. One that cannot be had is a ModelFault that says what to do."""
        if name.startswith(_SCRIPTED):
            return self._played(name)
        model = self._models.get(name)
        if model is None:
            model = self._models[name] = self._make(ModelName.parse(name))
        return model

    def check(self, name: str, *, with_key: bool = True) -> None:
        """Raise the ModelFault that `model` would; nothing is made. A key may be where the work is done, and not here."""
        named = ModelName.parse(name)
        if named.provider == scripted.PROVIDER:
            self._scripts.read(os.path.abspath(os.path.expanduser(named.name)))
        elif with_key:
            self._endpoint(named.provider)
        else:
            self._settings(named.provider)

    def price(self, model: Model, usage: Usage) -> int | None:
        """What a call cost in micro-dollars, rounded up; None when nobody knows. Scripts and local models cost nothing."""
        if model.provider == scripted.PROVIDER:
            return 0
        cost = prices.price(model.provider, model.name, usage)
        return 0 if cost is None and _is_local(self._settings(model.provider)) else cost

    def is_priced(self, name: str) -> bool:
        """Whether money spent on this model can be counted, so that a ceiling on it means something."""
        named = ModelName.parse(name)
        if named.provider == scripted.PROVIDER or prices.is_priced(named.provider, named.name):
            return True
        return _is_local(self._settings(named.provider))

    def secrets(self) -> tuple[KnownValue, ...]:
        """The keys of all providers that have one here. Whoever redacts must know them before a model is called."""
        found: list[KnownValue] = []
        for provider in sorted({*_KNOWN, *self._providers}):
            settings = self._settings(provider)
            values = (self._key(settings), urlsplit(settings.base_url or "").password)
            found += [KnownValue(kind_of("provider", provider), value) for value in values if value]
        return tuple(found)

    def set_up(self) -> tuple[str, ...]:
        """The providers that somebody has set up here, by a key or by a table of the configuration."""
        known = sorted({*_KNOWN, *self._providers})
        return tuple(name for name in known if name in self._providers or self._key(self._settings(name)))

    def warm(self) -> None:
        """Load the table of prices. It takes half a second: call it in a thread, before a model is needed."""
        prices.is_priced("openai", "")

    async def close(self) -> None:
        """Close every connection."""
        made = [lazy.made() for lazy in self._openai.values()]
        for client in (*made, *(lazy.made() for lazy in self._anthropic.values())):
            if client is not None:
                await client.close()
        self._models.clear()
        self._openai.clear()
        self._anthropic.clear()

    def _played(self, name: str) -> Model:
        """The model of a script as its file is now. Whoever plays one often plays the same."""
        file = ModelName.parse(name).name
        script = self._scripts.read(os.path.abspath(os.path.expanduser(file)))
        last = self._played_last
        if last is None or last.name != file or last.script is not script:
            last = self._played_last = scripted.ScriptedModel(name=file, script=script, ids=self._ids)
        return last

    def _make(self, named: ModelName) -> Model:
        endpoint = self._endpoint(named.provider)
        able = self._capabilities(named, endpoint)
        # The adapters bring the HTTP client with them, which scripts do not need.
        if endpoint.wire == "anthropic":
            from runwire.native.models import anthropic

            client = self._anthropic.setdefault(named.provider, Lazy(lambda: anthropic.connect(endpoint)))
            return anthropic.AnthropicModel(
                endpoint=endpoint, name=named.name, capabilities=able, client=client, ids=self._ids
            )
        from runwire.native.models import openai

        lazy = self._openai.setdefault(named.provider, Lazy(lambda: openai.connect(endpoint)))
        return openai.OpenAIModel(endpoint=endpoint, name=named.name, capabilities=able, client=lazy, ids=self._ids)

    def _settings(self, provider: str) -> ModelProvider:
        """How a provider is configured, with what is known of it filled in."""
        given = self._providers.get(provider)
        known = _KNOWN.get(provider)
        if given is None and known is None:
            names = ", ".join(sorted({*_KNOWN, *self._providers, scripted.PROVIDER}))
            hint = f"set [models.{provider}] base_url in config.toml"
            raise ModelFault("model_unknown", f"there is no provider {provider!r} (known: {names}); {hint}")
        url = given.base_url if given else None
        if url is None and known is not None:
            url = self._environ.get(known.url_variable, "").strip() or known.wire.base_url
        if url is None:
            raise ModelFault("model_unknown", f"set [models.{provider}] base_url in config.toml: nobody knows it")
        wire = known.wire.wire if known else given.wire if given else "openai"
        return ModelProvider(
            base_url=url,
            api_key_env=self._key_variable(provider),
            wire=wire,
            window_tokens=given.window_tokens if given else None,
        )

    def _key_variable(self, provider: str) -> str | None:
        given = self._providers.get(provider)
        if given is not None and given.api_key_env:
            return given.api_key_env
        known = _KNOWN.get(provider)
        return known.key_variable if known else None

    def _key(self, settings: ModelProvider) -> str:
        return self._environ.get(settings.api_key_env or "", "").strip()

    def _endpoint(self, provider: str) -> Endpoint:
        settings = self._settings(provider)
        key = self._key(settings)
        asked = self._providers.get(provider)
        # A server of our own asks for no key, unless its table says that it does.
        needed = bool(asked and asked.api_key_env) or not _is_local(settings)
        if not key and needed and settings.api_key_env:
            hint = f"set the environment variable {settings.api_key_env} where the worker runs"
            raise ModelFault("auth_failed", f"there is no key for {provider}: {hint}")
        return Endpoint(
            provider=provider,
            wire=settings.wire,
            base_url=settings.base_url or "",
            api_key=key or _NO_KEY,
            idle_s=self._idle_s,
        )

    def _capabilities(self, named: ModelName, endpoint: Endpoint) -> Capabilities:
        window = self._settings(named.provider).window_tokens or prices.window_tokens(named.provider, named.name)
        window = window or (200_000 if endpoint.wire == "anthropic" else 128_000)
        legacy = re.match(r"gpt-3\.5|gpt-4(?!o|\.)|o1-mini|o3-mini|claude-(?:2|3-(?!7)|instant|v1)", named.name)
        return Capabilities(
            tool_use=True,
            images=not legacy or named.name.startswith("claude-3-"),
            thinking=not legacy,
            window_tokens=window,
            # Beyond what a model takes the provider refuses the call; the elder ones take little.
            max_output_tokens=min(4_096 if legacy else 16_384, max(256, window // 4)),
        )


def _is_local(settings: ModelProvider) -> bool:
    """Whether the provider is a server of our own, which sends no bills."""
    host = urlsplit(settings.base_url or "").hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
