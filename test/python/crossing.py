"""Which cells of a cross of parameters a test runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable


def pairs(*axes: Iterable) -> list[tuple]:
    """Cells in which each two values of two axes stand together, a small set of them: each cell is
    the first of those with the most pairs that none had before."""
    axes = tuple(tuple(axis) for axis in axes)
    cells = list(itertools.product(*(range(len(axis)) for axis in axes)))

    def found_in(cell: tuple[int, ...]) -> set:
        return set(itertools.combinations(enumerate(cell), 2))

    left = set().union(*map(found_in, cells))
    chosen = []
    while left:
        best = max(cells, key=lambda cell: len(left & found_in(cell)))
        left -= found_in(best)
        chosen.append(tuple(axis[number] for axis, number in zip(axes, best, strict=True)))
    return chosen
