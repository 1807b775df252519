"""Who is let in, for what, and for how long."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from runwire.config import Config
from runwire.errors import TokenNotFound
from runwire.journal.layout import token_of
from runwire.journal.tokens import FILE_TOKEN, SCOPES, Scope, Token
from runwire.testing.clock import ManualClock
from tests.journal.house import House, open_house
from tests.patience import PATIENCE_S
from tests.spec import spec

OPERATORS = "an-operators-own-token-0123456789"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with open_house(tmp_path / "data", clock=ManualClock()) as house:
        yield house


@spec("ACC-1")
async def test_a_secret_is_recognised_and_no_other_is(house: House) -> None:
    made = await house.tokens.create("laptop", ["read"])
    assert await house.tokens.authenticate(made.secret) == made.token
    for wrong in ("", made.secret[:-1], made.secret + "x", made.secret.swapcase(), "rw_", "\udcff"):
        assert await house.tokens.authenticate(wrong) is None


async def test_a_secret_is_long_random_and_recognisable(house: House) -> None:
    secrets = {(await house.tokens.create("t", ["read"])).secret for _ in range(20)}
    assert len(secrets) == 20
    assert all(re.fullmatch(r"rw_[A-Za-z0-9_-]{43}", secret) for secret in secrets)


async def test_no_secret_is_stored_or_shown_twice(house: House) -> None:
    made = await house.tokens.create("laptop", ["write"])
    assert made.secret not in repr(made)
    assert await house.tokens.list() == [made.token]
    for path in (path for path in house.data.rglob("*") if path.is_file()):
        assert made.secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        (["read"], {"read"}),
        (["operate"], {"read", "operate"}),
        (["write"], {"read", "write"}),
        (["operate", "write"], {"read", "operate", "write"}),
        (["admin"], {"read", "operate", "write", "admin"}),
    ],
)
async def test_a_scope_includes_what_it_cannot_do_without(house: House, given: list[Scope], allowed: set[str]) -> None:
    made = await house.tokens.create("t", given)
    assert {scope for scope in SCOPES if made.token.allows(scope)} == allowed


def test_a_scope_from_the_future_allows_nothing() -> None:
    token = Token("tok_1", "t", frozenset({"fly"}), 0)
    assert not any(token.allows(scope) for scope in SCOPES)


async def test_a_revoked_token_is_refused_at_once(house: House) -> None:
    made = await house.tokens.create("laptop", ["admin"])
    assert await house.tokens.authenticate(made.secret) is not None
    revoked = await house.tokens.revoke(made.token.token_id)
    assert revoked.revoked_ns == house.clock.now_ns()
    assert await house.tokens.authenticate(made.secret) is None
    assert await house.tokens.list() == [revoked]


async def test_revoking_twice_keeps_the_first_time(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path / "data", clock=clock) as house:
        made = await house.tokens.create("laptop", ["admin"])
        first = await house.tokens.revoke(made.token.token_id)
        clock.advance(10)
        assert await house.tokens.revoke(made.token.token_id) == first


async def test_an_unknown_token_cannot_be_revoked(house: House) -> None:
    with pytest.raises(TokenNotFound):
        await house.tokens.revoke("tok_none")


async def test_a_token_expires_to_the_second(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_house(tmp_path / "data", clock=clock) as house:
        made = await house.tokens.create("guest", ["read"], ttl_s=60)
        clock.advance(59.999)
        assert await house.tokens.authenticate(made.secret) is not None
        clock.advance(0.001)
        assert await house.tokens.authenticate(made.secret) is None


async def test_a_revocation_by_another_process_counts_within_a_second(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as one, open_house(tmp_path / "data") as two:
        made = await one.tokens.create("laptop", ["read"])
        assert await two.tokens.authenticate(made.secret) is not None
        await one.tokens.revoke(made.token.token_id)
        async with asyncio.timeout(PATIENCE_S):
            while await two.tokens.authenticate(made.secret) is not None:
                await asyncio.sleep(0.05)


async def test_tokens_survive_a_restart(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        made = await house.tokens.create("laptop", ["operate"])
    async with open_house(tmp_path / "data") as house:
        assert await house.tokens.authenticate(made.secret) == made.token


@pytest.mark.parametrize(
    ("name", "scopes", "ttl_s"),
    [("t", [], None), ("t", ["root"], None), (" ", ["read"], None), (FILE_TOKEN, ["read"], None), ("t", ["read"], 0)],
    ids=["no scope", "unknown scope", "no name", "reserved name", "no time"],
)
async def test_a_token_that_makes_no_sense_is_not_made(
    house: House, name: str, scopes: list[Scope], ttl_s: float | None
) -> None:
    with pytest.raises(ValueError, match=r"scopes|name|time"):
        await house.tokens.create(name, scopes, ttl_s=ttl_s)
    assert await house.tokens.list() == []


class TestTheOperatorsToken:
    """The one from the environment."""

    async def test_it_is_good_for_everything_and_stored_nowhere(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, token=OPERATORS)) as house:
            token = await house.tokens.authenticate(OPERATORS)
            assert token is not None
            assert token.allows("admin")
            assert await house.tokens.list() == []
        async with open_house(data) as house:
            assert await house.tokens.authenticate(OPERATORS) is None

    async def test_it_does_not_displace_the_others(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, token=OPERATORS)) as house:
            made = await house.tokens.create("laptop", ["read"])
            assert await house.tokens.authenticate(made.secret) == made.token


class TestHiding:
    """Secrets of tokens are secrets of the process."""

    async def test_every_secret_that_the_process_has_seen_is_redacted(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        async with open_house(data, config=Config(data=data, token=OPERATORS)) as house:
            made = await house.tokens.create("laptop", ["read"])
            own = await house.tokens.start()
            for secret in (made.secret, own, OPERATORS):
                assert secret not in house.journal.redactor.redact_text(f"it is {secret}")

    async def test_a_secret_from_before_a_restart_is_hidden_once_it_is_used(self, tmp_path: Path) -> None:
        async with open_house(tmp_path / "data") as house:
            made = await house.tokens.create("laptop", ["read"])
        async with open_house(tmp_path / "data") as house:
            await house.tokens.authenticate(made.secret)
            assert made.secret not in house.journal.redactor.redact_text(f"it is {made.secret}")


class TestStarting:
    """The token that the first start makes."""

    @spec("ACC-5")
    async def test_the_first_start_makes_an_admin_token_in_a_private_file(self, house: House) -> None:
        secret = await house.tokens.start()
        path = token_of(house.data)
        assert path.read_text() == f"{secret}\n"
        assert path.stat().st_mode & 0o777 == 0o600
        token = await house.tokens.authenticate(secret)
        assert token is not None
        assert token.allows("admin")
        assert token.name == FILE_TOKEN

    async def test_later_starts_find_the_same_token(self, tmp_path: Path) -> None:
        async with open_house(tmp_path / "data") as house:
            first = await house.tokens.start()
        async with open_house(tmp_path / "data") as house:
            assert await house.tokens.start() == first
            assert len(await house.tokens.list()) == 1

    async def test_processes_that_start_at_once_agree(self, tmp_path: Path) -> None:
        async with open_house(tmp_path / "data") as one, open_house(tmp_path / "data") as two:
            first, second = await asyncio.gather(one.tokens.start(), two.tokens.start())
            assert first == second
            assert await one.tokens.authenticate(first) is not None
            assert await two.tokens.authenticate(first) is not None
            assert len(await one.tokens.list()) == 1

    async def test_removing_the_file_replaces_the_token(self, house: House) -> None:
        old = await house.tokens.start()
        other = await house.tokens.create("laptop", ["read"])
        token_of(house.data).unlink()
        new = await house.tokens.start()
        assert new != old
        assert await house.tokens.authenticate(old) is None
        assert await house.tokens.authenticate(new) is not None
        assert await house.tokens.authenticate(other.secret) is not None

    async def test_a_crash_between_file_and_row_is_mended_by_the_next_start(self, house: House) -> None:
        token_of(house.data).write_text("rw_written-just-before-the-power-went\n")
        token_of(house.data).chmod(0o600)
        secret = await house.tokens.start()
        assert await house.tokens.authenticate(secret) is not None

    async def test_a_token_of_the_file_that_was_revoked_is_replaced_at_the_next_start(self, house: House) -> None:
        old = await house.tokens.start()
        (token,) = await house.tokens.list()
        await house.tokens.revoke(token.token_id)
        new = await house.tokens.start()
        assert new != old
        assert await house.tokens.authenticate(old) is None
        assert await house.tokens.authenticate(new) is not None
