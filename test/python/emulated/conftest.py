"""Of a cross of parameters a run draws some cells: what is held of a schedule is seldom one chip's."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.crossed)
