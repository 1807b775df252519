"""Which values the process knows to be secret, and under which kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.journal.redaction.placeholder import KIND_MAX, kind_of, placeholder
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet, secrets_of_environment
from tests.spec import spec

VALUE = "Zq8-plainSecretValue_07"


@spec("RED-1")
@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "GITHUB_TOKEN", "DJANGO_SECRET", "DB_PASSWORD", "MYSQL_PASSWD", "AWS_SECRET_ACCESS_KEY"),
        *("SERVICE_CREDENTIALS", "SSH_PRIVATE_KEY", "BASIC_AUTH", "NPM_AUTH_TOKEN", "DB_PASS", "apiKey", "my_api_key"),
        *("STRIPE_APIKEY", "GPG_PASSPHRASE", "SESSION_COOKIE", "SENTRY_DSN", "ANTHROPIC_API_KEY_2"),
    ],
)
def test_a_variable_with_a_telling_name_holds_a_secret(name: str) -> None:
    (known,) = secrets_of_environment({name: VALUE})
    assert known == KnownValue(kind_of("env", name), VALUE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXX/agent.123"),
        ("API_KEY", "/etc/keys/service.pem"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/srv/app/key.json"),
        ("SECRET_TOKEN", "short"),
        ("AUTH_PORT", "8443"),
        ("TOKEN_TTL_MS", "86400000"),
        ("API_TOKEN", "12345678"),
        ("AUTH_TOKEN", "disabled"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("DB_PASSWORD", "********"),
        ("GIT_AUTHOR_NAME", "Jane Doe the Second"),
        ("AUTH_URL", "https://auth.example.com/login"),
        ("KEYCLOAK_AUTH_SERVER", "https://auth.example.com"),
        ("PWD", "/srv/with/a/long/name"),
        ("STRIPE_PUBLISHABLE_KEY", "pk_live_0123456789"),
        ("TOKENIZERS_PARALLELISM", "sometimes"),
        ("KEYBOARD_LAYOUT", "us-international"),
        ("OAUTH_CLIENT_ID", "0123456789.apps.example.com"),
        ("MY_TOKEN", "[redacted:env.my_token]"),
        ("LANG", "en_US.UTF-8"),
    ],
)
def test_a_variable_that_only_sounds_like_one_is_left_alone(name: str, value: str) -> None:
    assert list(secrets_of_environment({name: value})) == []


@spec("RED-1")
def test_the_password_inside_a_url_is_known_as_it_is_written_and_as_it_is_meant() -> None:
    known = SecretSet(secrets_of_environment({"DATABASE_URL": "postgres://app:p%40ssw0rd-99@db:5432/app"}))
    assert {each.value for each in known.values} == {"p%40ssw0rd-99", "p@ssw0rd-99"}
    assert {each.kind for each in known.values} == {"env.database_url"}


@spec("RED-1")
def test_each_member_of_a_list_of_keys_is_a_secret() -> None:
    known = secrets_of_environment({"API_KEYS": "first-key-0001,second-key-0002"})
    assert {each.value for each in known} == {"first-key-0001,second-key-0002", "first-key-0001", "second-key-0002"}


@spec("RED-2")
def test_the_order_of_the_environment_does_not_matter() -> None:
    names = ["B_TOKEN", "A_TOKEN", "C_TOKEN"]
    orders = [SecretSet(secrets_of_environment(dict.fromkeys(order, VALUE))).values for order in (names, names[::-1])]
    assert orders[0] == orders[1] == (KnownValue("env.a_token", VALUE),)


@spec("RED-2")
def test_a_value_keeps_the_kind_under_which_it_was_first_known() -> None:
    secrets = SecretSet([KnownValue("first", VALUE)])
    assert secrets.register("second", VALUE)
    assert secrets.values == (KnownValue("first", VALUE),)


@spec("RED-1")
def test_a_registered_value_counts_from_the_next_call_on() -> None:
    secrets = SecretSet()
    redactor = Redactor(secrets)
    before = secrets.values
    assert redactor.redact_text(VALUE) == VALUE
    assert secrets.register("mcp.github.token", f"{VALUE}\n")
    assert before == ()
    stored = redactor.redact(f'{{"a":"{VALUE}"}}'.encode())
    assert stored == b'{"a":"[redacted:mcp.github.token]","redacted_paths":["/a"]}'
    assert redactor.redact_text(VALUE) == "[redacted:mcp.github.token]"


def test_a_value_too_short_to_look_for_is_refused() -> None:
    secrets = SecretSet()
    assert not secrets.register("pin", "abc")
    assert not secrets.register("blank", "  \n ")
    assert secrets.values == ()


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_every_name_becomes_a_kind_that_a_placeholder_can_show(names: list[str]) -> None:
    kind = kind_of(*names)
    assert 1 <= len(kind) <= KIND_MAX
    assert set(kind) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-")
    assert placeholder(kind) == f"[redacted:{kind}]"


@spec("RED-7")
def test_a_known_value_does_not_show_itself() -> None:
    secrets = SecretSet([KnownValue("env.plain", VALUE)])
    assert VALUE not in f"{secrets.values!r} {secrets!r} {Redactor(secrets)!r}"
