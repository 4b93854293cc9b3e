"""Results in the OCP's Microscaling formats: blocks of 32 elements along a row with one scale."""

from __future__ import annotations

from typing import Any

import kiln
from kiln.ops import arrays
from kiln.ops.steps import Epilogue, Finish
from kiln.ops.tiles import matrix_of

BLOCK = 32
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
        arrays.check_dtype("mx", "scales", scales, (kiln.f8e8m0fnu,))
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
