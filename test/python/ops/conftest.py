"""Tests of the host alone are left out where KILN_TEST_DEVICE names another device, and where that is
emulated each run draws cells: the host's are all run, and so are the support table's."""

import pytest
from tiles import DEVICE


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if DEVICE == "cpu":
        return
    reason = pytest.mark.skip(reason=f"needs the host, not {DEVICE}")
    for item in items:
        if item.get_closest_marker("host"):
            item.add_marker(reason)


def pytest_itemcollected(item: pytest.Item) -> None:
    if DEVICE.startswith("emu:"):
        item.add_marker(pytest.mark.crossed)
