"""A redactor that knows the example secrets."""

import pytest

from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from tests.journal.redaction.examples import KNOWN


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor(SecretSet(KNOWN))
