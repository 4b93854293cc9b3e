"""Of a cross of parameters, or of one list of values, a run draws some cells: what is held of a schedule
is seldom one chip's."""

import pytest
from crossing import MARKS


def pytest_itemcollected(item: pytest.Item) -> None:
    if hasattr(item, "callspec") and not any(map(item.get_closest_marker, MARKS)):
        item.add_marker(pytest.mark.drawn)
