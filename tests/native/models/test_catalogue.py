"""Names become models; what is missing is said with what to do about it."""

import subprocess
import sys
from pathlib import Path

import pytest

from runwire.config import ModelProvider
from runwire.ids import Ids
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Usage
from runwire.native.models.catalogue import Catalogue, ModelName, absolute_name
from runwire.native.models.model import Models

KEYS = {"OPENAI_API_KEY": "sk-openai-123456", "ANTHROPIC_API_KEY": "sk-ant-123456"}
LOCAL = {
    "ollama": ModelProvider(base_url="http://127.0.0.1:11434/v1", window_tokens=8192),
    "groq": ModelProvider(base_url="https://api.groq.com/openai/v1", api_key_env="GROQ_KEY"),
    "proxy": ModelProvider(base_url="https://user:hunter22@models.example.com", wire="anthropic"),
}


def _catalogue(ids: Ids, environ: dict[str, str] | None = None) -> Catalogue:
    return Catalogue(providers=LOCAL, environ=KEYS if environ is None else environ, ids=ids)


def test_a_name_may_hold_colons_of_its_own() -> None:
    assert ModelName.parse("ollama:llama3.1:8b") == ModelName("ollama", "llama3.1:8b")
    assert str(ModelName("ollama", "llama3.1:8b")) == "ollama:llama3.1:8b"


@pytest.mark.parametrize("text", ["", "gpt-5", ":gpt-5", "openai:", "openai: ", "Open AI:x", "../x:y"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(ModelFault, match="no provider:name"):
        ModelName.parse(text)


def test_known_providers_need_nothing_but_a_key(ids: Ids) -> None:
    catalogue: Models = _catalogue(ids)
    for name in ("openai:gpt-5", "anthropic:claude-sonnet-4-5"):
        model = catalogue.model(name)
        assert f"{model.provider}:{model.name}" == name
        assert catalogue.model(name) is model


def test_a_missing_key_is_named_with_its_variable(ids: Ids) -> None:
    for provider, variable in [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("groq", "GROQ_KEY")]:
        with pytest.raises(ModelFault, match=variable) as caught:
            _catalogue(ids, {}).model(f"{provider}:x")
        assert caught.value.code == "auth_failed"
        _catalogue(ids, {}).check(f"{provider}:x", with_key=False)


def test_a_server_of_our_own_needs_no_key(ids: Ids) -> None:
    assert _catalogue(ids, {}).model("ollama:llama3.1").capabilities.window_tokens == 8192
    _catalogue(ids, {"OPENAI_BASE_URL": "http://localhost:8000/v1"}).check("openai:x")


def test_an_unknown_provider_is_told_how_to_become_one(ids: Ids) -> None:
    with pytest.raises(ModelFault, match=r"\[models.nobody\] base_url") as caught:
        _catalogue(ids).check("nobody:x")
    assert caught.value.code == "model_unknown"
    assert "ollama" in caught.value.message


def test_a_script_that_is_not_there_is_refused(ids: Ids, tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match="cannot be read"):
        _catalogue(ids).check(f"scripted:{tmp_path}/none.json")


def test_a_script_is_played_as_its_file_is_now(ids: Ids, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"turns": [], "capabilities": {"window_tokens": 1000}}')
    catalogue = _catalogue(ids)
    first = catalogue.model(f"scripted:{file}")
    assert catalogue.model(f"scripted:{file}") is first
    file.write_text('{"turns": [], "capabilities": {"window_tokens": 20000}}')
    assert (first.capabilities.window_tokens, catalogue.model(f"scripted:{file}").capabilities.window_tokens) == (
        1_000,
        20_000,
    )


def test_a_script_is_named_from_the_root_on(tmp_path: Path) -> None:
    assert absolute_name("scripted:a/b.json", cwd=tmp_path) == f"scripted:{tmp_path}/a/b.json"
    assert absolute_name("scripted:/b.json", cwd=tmp_path) == "scripted:/b.json"
    assert absolute_name("openai:gpt-5", cwd=tmp_path) == "openai:gpt-5"


def test_windows_come_from_the_table(ids: Ids) -> None:
    catalogue = _catalogue(ids)
    assert catalogue.model("openai:gpt-5").capabilities.window_tokens == 400_000
    assert catalogue.model("anthropic:claude-sonnet-4-5").capabilities.window_tokens == 200_000
    assert catalogue.model("openai:gpt-3.5-turbo").capabilities.images is False
    assert catalogue.model("openai:never-heard-of").capabilities.window_tokens == 128_000


def test_every_key_is_known_to_whoever_redacts(ids: Ids) -> None:
    known = _catalogue(ids, {**KEYS, "GROQ_KEY": "gsk_abcdef"}).secrets()
    assert {secret.value for secret in known} == {"sk-openai-123456", "sk-ant-123456", "gsk_abcdef", "hunter22"}
    assert KnownValue("provider.openai", "sk-openai-123456") in SecretSet(known).values


def test_money_is_counted_where_it_is_spent(ids: Ids, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"turns":[]}')
    catalogue = _catalogue(ids, {**KEYS, "GROQ_KEY": "gsk_abcdef"})
    usage = Usage(input_tokens=1000, output_tokens=10)
    prices = {
        name: catalogue.price(catalogue.model(name), usage)
        for name in ("openai:gpt-5", "ollama:llama3.1", f"scripted:{tmp_path}/s.json", "openai:nobody", "proxy:x")
    }
    assert list(prices.values()) == [1350, 0, 0, None, None]
    assert [catalogue.is_priced(name) for name in prices] == [True, True, True, False, False]


async def test_closing_what_was_never_opened_is_nothing(ids: Ids) -> None:
    catalogue = _catalogue(ids)
    catalogue.model("openai:gpt-5")
    await catalogue.close()


def test_naming_models_loads_no_sdk() -> None:
    code = (
        "import sys, runwire.native.models.catalogue;"
        "print([name for name in ('openai', 'anthropic', 'pydantic', 'genai_prices', 'httpx2') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
