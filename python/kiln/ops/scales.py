"""Scales of f8 operands: of a tensor, of rows or columns, and of blocks of 128."""

from __future__ import annotations

from math import prod
from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Epilogue
from kiln.ops.tiles import Place, applied, batch_of, count_of, matrix_of, operands_of

BLOCK = 128


class Scale:
    """The scales of one operand.

    array   what the kernel of block scales loads, or None
    blocks  along the outer and along the inner dimension how many elements have one scale, 0 for
            all; (0, 0) where the product's tile is multiplied once, by `step`
    inner   the dimension along which the product sums, 0 or 1 of the array as it is given
    """

    def __init__(self, op: str, name: str, array: Any, matrix: arrays.Shape, inner: int):
        self.given, self.array, self.blocks, self.inner = array, None, (0, 0), inner
        self.shape: arrays.Shape = ()
        if array is None or isinstance(array, (int, float)):
            return
        arrays.check_dtype(op, name, array, (kiln.f32,))
        self.shape = arrays.shape_of(op, name, array)
        if prod(self.shape) == 1:
            return
        blocks = [self._per(extent, count) for extent, count in zip(matrix, self.shape)]
        outer = matrix[1 - inner]
        if self.shape == (outer,):
            return
        if len(self.shape) != 2 or None in blocks or blocks[inner] == 1:
            counts = [f"1, {kiln.cdiv(n, BLOCK)} or {n}" for n in matrix]
            counts[inner] = counts[inner].rpartition(" or ")[0].replace(",", " or")
            arrays.refuse(
                op, name,
                f"expected a number, {outer} numbers, or a matrix of {counts[0]} by {counts[1]}, "
                f"got the shape {self.shape}",
            )  # fmt: skip
        if blocks[inner] == 0 and blocks[1 - inner] in (0, 1):
            return
        self.array, self.blocks = array, (blocks[1 - inner], blocks[inner])

    @staticmethod
    def _per(extent: int, count: int) -> int | None:
        """How many elements have one of so many scales, 0 for all; None for no such number."""
        return {kiln.cdiv(extent, BLOCK): BLOCK, extent: 1, 1: 0}.get(count)

    def step(self, kept: str) -> list[Epilogue]:
        """What multiplies the tile of sums; `kept`: what the outer dimension is of the result."""
        if self.given is None or self.array is not None:
            return []
        if prod(self.shape) == 1:
            return [Epilogue(_OF_TENSOR[len(self.shape)], self.given)]
        side = self.inner if len(self.shape) == 2 else None
        return [Epilogue(_OF_VECTOR[kept, side], self.given)]


def _of_tensor(rank: int) -> kiln.Function:
    @kiln.function
    def scale_tensor(tile, place, scale):
        if rank == 0:
            return tile * scale
        return tile * (scale[0] if rank == 1 else scale[0, 0])

    return scale_tensor


def _of_vector(kept: str, side: int | None) -> kiln.Function:
    """`side`: the dimension of extent 1 of a matrix of scales, None for a vector."""

    @kiln.function
    def scale_vector(tile, place, scale):
        if side is not None:
            scale = scale[0] if side == 0 else scale[:, 0]
        if kept == "rows":
            return tile * scale.load((place.row,), (tile.shape[0],))[:, None]
        return tile * scale.load((place.column,), (tile.shape[1],))[None, :]

    return scale_vector


_OF_TENSOR = {rank: _of_tensor(rank) for rank in range(3)}
_OF_VECTOR = {(kept, side): _of_vector(kept, side) for kept in ("rows", "columns")
              for side in (None, 0, 1)}  # fmt: skip


@kiln.function
def scales_of(scales, start, k, B: kiln.constexpr, blocks: kiln.constexpr):
    """The scales of B elements along the outer dimension: a number, or B."""
    outer, inner = blocks
    at = 0
    if inner:
        at = k // inner
    if outer == 1:
        return scales.load((start, at), (B, 1), squeeze=1)
    if outer == 0:
        return scales[0, at]
    if outer % B == 0:
        return scales[start // outer, at]
    return scales.gather(((start + kiln.arange(B)) // outer, at))


@kiln.function
def multiplied(tile, scales, axis: kiln.constexpr, start, k, blocks: kiln.constexpr):
    if scales is None:
        return tile
    values = scales_of(scales, start, k, tile.shape[axis], blocks)
    if blocks[0] == 0 or (blocks[0] > 1 and blocks[0] % tile.shape[axis] == 0):
        return tile * values
    return tile * (values[:, None] if axis == 0 else values[None, :])


@kiln.kernel
def block_scaled(
    a: kiln.View, b: kiln.View, out: kiln.View,
    scale_a: kiln.View | None, scale_b: kiln.View | None, operands: tuple,
    EPILOGUE: kiln.constexpr, BLOCKS: kiln.constexpr,
    TA: kiln.constexpr, TB: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 16, 128),
    BN: kiln.tunable = kiln.tunable(64, 32, 128),
    BK: kiln.constexpr = 128,
):  # fmt: skip
    """A product whose partial sums over BK elements are scaled before they are added."""
    M, N = out.shape[out.rank - 2], out.shape[out.rank - 1]
    i, j, z = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN), count_of(out))
    place = Place(i * BM, j * BN, M, N, batch_of(z, out))
    a, b = matrix_of(a, place.batch), matrix_of(b, place.batch)
    if TA and scale_a is not None:  # the outer dimension first
        scale_a = scale_a.T
    if not TB and scale_b is not None:
        scale_b = scale_b.T
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[0 if TA else 1], BK):
        x, y = operands_of(a, b, place, k, TA, TB, BM, BN, BK)
        part = kiln.dot(x, y, transpose_a=TA, transpose_b=TB)
        part = multiplied(part, scale_a, 0, place.row, k, BLOCKS[0])
        acc += multiplied(part, scale_b, 1, place.column, k, BLOCKS[1])
    tile = applied(acc, place, EPILOGUE, operands)
    matrix_of(out, place.batch).store((place.row, place.column), tile.to(out.dtype))
