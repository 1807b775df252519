"""The values that executors and runs speak in."""

import subprocess
import sys

import msgspec
import pytest

from runwire.host import McpServer, ModelRewrite, Stopped


def test_a_stop_says_why_and_is_not_caught_as_a_failure() -> None:
    with pytest.raises(Stopped) as stopped:
        raise Stopped("parked")
    assert stopped.value.why == "parked"
    assert not isinstance(stopped.value, Exception)


def test_a_rewrite_is_written_with_the_words_of_its_reader() -> None:
    rule = msgspec.json.decode(b'{"from":"openai:*","to":"ollama:llama3.1"}', type=ModelRewrite)
    assert (rule.from_, rule.to, rule.reason) == ("openai:*", "ollama:llama3.1", "")


@pytest.mark.parametrize("kind", [McpServer, ModelRewrite])
def test_a_field_that_does_not_exist_is_refused_by_name(kind: type) -> None:
    with pytest.raises(msgspec.ValidationError, match="comand"):
        msgspec.json.decode(b'{"comand":"x","from":"a","to":"b"}', type=kind)


def test_importing_it_reaches_no_disk() -> None:
    code = "import sys, runwire.host; print(*[name for name in ('apsw', 'asyncio', 'pathlib') if name in sys.modules])"
    # Without site, whose own imports would hide ours.
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == ""
