"""The hash chain over stored bytes."""

from hashlib import sha256

import pytest

from runwire.protocol.chain import GENESIS, link, read, show
from tests.spec import spec


@spec("CHAIN-1")
def test_each_link_covers_the_one_before_and_the_bytes() -> None:
    first = link(GENESIS, b"one")
    assert bytes(32) == GENESIS
    assert first == sha256(bytes(32) + b"one").digest()
    assert link(first, b"two") == sha256(first + b"two").digest()


@spec("CHAIN-2")
def test_a_value_is_shown_as_hexadecimal_and_read_back() -> None:
    value = link(GENESIS, b"one")
    assert show(value) == f"sha256:{value.hex()}"
    assert read(show(value)) == value


@pytest.mark.parametrize(
    "text", ["", "sha256:", "sha256:" + "z" * 64, "00" * 32, "sha256:" + "0" * 63, "md5:" + "0" * 64]
)
def test_what_is_no_chain_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        read(text)
