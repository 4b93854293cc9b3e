"""What kernels of products share: where a tile lies, and matrices of batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import kiln


class Place(NamedTuple):
    """Where a tile of a result lies: what an epilogue gets beside the tile.

    row, column    of its first element, in its matrix
    rows, columns  the extents of the matrix; what lies beyond is computed and not stored
    batch          an index for each leading dimension of the result
    """

    row: Any
    column: Any
    rows: Any
    columns: Any
    batch: Any


@kiln.function
def count_of(x):
    """How many matrices a view holds."""
    n = 1
    for d in kiln.static_range(x.rank - 2):
        n = n * x.shape[d]
    return n


@kiln.function
def batch_of(z, x):
    """The leading indices of the matrix number z of a view."""
    if x.rank == 2:
        return ()
    if x.rank == 3:
        return (z,)
    batch = ()
    rest = z
    for d in kiln.static_range(x.rank - 2):
        batch = (rest % x.shape[x.rank - 3 - d], *batch)
        rest = rest // x.shape[x.rank - 3 - d]
    return batch


@kiln.function
def part_of(x, batch, rank: kiln.constexpr):
    """What a view has in its last dimensions, `rank` of them, at an index for each leading
    dimension of a result to which its own are broadcast."""
    first = len(batch) - (x.rank - rank)
    for d in kiln.static_range(x.rank - rank):
        x = x[kiln.minimum(batch[first + d], x.shape[0] - 1)]
    return x


@kiln.function
def matrix_of(x, batch):
    """The matrix that a view has at the leading indices of a result."""
    return part_of(x, batch, 2)


@kiln.function
def applied(tile, place, epilogue, operands):
    """The tile behind all functions of an epilogue: pairs of one and whether it wants the place."""
    for step, arrays in zip(epilogue, operands):
        function, placed = step
        if placed:
            tile = function(tile, place, *arrays)
        else:
            tile = function(tile)
    return tile


@kiln.function
def operands_of(
    a, b, place, k, TA: kiln.constexpr, TB: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr,
):  # fmt: skip
    """The tiles that a product multiplies at k, as they lie in memory."""
    if TA:
        x = a.load((k, place.row), (BK, BM))
    else:
        x = a.load((place.row, k), (BM, BK))
    if TB:
        y = b.load((place.column, k), (BN, BK))
    else:
        y = b.load((k, place.column), (BK, BN))
    return x, y
