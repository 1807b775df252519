"""What agents read and write all day passes untouched: code, diffs, lock files, images, hashes, ids."""

import base64
import hashlib
import inspect
import json
import random
import uuid
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.ids import Ids
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from tests.journal.redaction.examples import KNOWN

REDACTOR = Redactor(SecretSet(KNOWN))
CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
PREFIXES = ("task", "run", "chat", "evt", "art", "appr", "ckpt", "call", "req", "tok")


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name)
def test_a_file_of_the_corpus_passes_untouched(file: Path) -> None:
    text = file.read_text("utf-8")
    assert REDACTOR.redact_text(text) == text
    data = msgspec.json.encode({"path": file.name, "content": text, "max_tokens": 8192})
    assert REDACTOR.redact(data) is data


@pytest.mark.parametrize("module", [json, uuid, random, inspect, hashlib, base64], ids=lambda module: module.__name__)
def test_the_standard_library_passes_untouched(module: ModuleType) -> None:
    source = Path(str(inspect.getsourcefile(module))).read_text("utf-8")
    assert REDACTOR.redact_text(source) == source


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_our_own_ids_are_never_secrets(milliseconds: int, entropy: bytes) -> None:
    ids = Ids(now_ns=lambda: milliseconds * 1_000_000, random_bytes=lambda count: entropy[:count].ljust(count, b"\x07"))
    for prefix in PREFIXES:
        data = msgspec.json.encode({"id": ids.new(prefix), "text": f"see {ids.new(prefix)}"})
        assert REDACTOR.redact(data) is data


@given(st.binary(min_size=1, max_size=64))
def test_digests_and_uuids_are_never_secrets(seed: bytes) -> None:
    digest = hashlib.sha256(seed).hexdigest()
    number = uuid.uuid5(uuid.NAMESPACE_URL, digest)
    texts = (
        *(f"sha256:{digest}", f"task-{digest}", f"{digest[:40]} HEAD", f"index {digest[:7]}..{digest[7:14]} 100644"),
        *(
            str(number),
            number.hex,
            f"disk-{number.hex}",
            f"sha512-{base64.b64encode(hashlib.sha512(seed).digest()).decode()}",
        ),
    )
    for text in texts:
        assert REDACTOR.redact_text(text) == text


def test_base64_of_an_image_is_never_a_secret() -> None:
    image = base64.b64encode(random.Random(7).randbytes(1_000_000)).decode()
    assert REDACTOR.redact_text(f"data:image/png;base64,{image}") == f"data:image/png;base64,{image}"
