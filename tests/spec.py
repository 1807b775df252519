"""The mark that ties a test to the requirements it proves."""

import pytest


def spec(*ids: str) -> pytest.MarkDecorator:
    """Name the requirements of spec/PROTOCOL.md that the decorated test proves, such as `SEQ-3`."""
    return pytest.mark.spec(*ids)
