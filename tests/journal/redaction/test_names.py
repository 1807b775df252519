"""Which members of a JSON object hold a secret because their name says so."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.journal.redaction.names import MEMBER_ENDINGS, MEMBER_KINDS, member_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "authorization") for name in ("authorization", "Authorization", "AUTHORIZATION", "x-authorization")),
        *((name, "password") for name in ("password", "Password", "db_password", "DB_PASSWORD", "userPassword")),
        *((name, "api_key") for name in ("api_key", "apikey", "apiKey", "API-KEY", "OPENAI_API_KEY", "openaiApiKey")),
        *((name, "x-api-key") for name in ("x-api-key", "X-API-Key", "x_api_key")),
        *((name, "access_token") for name in ("access_token", "accessToken", "Access-Token")),
        *((name, "client_secret") for name in ("client_secret", "clientSecret", "CLIENT-SECRET")),
        *((name, "private_key") for name in ("private_key", "privateKey", "ssh-private-key")),
        *((name, "set-cookie") for name in ("set-cookie", "Set-Cookie", "set_cookie")),
        *(("passwd", "passwd"), ("secret", "secret"), ("refresh_token", "refresh_token"), ("Cookie", "cookie")),
        *(("GITHUB_TOKEN", "env"), ("DB_PASS", "env"), ("proxy-authorization", "proxy-authorization")),
    ],
)
def test_a_telling_name_gives_its_kind(name: str, kind: str) -> None:
    assert member_kind(name) == kind


@pytest.mark.parametrize(
    "name",
    [
        *("header_keys", "env_keys", "max_tokens", "input_tokens", "output_tokens", "token_count", "cache_read_tokens"),
        *("token", "next_page_token", "eos_token", "key", "keys", "public_key", "primary_key", "author", "authorized"),
        *("password_hint_shown", "secrets", "cookies", "passes", "description", "action", "pwd", "redacted_paths"),
        *("SSH_PUBLIC_KEY", "MAX_TOKENS", "text", "delta", "sequence", "event_id", ""),
    ],
)
def test_a_name_that_only_sounds_like_one_gives_none(name: str) -> None:
    assert member_kind(name) is None


@given(st.sampled_from(sorted(MEMBER_KINDS - {"env"})), st.sampled_from(["", "db_", "x-", "My"]), st.data())
def test_case_and_separators_do_not_matter(name: str, before: str, data: st.DataObject) -> None:
    name = before + "".join(data.draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in name)
    swapped = name.replace("_", "\0").replace("-", "_").replace("\0", "-")
    for written in (name, swapped, name.replace("_", "")):
        kind = member_kind(written)
        # A bare `token` is no secret, but the kind of those that are.
        assert kind in MEMBER_KINDS or "token" in name.lower()


@given(st.text(), st.sampled_from(sorted(MEMBER_KINDS)))
def test_no_telling_name_has_an_ending_that_is_not_looked_for(before: str, name: str) -> None:
    for written, ending in itertools.product((before, before + name, name), ("", "s", "_TOKEN", "_PASS")):
        if member_kind(written + ending) is not None:
            assert (written + ending).lower().endswith(MEMBER_ENDINGS)
