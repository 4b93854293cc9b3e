"""The fixtures of the front end's tests."""

import pytest
from programs import Lowered


@pytest.fixture(scope="session")
def lower() -> Lowered:
    return Lowered()
