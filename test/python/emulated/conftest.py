"""Of a cross of parameters a run draws cells in which each value stands, and of one list of values half
of them: what is held of a schedule is seldom one chip's."""

import pytest
from crossing import MARKS, axes_of


def pytest_itemcollected(item: pytest.Item) -> None:
    if hasattr(item, "callspec") and not any(map(item.get_closest_marker, MARKS)):
        marks = pytest.mark
        item.add_marker(marks.crossed(1) if len(axes_of(item)) > 1 else marks.drawn(0.5))
