"""Operands and results in the OCP's Microscaling formats: blocks of 32 elements with one scale."""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Epilogue, Finish
from kiln.ops.tiles import Place, applied, batch_of, count_of, matrix_of

BLOCK = 32
SCALE = kiln.f8e8m0fnu
ELEMENTS = (kiln.f8e4m3fn, kiln.f8e5m2, kiln.f6e2m3fn, kiln.f6e3m2fn, kiln.f4e2m1fn)
# Of each element format: the exponent of its largest power of two, and its largest number.
FORMATS = {kiln.f8e4m3fn: (8, 448.0), kiln.f8e5m2: (15, 57344.0), kiln.f4e2m1fn: (2, 6.0)}


def _of(largest_exponent: int, largest: float) -> kiln.Function:
    @kiln.function
    def quantise(tile, place, scales):
        m, n = tile.shape
        x = tile.to(kiln.f32).reshape((m, n // BLOCK, BLOCK))
        bits = kiln.max(kiln.abs(x), axis=2).bitcast(kiln.u32)
        # The exponent's field is that of f8e8m0fnu, whose least is 2^-127.
        exponent = (bits >> 23).to(kiln.i32)
        biased = kiln.clamp(exponent - largest_exponent, 0, 254)
        biased = kiln.where(exponent == 255, 255, biased)
        at = (place.row, place.column // BLOCK)
        scale = biased.to(kiln.u8).bitcast(kiln.f8e8m0fnu)
        matrix_of(scales, place.batch).store(at, scale)
        y = x / kiln.exp2((biased - 127).to(kiln.f32))[:, :, None]
        return kiln.clamp(y, -largest, largest).reshape((m, n))

    return quantise


_FUNCTIONS = {dtype: _of(*limits) for dtype, limits in FORMATS.items()}


class Quantised(Epilogue):
    whole = True

    def __init__(self, scales: Any, dtype: kiln.DType):
        if dtype not in FORMATS:
            wanted = ", ".join(map(str, FORMATS))
            arrays.refuse("mx", "dtype", f"expected one of {wanted}, got {dtype!r}")
        arrays.check_dtype("mx", "scales", scales, (SCALE,))
        super().__init__(_FUNCTIONS[dtype], scales)

    def bound(self, op: str, shape: arrays.Shape, like: Any) -> tuple[tuple, Finish | None]:
        wanted = (*shape[:-1], kiln.cdiv(shape[-1], BLOCK))
        arrays.check_shape("mx", "scales", self.operands[0], wanted)
        return self.operands, None


def mx(scales: Any, dtype: kiln.DType = kiln.f8e4m3fn) -> Epilogue:
    """Makes blocks of 32 columns that share a scale, and writes the scales, f8e8m0fnu of shape
    [..., rows, ceil(columns / 32)]. The last of its list; the result has elements of `dtype`:
    f8e4m3fn, f8e5m2 or f4e2m1fn.

    A scale is the largest power of two in the block over that of the format (OCP Microscaling,
    6.3); what is still too large becomes the format's largest number. A block with a NaN or an
    infinity has a NaN for its scale.
    """
    return Quantised(scales, dtype)


@kiln.kernel
def microscaled(
    a: kiln.View, b: kiln.View, out: kiln.View,
    scale_a: kiln.View | None, scale_b: kiln.View | None, operands: tuple,
    EPILOGUE: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr,
    BM: kiln.tunable = kiln.tunable(64, 16, 128),
    BN: kiln.tunable = kiln.tunable(64, 32, 128),
    BK: kiln.constexpr = 128,
):  # fmt: skip
    """A product of which one operand or both have a scale for each 32 elements along k."""
    M, N = out.shape[out.rank - 2], out.shape[out.rank - 1]
    i, j, z = kiln.grid(kiln.cdiv(M, BM), kiln.cdiv(N, BN), count_of(out))
    place = Place(i * BM, j * BN, M, N, batch_of(z, out))
    a, b = matrix_of(a, place.batch), matrix_of(b, place.batch)
    if scale_a is not None:
        scale_a = matrix_of(scale_a, place.batch)
    if scale_b is not None:
        scale_b = matrix_of(scale_b, place.batch)
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[0 if TA else 1], BK):
        if TA:
            x = a.load((k, place.row), (BK, BM)).T
        else:
            x = a.load((place.row, k), (BM, BK))
        if TB:
            y = b.load((place.column, k), (BN, BK))
        else:
            y = b.load((k, place.column), (BK, BN))
        p = _scales_of(scale_a, place.row, k // BLOCK, BM, BK // BLOCK, TA)
        q = _scales_of(scale_b, place.column, k // BLOCK, BN, BK // BLOCK, not TB)
        acc = kiln.dot_scaled(x, p, y, q, acc, transpose_b=TB)
    tile = applied(acc, place, EPILOGUE, operands)
    matrix_of(out, place.batch).store((place.row, place.column), tile.to(out.dtype))


@kiln.function
def _scales_of(
    scales, start, block, B: kiln.constexpr, BLOCKS: kiln.constexpr, TURNED: kiln.constexpr
):  # fmt: skip
    """Those of B rows of an operand, [B, BLOCKS]; TURNED: as they lie, blocks come first."""
    if scales is None:
        return None
    if TURNED:
        return scales.load((block, start), (BLOCKS, B)).T
    return scales.load((start, block), (B, BLOCKS))


def has_blocks(*scales: Any) -> bool:
    """Whether one of them is of this format."""
    return any(getattr(x, "dtype", None) is not None and _is_scale(x) for x in scales)


def _is_scale(array: Any) -> bool:
    return arrays.dtype_of("matmul", "scale", array) is SCALE


def check_operand(
    op: str, name: str, array: Any, scales: Any, shape: arrays.Shape, inner: int
) -> None:
    """One operand and its scales. `inner`: the dimension along which the product sums, 0 or 1."""
    if scales is None:
        arrays.check_dtype(op, name, array, (kiln.bf16, kiln.f16, kiln.f32, *ELEMENTS))
        return
    arrays.check_dtype(op, name, array, ELEMENTS)
    if not hasattr(scales, "dtype"):
        arrays.refuse(op, f"scale_{name}", f"expected None or elements of {SCALE}, got a number")
    arrays.check_dtype(op, f"scale_{name}", scales, (SCALE,))
    wanted = list(shape)
    wanted[len(shape) - 2 + inner] = kiln.cdiv(wanted[len(shape) - 2 + inner], BLOCK)
    arrays.check_shape(op, f"scale_{name}", scales, tuple(wanted))
