"""What is done with the tiles of a product before they are stored.

An epilogue is a kiln function of the tile of sums, an `Epilogue` of one and the arrays and numbers
that it reads, or a list of them, which are applied in order:

    ops.matmul(a, b, epilogue=[epilogues.bias(v), kiln.gelu, epilogues.residual(r)])

A function of one parameter gets the tile alone. Another gets the tile, its `Place` and the
operands. What the last one gives is converted to the result's dtype and stored:

    @kiln.function
    def gated(tile, place, gate):
        at = (place.row, place.column)
        return tile * matrix_of(gate, place.batch).load(at, tile.shape).to(tile.dtype)

    ops.matmul(a, b, epilogue=Epilogue(gated, gate))
"""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops.microscaling import mx
from kiln.ops.reductions import column_reduction, row_reduction
from kiln.ops.steps import Epilogue
from kiln.ops.tiles import Place, matrix_of, part_of


def bias(vector: Any) -> Epilogue:
    """Adds a vector of one number a column to each row; leading dimensions broadcast."""
    return Epilogue(_add_columns, vector, extents=("columns",))


def row_bias(vector: Any) -> Epilogue:
    """Adds a vector of one number a row to each column; leading dimensions broadcast."""
    return Epilogue(_add_rows, vector, extents=("rows",))


def residual(array: Any) -> Epilogue:
    """Adds an array of the result's shape, whose leading dimensions broadcast."""
    return Epilogue(_add_matrix, array, extents=("matrix",))


def multiplied(array: Any) -> Epilogue:
    """Multiplies by an array of the result's shape, as of a gate; leading dimensions broadcast."""
    return Epilogue(_multiply_matrix, array, extents=("matrix",))


def scaled(factor: Any = None, *, rows: Any = None, columns: Any = None) -> list[Epilogue]:
    """Multiplies by a number, or by the one element of an array without dimensions; by a vector of
    one number a row; and by a vector of one a column, whose leading dimensions broadcast."""
    steps = [] if factor is None else [Epilogue(_scale, factor)]
    steps += [] if rows is None else [Epilogue(_scale_rows, rows, extents=("rows",))]
    return steps + (
        [] if columns is None else [Epilogue(_scale_columns, columns, extents=("columns",))]
    )


@kiln.function
def _columns_of(tile, place, vector):
    values = part_of(vector, place.batch, 1).load((place.column,), (tile.shape[1],))
    return values.to(tile.dtype)[None, :]


@kiln.function
def _rows_of(tile, place, vector):
    values = part_of(vector, place.batch, 1).load((place.row,), (tile.shape[0],))
    return values.to(tile.dtype)[:, None]


@kiln.function
def _matrix_of(tile, place, array):
    at = (place.row, place.column)
    return matrix_of(array, place.batch).load(at, tile.shape).to(tile.dtype)


@kiln.function
def _add_columns(tile, place, vector):
    return tile + _columns_of(tile, place, vector)


@kiln.function
def _add_rows(tile, place, vector):
    return tile + _rows_of(tile, place, vector)


@kiln.function
def _add_matrix(tile, place, array):
    return tile + _matrix_of(tile, place, array)


@kiln.function
def _multiply_matrix(tile, place, array):
    return tile * _matrix_of(tile, place, array)


@kiln.function
def _scale(tile, place, factor):
    return tile * (factor * kiln.ones((1, 1), kiln.f32)).to(tile.dtype)


@kiln.function
def _scale_rows(tile, place, vector):
    return tile * _rows_of(tile, place, vector)


@kiln.function
def _scale_columns(tile, place, vector):
    return tile * _columns_of(tile, place, vector)


__all__ = [
    "Epilogue", "Place", "bias", "column_reduction", "matrix_of", "multiplied", "mx", "residual",
    "row_bias", "row_reduction", "scaled",
]  # fmt: skip
