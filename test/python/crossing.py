"""Which cells of a cross of parameters a run draws.

A test marked `crossed` runs in a small set of the cells of its parameters in which each two values of
two parameters stand together that do in any of its cells; with two parameters alone, or marked
`crossed(1)`, in which each value stands; with `crossed(0)` in all. One that is marked `drawn(n)` runs in so
many of its cells, or in such a share of them and at least three, in which as many values as can be
stand; one that is marked `drawn` alone in half as many as its longest list has values, or as the next
list has. Each commit draws others. A test that is named by its cell is run, and with `--whole` every cell
is."""

from __future__ import annotations

import math
import os
import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import combinations

import pytest
from seeds import seed_of_commit

MARKS = ("crossed", "drawn")
FEWEST = 3  # cells that a share has


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


def some(cells: Sequence[Sequence[Hashable]], count: int, drawn: random.Random) -> set[int]:
    """Numbers of so many cells: each is one of those whose values those before it had least often."""
    order, chosen, seen = drawn.sample(range(len(cells)), len(cells)), set(), Counter()
    while len(chosen) < count:
        left = (number for number in order if number not in chosen)
        best = min(left, key=lambda number: sum(seen[each] for each in enumerate(cells[number])))
        seen.update(enumerate(cells[best]))
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


def draw(cross: list[pytest.Item], drawn: random.Random) -> set[int]:
    """Numbers of the cells that a commit draws of a test's."""
    # What stands in one list of values is one object wherever it is used.
    axes = axes_of(cross[0])
    cells = [
        tuple(tuple(id(item.callspec.params.get(n)) for n in axis) for axis in axes)
        for item in cross
    ]
    if mark := cross[0].get_closest_marker("drawn"):
        lengths = sorted((len(set(values)) for values in zip(*cells, strict=True)), reverse=True)
        (count,) = mark.args or (max([math.ceil(lengths[0] / 2), *lengths[1:], FEWEST]),)
        if isinstance(count, float):
            count = max(math.ceil(count * len(cells)), FEWEST)
        return some([sum(cell, ()) for cell in cells], min(count, len(cells)), drawn)
    together = (*cross[0].get_closest_marker("crossed").args, min(2, len(axes) - 1))[0]
    return cover(cells, together, drawn) if together else set(range(len(cells)))


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that this commit does not draw."""
    crosses, out = defaultdict(list), []
    for item in items:
        if any(map(item.get_closest_marker, MARKS)) and hasattr(item, "callspec"):
            crosses[item.nodeid.partition("[")[0]].append(item)
    seed = f"{seed_of_commit()} {os.environ.get('KILN_TEST_DEVICE', '')}"
    for name, cross in crosses.items():
        chosen = draw(cross, random.Random(f"{seed} {name}"))
        out += [item for number, item in enumerate(cross) if number not in chosen]
    return out
