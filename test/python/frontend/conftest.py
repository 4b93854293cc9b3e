"""The fixtures of the front end's tests."""

import pytest
from lowered import Lowered


@pytest.fixture(scope="session")
def lower() -> Lowered:
    return Lowered()
