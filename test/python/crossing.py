"""Which cells of a cross of parameters a run draws.

A test marked `crossed` runs in a small set of the cells of its parameters in which each two values of
two parameters stand together that do in any of its cells; with two parameters alone, or marked
`crossed(1)`, in which each value stands. Each commit draws others. A test that is named by its cell is
run, and with `--whole` every cell is."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations

import pytest
from seeds import seed_of_commit

MARK = "crossed"


def cover(cells: Sequence[tuple[Hashable, ...]], together: int, drawn: random.Random) -> set[int]:
    """Numbers of cells in which so many values stand together as do in any: each is one of those with
    the most that none before it had."""
    found = [set(combinations(enumerate(cell), min(together, len(cell)))) for cell in cells]
    order = drawn.sample(range(len(cells)), len(cells))
    left, chosen = set().union(*found), set()
    while left:
        best = max(order, key=lambda number: len(left & found[number]))
        left -= found[best]
        chosen.add(best)
    return chosen


def axes_of(item: pytest.Item) -> list[tuple[str, ...]]:
    """The names that each `parametrize` gives values, and those of fixtures."""
    axes = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        axes.append(tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else names)
    known = {name for axis in axes for name in axis}
    return axes + [(name,) for name in item.callspec.params if name not in known]


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that this commit does not draw."""
    crosses, out = defaultdict(list), []
    for item in items:
        if item.get_closest_marker(MARK) and hasattr(item, "callspec"):
            crosses[item.nodeid.partition("[")[0]].append(item)
    seed = f"{seed_of_commit()} {os.environ.get('KILN_TEST_DEVICE', '')}"
    for name, cross in crosses.items():
        axes = axes_of(cross[0])
        # What stands in one list of values is one object wherever it is used.
        cells = [
            tuple(tuple(id(item.callspec.params.get(n)) for n in axis) for axis in axes)
            for item in cross
        ]
        together = (*cross[0].get_closest_marker(MARK).args, min(2, len(axes) - 1))[0]
        if not together:
            continue
        chosen = cover(cells, together, random.Random(f"{seed} {name}"))
        out += [item for number, item in enumerate(cross) if number not in chosen]
    return out
