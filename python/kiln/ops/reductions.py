"""Reductions of a product's rows and columns beside the product.

Each program reduces its tile by groups of 16, whatever the tile's extents are, into a workspace; a
kernel behind the product combines what the groups gave. So the order of sums hangs on the result's
extents alone, and the workspace is a sixteenth of the result.
"""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Epilogue, Finish
from kiln.ops.tiles import batch_of, count_of, matrix_of, part_of

GROUP = 16
_NOTHING = {"sum": 0.0, "sum_squares": 0.0, "max": float("-inf"), "min": float("inf")}
KINDS = tuple(_NOTHING)


@kiln.function
def _reduced(tile, axis: kiln.constexpr, kind: kiln.constexpr):
    if kind == "max":
        return kiln.max(tile, axis=axis)
    if kind == "min":
        return kiln.min(tile, axis=axis)
    return kiln.sum(tile, axis=axis)


@kiln.function
def _elements(tile, place, kind: kiln.constexpr, nothing: kiln.constexpr):
    """What is reduced: the elements of a tile that are in its matrix."""
    x = tile.to(kiln.f32)
    if kind == "sum_squares":
        x = x * x
    row = kiln.arange(tile.shape[0])[:, None]
    column = kiln.arange(tile.shape[1])[None, :]
    inside = (row < (place.rows - place.row).to(kiln.i32)) & (
        column < (place.columns - place.column).to(kiln.i32)
    )
    return kiln.where(inside, x, nothing)


def _of_rows(kind: str) -> kiln.Function:
    nothing = _NOTHING[kind]

    @kiln.function
    def reduce_rows(tile, place, partial):
        m, n = tile.shape
        x = _elements(tile, place, kind, nothing).reshape((m, n // GROUP, GROUP))
        at = (place.row, place.column // GROUP)
        matrix_of(partial, place.batch).store(at, _reduced(x, 2, kind))
        return tile

    return reduce_rows


def _of_columns(kind: str) -> kiln.Function:
    nothing = _NOTHING[kind]

    @kiln.function
    def reduce_columns(tile, place, partial):
        m, n = tile.shape
        x = _elements(tile, place, kind, nothing).reshape((m // GROUP, GROUP, n))
        at = (place.row // GROUP, place.column)
        matrix_of(partial, place.batch).store(at, _reduced(x, 1, kind))
        return tile

    return reduce_columns


_FUNCTIONS = {
    **{(-2, kind): _of_rows(kind) for kind in KINDS},
    **{(-1, kind): _of_columns(kind) for kind in KINDS},
}


@kiln.kernel
def combine(
    partial: kiln.View, out: kiln.View, KEPT: kiln.constexpr, KIND: kiln.constexpr,
    NOTHING: kiln.constexpr, B: kiln.constexpr = 64, L: kiln.constexpr = 64,
):  # fmt: skip
    """Reduces what the groups gave: along the last dimension but the one that is kept."""
    i, z = kiln.grid(kiln.cdiv(out.shape[-1], B), count_of(partial))
    batch = batch_of(z, partial)
    x = matrix_of(partial, batch)
    if KEPT == -1:
        x = x.T
    acc = kiln.full((B, L), NOTHING, kiln.f32)
    for k in range(0, x.shape[1], L):
        tile = x.load((i * B, k), (B, L), pad=NOTHING)
        if KIND == "max":
            acc = kiln.maximum(acc, tile)
        elif KIND == "min":
            acc = kiln.minimum(acc, tile)
        else:
            acc = acc + tile
    part_of(out, batch, 1).store((i * B,), _reduced(acc, 1, KIND))


class Reduction(Epilogue):
    """Reduces along one dimension of the result into an array of its own.

    kept  the dimension of the result of which each place has a number: -2 or -1
    """

    whole = True

    def __init__(self, name: str, out: Any, kind: str, kept: int):
        if kind not in KINDS:
            arrays.refuse(name, "kind", f"expected one of {', '.join(KINDS)}, got {kind!r}")
        arrays.check_dtype(name, "out", out, (kiln.f32,))
        super().__init__(_FUNCTIONS[kept, kind], out)
        self.name, self.out, self.kind, self.kept = name, out, kind, kept

    def bound(self, op: str, shape: arrays.Shape, like: Any) -> tuple[tuple, Finish | None]:
        arrays.check_shape(self.name, "out", self.out, (*shape[:-2], shape[self.kept]))
        extents = list(shape)
        extents[-3 - self.kept] = kiln.cdiv(extents[-3 - self.kept], GROUP)
        partial = arrays.empty(op, like, tuple(extents), kiln.f32)

        def finish(options: dict[str, Any]) -> None:
            constants = {"KEPT": self.kept, "KIND": self.kind, "NOTHING": _NOTHING[self.kind]}
            combine(partial, self.out, **constants, **options)

        return (partial,), finish


def row_reduction(out: Any, kind: str = "sum") -> Epilogue:
    """Leaves in `out`, one f32 a row of the result, what a reduction of the row gives: its "sum",
    "sum_squares", "max" or "min". The tile stays as it is. Bits are the same from run to run."""
    return Reduction("row_reduction", out, kind, -2)


def column_reduction(out: Any, kind: str = "sum") -> Epilogue:
    """As `row_reduction`, for each column of the result."""
    return Reduction("column_reduction", out, kind, -1)
